/* What a process whose system call waits has in mind: to be asked of the kernel, by its pid or the
   number of one of its threads. It may end meanwhile, and then there is no answer. */
#ifndef UMBRA_FRONT_TRACEE_H
#define UMBRA_FRONT_TRACEE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The string at that address. */
bool tracee_string(pid_t pid, uint64_t address, char text[PATH_MAX]);

/* Writes there. */
bool tracee_write(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* What that path means to it: a descriptor opened with O_PATH, or -1 with errno. folder is a
   descriptor of its, or AT_FDCWD; flags may be O_NOFOLLOW. */
int tracee_open_path(pid_t pid, int folder, const char *path, int flags);

/* Whether it sees the same files by the same paths as this process. */
bool tracee_sees_ours(pid_t pid);

/* A part of the dynamic linker that is mapped. */
struct tracee_linker {
    uint64_t begin, end;
};

/* Whether the instruction is one of the dynamic linker's, and of which part. Takes as long as the
   process has mappings. */
bool tracee_find_linker(pid_t pid, uint64_t instruction, struct tracee_linker *linker);

/* Who traces it and whose files it may open, as the kernel says. False: it is gone. */
struct tracee_look {
    bool is_traced;       /* by a debugger, strace, … */
    unsigned user, group; /* its file system ids, as they are here */
    uint64_t rights;      /* its effective capabilities */
};

bool tracee_look(pid_t pid, struct tracee_look *look);

/* Whether it is a thread of that process. */
bool tracee_is_of(pid_t pid, pid_t process);

#endif
