/* What a process whose system call waits has in mind: to be asked of the kernel, by its pid or the
   number of one of its threads. It may end meanwhile, and then there is no answer. */
#ifndef UMBRA_FRONT_TRACEE_H
#define UMBRA_FRONT_TRACEE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The string at that address. */
bool tracee_string(pid_t pid, uint64_t address, char text[PATH_MAX]);

/* What is there. */
bool tracee_read(pid_t pid, uint64_t address, void *bytes, size_t size);
/* Writes there, from the first byte on. Returns how many bytes it could. */
size_t tracee_write(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* What a path means to it. */
struct tracee_path {
    int directory; /* from where it is looked up, opened with O_PATH; -1: from the root */
    char text[PATH_MAX + 64]; /* empty: what directory stands for, which may be any file */
};

/* folder is a descriptor of its, or AT_FDCWD. Returns false with errno; else tracee_path_close. */
bool tracee_find_path(pid_t pid, int folder, const char *path, struct tracee_path *found);
/* What it leads to now: a descriptor opened with O_PATH, or -1 with errno. flags may be O_NOFOLLOW.
 */
int tracee_path_open(const struct tracee_path *path, int flags);
void tracee_path_close(struct tracee_path *path);

/* Whether it sees the same files by the same paths as this process: its mount namespace is the
   same, and its root is the same place of the same mount. */
bool tracee_sees_ours(pid_t pid);

/* Whether users and rights mean the same to it: its user namespace is the same. */
bool tracee_has_our_users(pid_t pid);

/* Whether a security module (SELinux, AppArmor, Smack) takes it for the same as this thread. */
bool tracee_has_our_label(pid_t pid);

/* A part of the dynamic linker that is mapped. */
struct tracee_linker {
    uint64_t begin, end;
};

/* Whether the instruction is one of the dynamic linker's, and of which part. Takes as long as the
   process has mappings. */
bool tracee_find_linker(pid_t pid, uint64_t instruction, struct tracee_linker *linker);

/* Where in a file an instruction is. */
struct tracee_place {
    uint64_t offset;
    ino_t inode;
};

/* Whether the instruction is in a file that is mapped, and where. Takes as long as the process has mappings. */
bool tracee_find_place(pid_t pid, uint64_t instruction, struct tracee_place *place);

#define TRACEE_MOST_GROUPS 1024

/* What the kernel says of a process, as seen from here. */
struct tracee_look {
    bool is_traced; /* by a debugger, strace, … */
    bool has_no_new_privs;
    unsigned filters;     /* of seccomp */
    unsigned user, group; /* whose files it may open */
    unsigned real_user, real_group;
    uint64_t rights, permitted; /* its capabilities, effective ones first */
    size_t group_count;         /* the others that it has */
    gid_t groups[TRACEE_MOST_GROUPS];
};

/* False: the process is gone, or has more groups than TRACEE_MOST_GROUPS. */
bool tracee_look(pid_t pid, struct tracee_look *look);

/* Gives what was seen of a process the rights of its real user, which access(2) asks for. */
void tracee_become_real(struct tracee_look *look);

/* The path of the program that a process runs. */
bool tracee_program(pid_t pid, char path[PATH_MAX]);

/* Whether any process runs the program that is this file. Takes as long as there are processes. */
bool tracee_runs_somewhere(const struct stat *program);

/* Whether pid is a thread of that process. */
bool tracee_is_of(pid_t pid, pid_t process);

#endif
