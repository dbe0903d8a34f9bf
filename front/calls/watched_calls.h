/*
 * Which system calls of a recorded program wait for the supervisor (seccomp), and what they name.
 *
 *      execve …        the program, or its interpreter, is instrumented before it is executed
 *      open …          a library that the dynamic linker opens is instrumented; everybody else gets
 *                      the original of a file that was bound over
 *      stat …          everybody is told of the original of such a file
 *      access …        everybody is told whether the original may be written
 *      unlink …        a file that is bound over is freed before it is changed or removed
 *      seccomp …       whoever gives up rights is noticed (front/calls/rights.h)
 *
 * Which of these calls wait, of those that are told apart by an argument, is said in
 * trace/answered_calls.h, as the agent has to know. All other calls go on at once, and so do those of x32
 * programs but landlock_restrict_self. Arguments of a call have the same places in both worlds.
 */
#ifndef UMBRA_FRONT_WATCHED_CALLS_H
#define UMBRA_FRONT_WATCHED_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/call_numbers.h"

enum call_kind {
    CALL_EXECUTE,
    CALL_OPEN,
    CALL_STAT,   /* struct stat of the world */
    CALL_STAT64, /* struct stat64 of i386 */
    CALL_STATX,  /* struct statx, which all have in common */
    CALL_ACCESS,
    CALL_WRITE, /* changes the content: creat, truncate */
    CALL_CHANGE,
    CALL_CONFINE, /* landlock_restrict_self, seccomp, prctl(PR_SET_SECCOMP) */
};

#define CALL_X32_BIT 0x40000000u /* in the numbers of x32 */

#define CALL_PATHS 2
#define CALL_NONE  (-1) /* no argument: the working directory, no path, no flags */

/* Whether a call that looks at something or changes it follows a link that its path ends with. */
enum call_follow {
    FOLLOW_NEVER,
    FOLLOW_ALWAYS,   /* but with AT_SYMLINK_NOFOLLOW */
    FOLLOW_IF_ASKED, /* with AT_SYMLINK_FOLLOW */
};

struct watched_call {
    int numbers[CALL_WORLDS];
    enum call_kind kind;
    struct {
        signed char folder, path; /* which arguments these are */
    } paths[CALL_PATHS];
    signed char flags;
    signed char buffer; /* where the answer goes */
    enum call_follow follow;
};

/* Null for a call that is not watched. The number may be one of x32, which is in the world of x86-64. */
const struct watched_call *watched_call_find(enum call_world world, int number);

/* By an AUDIT_ARCH_ of one of the two. */
enum call_world call_world_of(uint32_t architecture);

#endif
