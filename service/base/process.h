/* Other processes: who they are, and whether they are still there. */
#ifndef UMBRA_SERVICE_PROCESS_H
#define UMBRA_SERVICE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/trace_format.h"

/*
 * To be called first of all: sees to it that the standard descriptors are taken, and that the
 * arguments are UTF-8.
 */
void process_begin(int *argc, char ***argv);

struct process_description {
    pid_t parent;
    char exe[TRACE_EXE_SIZE];         /* its short name where the path may not be read */
    char command[TRACE_COMMAND_SIZE]; /* arguments joined by spaces, cut */
};

/* Returns false if there is no such process (any more). */
bool process_describe(pid_t pid, struct process_description *description);

/* What a process, or a thread, calls itself, in a pid namespace of its own perhaps; 0: it is gone. Linux alone. */
uint32_t process_own_number(pid_t number);

/* Bytes of an address of the program that it runs; 8 if that is not known. */
unsigned process_word_size(pid_t pid);

/*
 * A descriptor that can be read once the process is gone. Negative where the system has none:
 * ask process_is_gone now and then instead.
 */
int process_watch(pid_t pid);

/* Closes it; a negative one is left alone. */
void process_unwatch(int watch);

/* watch as process_watch returned it, negative ones included. */
bool process_is_gone(pid_t pid, int watch);

/* Returns when it is. */
void process_wait_until_gone(pid_t pid, int watch);

/* Has it left the session (setsid(2)) that this process is in, as daemons do? */
bool process_is_daemon(pid_t pid);

/* Returns true unless it is certain that the process does not map the file of that file_identity.
 */
bool process_may_map(pid_t pid, uint64_t file);

/* A part of a file that a process has mapped to execute it. */
struct process_code {
    uint64_t begin, end; /* addresses */
    uint64_t offset;     /* of begin, in the file */
    uint64_t file;       /* file_identity */
    const char *path;
};

/* Calls it with each of them, ascending; never where they cannot be had. */
void process_each_code(pid_t pid, void (*each)(void *owner, const struct process_code *code),
                       void *owner);

/* Opens that file, to read it, as the process sees it: another may be mounted over it there.
   Returns -1 if it cannot be had. */
int process_open_code(pid_t pid, const struct process_code *code);

/*
 * What the system says of the end of a process that is gone. watch is as process_watch returned it
 * and not closed yet. *code: see enum trace_end_how.
 */
void process_read_end(pid_t pid, int watch, enum trace_end_how *how, uint32_t *code);

struct process_needs {
    uint64_t resident_bytes;
    unsigned descriptors;
    uint64_t descriptor_limit; /* 0: none */
};

/* Reads this process's. What cannot be found out is 0. */
void process_read_needs(struct process_needs *needs);

/* The system that paths and numbers of this service's own are of. */
enum trace_system process_own_system(void);

/* Raises the number of descriptors this process may have to what it may raise it to. */
void process_raise_descriptor_limit(void);

#endif
