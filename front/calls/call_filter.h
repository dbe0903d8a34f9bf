/*
 * The seccomp filter of a recorded program, which has calls wait that trace/answered_calls.h lists:
 *
 *      landlock_restrict_self  -> notify: its number is the same in all three worlds
 *      neither x86-64 nor i386 -> allow
 *      x32                     -> allow
 *      number of a call        -> notify, the calls with flags by way of a look at them
 *      gettid, and a question  -> the answer: trace/answered_calls.h
 *      anything else           -> allow
 *
 * The last three are there for each of the two worlds, which number their calls differently.
 */
#ifndef UMBRA_FRONT_CALL_FILTER_H
#define UMBRA_FRONT_CALL_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "trace/answered_calls.h"

#define CALL_FILTER_FRONT    13 /* steps before those of the first call, in both worlds together */
#define CALL_FILTER_CALL     7  /* at most */
#define CALL_FILTER_QUESTION 6
#define CALL_FILTER_WORLD    (CALL_FILTER_CALL * ANSWERED_CALLS + CALL_FILTER_QUESTION + 1)
#define CALL_FILTER_ROOM     (CALL_FILTER_FRONT + CALL_WORLDS * CALL_FILTER_WORLD)

/* Returns how many steps it has. */
size_t call_filter_make(struct sock_filter program[CALL_FILTER_ROOM]);

/* From now on calls of this process and of all that it starts wait at the listener that is
   returned; -1 with errno if that cannot be. Who may not mount may not have a filter either, unless
   nothing that it executes gains rights. That is not asked for: set-uid programs of a recording by
   root run as ever. */
int call_filter_install(void);

#endif
