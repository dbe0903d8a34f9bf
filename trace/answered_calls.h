/*
 * What `umbra record` does to the system calls of a program, as far as the agent in it has to know: which of
 * them wait until its supervisor answers (front/calls/watched_calls.h), by number and, of some, by one of
 * their arguments; and how the agent learns that this is so. Linux alone.
 *
 *      agent                       the kernel, by the filter of umbra record
 *        | gettid(ANSWERED_QUESTION) |
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
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_fchmodat2 /* since Linux 6.6 */
#define SYS_fchmodat2 452
#endif

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
    int number;
    enum answered_look look;
    signed char argument; /* that decides it */
    unsigned value;       /* of its low 32 bits */
};

/* fstat is a call of many with AT_EMPTY_PATH, and is not watched: a descriptor was opened before. */
static const struct answered_call answered_calls[] = {
    {SYS_execve, ANSWERED_ALWAYS, 0, 0},
    {SYS_execveat, ANSWERED_ALWAYS, 0, 0},
    {SYS_open, ANSWERED_NO_BIT, 1, ANSWERED_NEVER_OPENED},
    {SYS_openat, ANSWERED_NO_BIT, 2, ANSWERED_NEVER_OPENED},
    {SYS_stat, ANSWERED_ALWAYS, 0, 0},
    {SYS_lstat, ANSWERED_ALWAYS, 0, 0},
    {SYS_newfstatat, ANSWERED_NO_FILE, 3, AT_EMPTY_PATH},
    {SYS_statx, ANSWERED_NO_FILE, 2, AT_EMPTY_PATH},
    {SYS_access, ANSWERED_A_BIT, 1, W_OK},
    {SYS_faccessat, ANSWERED_A_BIT, 2, W_OK},
    {SYS_faccessat2, ANSWERED_A_BIT, 2, W_OK},
    {SYS_creat, ANSWERED_ALWAYS, 0, 0},
    {SYS_truncate, ANSWERED_ALWAYS, 0, 0},
    {SYS_unlink, ANSWERED_ALWAYS, 0, 0},
    {SYS_unlinkat, ANSWERED_ALWAYS, 0, 0},
    {SYS_rename, ANSWERED_ALWAYS, 0, 0},
    {SYS_renameat, ANSWERED_ALWAYS, 0, 0},
    {SYS_renameat2, ANSWERED_ALWAYS, 0, 0},
    {SYS_link, ANSWERED_ALWAYS, 0, 0},
    {SYS_linkat, ANSWERED_ALWAYS, 0, 0},
    {SYS_chmod, ANSWERED_ALWAYS, 0, 0},
    {SYS_fchmodat, ANSWERED_ALWAYS, 0, 0},
    {SYS_fchmodat2, ANSWERED_ALWAYS, 0, 0},
    {SYS_chown, ANSWERED_ALWAYS, 0, 0},
    {SYS_lchown, ANSWERED_ALWAYS, 0, 0},
    {SYS_fchownat, ANSWERED_ALWAYS, 0, 0},
    {SYS_utime, ANSWERED_ALWAYS, 0, 0},
    {SYS_utimes, ANSWERED_ALWAYS, 0, 0},
    {SYS_futimesat, ANSWERED_ALWAYS, 0, 0},
    {SYS_utimensat, ANSWERED_ALWAYS, 0, 0},
    {SYS_setxattr, ANSWERED_ALWAYS, 0, 0},
    {SYS_lsetxattr, ANSWERED_ALWAYS, 0, 0},
    {SYS_removexattr, ANSWERED_ALWAYS, 0, 0},
    {SYS_lremovexattr, ANSWERED_ALWAYS, 0, 0},
    {SYS_seccomp, ANSWERED_ALWAYS, 0, 0},
    {SYS_prctl, ANSWERED_EQUAL, 0, PR_SET_SECCOMP},
    {SYS_landlock_restrict_self, ANSWERED_ALWAYS, 0, 0},
};

#define ANSWERED_CALLS (sizeof(answered_calls) / sizeof(*answered_calls))

/* Null: no such call is answered. */
static inline const struct answered_call *answered_call_find(int number)
{
    for (size_t i = 0; i < ANSWERED_CALLS; i++)
        if (answered_calls[i].number == number)
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
