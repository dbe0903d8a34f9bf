/*
 * Which system calls of a recorded program wait for the supervisor (seccomp), and what they name.
 *
 *      execve …        the program, or its interpreter, is instrumented before it is executed
 *      open …          likewise a library that the dynamic linker opens; everybody else gets the
 *                      original of a file that was bound over
 *      stat …          likewise, everybody is told of the original
 *      unlink …        a file that is bound over is freed before it is changed or removed
 *
 * All other calls go on at once, and so do those of i386 programs.
 */
#ifndef UMBRA_FRONT_WATCHED_CALLS_H
#define UMBRA_FRONT_WATCHED_CALLS_H

#include <stddef.h>

enum call_kind {
    CALL_EXECUTE,
    CALL_OPEN,
    CALL_STAT,  /* struct stat */
    CALL_STATX, /* struct statx */
    CALL_CHANGE,
};

#define CALL_PATHS 2
#define CALL_NONE  (-1) /* no argument: the working directory, no path, no flags */

struct watched_call {
    int number;
    enum call_kind kind;
    struct {
        signed char folder, path; /* which arguments these are */
    } paths[CALL_PATHS];
    signed char flags;
    signed char buffer; /* where the answer goes */
    unsigned passes;    /* flags with which it is not watched */
};

/* Null for a call that is not watched. */
const struct watched_call *watched_call_find(int number);

/* From now on calls of this process and of all that it starts wait at the listener that is
   returned; -1 with errno if that cannot be. */
int filter_install(void);

#endif
