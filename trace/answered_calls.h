/*
 * What `umbra record` does to the system calls of a program, as far as the agent in it has to know: which of
 * them wait until its supervisor answers (front/calls/watched_calls.h), by number and, of some, by one of
 * their arguments; and how the agent learns that this is so. Linux alone.
 *
 *      agent                       the kernel, by the filter of umbra record
 *        | gettid(ANSWERED_QUESTION) |               of i386: its low half, its high half
 *        |-------------------------->|  ANSWERED_ERROR
 *        |                           |  without such a filter: a thread's number, as ever
 *
 * A filter goes to all that the program starts, whatever their environment; and it is not there where the
 * kernel had none to give, and the program is not supervised.
 */
#ifndef UMBRA_ANSWERED_CALLS_H
#define UMBRA_ANSWERED_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "trace/call_numbers.h"

#define ANSWERED_QUESTION 0x9c14e6d2b7a5386full /* what is left in that register is hardly ever this */
#define ANSWERED_ERROR    EALREADY

#define ANSWERED_NEVER_OPENED (O_DIRECTORY | O_PATH) /* what is opened so is no file to read */

enum answered_look {
    ANSWERED_ALWAYS,  /* each such call is */
    ANSWERED_NO_BIT,  /* those that have none of the bits */
    ANSWERED_NO_FILE, /* those that have not that bit, or the working directory as argument 0 */
    ANSWERED_A_BIT,   /* those that have one of them */
    ANSWERED_EQUAL,
};

struct answered_call {
    int numbers[CALL_WORLDS];
    enum answered_look look;
    signed char argument; /* that decides it */
    unsigned value;       /* of its low 32 bits */
};

/* fstat is a call of many with AT_EMPTY_PATH, and is not watched: a descriptor was opened before. */
static const struct answered_call answered_calls[] = {
    {CALL_IN_BOTH(execve), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(execveat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(open), ANSWERED_NO_BIT, 1, ANSWERED_NEVER_OPENED},
    {CALL_IN_BOTH(openat), ANSWERED_NO_BIT, 2, ANSWERED_NEVER_OPENED},
    {CALL_IN_BOTH(stat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(lstat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(stat64), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(lstat64), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(newfstatat), ANSWERED_NO_FILE, 3, AT_EMPTY_PATH},
    {CALL_IN_BOTH(fstatat64), ANSWERED_NO_FILE, 3, AT_EMPTY_PATH},
    {CALL_IN_BOTH(statx), ANSWERED_NO_FILE, 2, AT_EMPTY_PATH},
    {CALL_IN_BOTH(access), ANSWERED_A_BIT, 1, W_OK},
    {CALL_IN_BOTH(faccessat), ANSWERED_A_BIT, 2, W_OK},
    {CALL_IN_BOTH(faccessat2), ANSWERED_A_BIT, 2, W_OK},
    {CALL_IN_BOTH(creat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(truncate), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(truncate64), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(unlink), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(unlinkat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(rename), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(renameat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(renameat2), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(link), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(linkat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(chmod), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(fchmodat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(fchmodat2), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(chown), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(chown32), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(lchown), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(lchown32), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(fchownat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(utime), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(utimes), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(futimesat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(utimensat), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(utimensat_time64), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(setxattr), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(lsetxattr), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(removexattr), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(lremovexattr), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(seccomp), ANSWERED_ALWAYS, 0, 0},
    {CALL_IN_BOTH(prctl), ANSWERED_EQUAL, 0, PR_SET_SECCOMP},
    {CALL_IN_BOTH(landlock_restrict_self), ANSWERED_ALWAYS, 0, 0},
};

#define ANSWERED_CALLS (sizeof(answered_calls) / sizeof(*answered_calls))

/* Null: no such call is answered. */
static inline const struct answered_call *answered_call_find(enum call_world world, int number)
{
    for (size_t i = 0; number >= 0 && i < ANSWERED_CALLS; i++)
        if (answered_calls[i].numbers[world] == number)
            return &answered_calls[i];
    return NULL;
}

/* Whether one with these six arguments is. */
static inline bool answered_call_has(const struct answered_call *call, const uint64_t *arguments)
{
    unsigned argument = (unsigned)arguments[call->argument];

    switch (call->look) {
    case ANSWERED_NO_BIT:
        return !(argument & call->value);
    case ANSWERED_NO_FILE:
        return !(argument & call->value) || (unsigned)arguments[0] == (unsigned)AT_FDCWD;
    case ANSWERED_A_BIT:
        return argument & call->value;
    case ANSWERED_EQUAL:
        return argument == call->value;
    default:
        return true;
    }
}

#endif
