/*
 * The seccomp filter of a recorded program, which has calls wait that trace/answered_calls.h lists:
 *
 *      landlock_restrict_self -> notify: its number is the same in all three worlds
 *      not x86-64, or x32     -> allow
 *      number of a call       -> notify, the calls with flags by way of a look at them
 *      gettid, and a question -> the answer: trace/answered_calls.h
 *      anything else          -> allow
 */
#ifndef UMBRA_FRONT_CALL_FILTER_H
#define UMBRA_FRONT_CALL_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "trace/answered_calls.h"

#define CALL_FILTER_FRONT    10 /* steps before those of the first call */
#define CALL_FILTER_CALL     7  /* at most */
#define CALL_FILTER_QUESTION 6
#define CALL_FILTER_ROOM                                                                           \
    (CALL_FILTER_FRONT + CALL_FILTER_CALL * ANSWERED_CALLS + CALL_FILTER_QUESTION + 1)

/* Returns how many steps it has. */
size_t call_filter_make(struct sock_filter program[CALL_FILTER_ROOM]);

/* From now on calls of this process and of all that it starts wait at the listener that is
   returned; -1 with errno if that cannot be. Who may not mount may not have a filter either, unless
   nothing that it executes gains rights. That is not asked for: set-uid programs of a recording by
   root run as ever. */
int call_filter_install(void);

#endif
