/*
 * What the agent does at its beginning and at its end, on every platform. start.c in the platform's
 * folder says when that is, and what it needs of the system.
 */
#ifndef UMBRA_HOOKS_AGENT_LIFE_H
#define UMBRA_HOOKS_AGENT_LIFE_H

#include <stdbool.h>

/* What a program that must be recorded, and is not, says before it ends with status 1. */
#define AGENT_LIFE_REFUSAL                                                                         \
    "umbra: UMBRA_REQUIRED=1, but no call_trace_service answers for this UMBRA_INSTANCE_ID; "      \
    "start one as this user, or unset UMBRA_REQUIRED\n"

/*
 * Once, behind guard_prepare and before any hook looks for a thread's state. range, thunks: as
 * stash_prepare has them; they stay the agent's. environment: as session_begin has it. False:
 * nothing is recorded, since no service answers or the thunks are not there.
 */
bool agent_life_begin(char *const *environment, char *range, void *thunks);

/*
 * At the process's end, in the thread that ends it. Does nothing where nothing is recorded, and in
 * a child made by fork that has not begun a session. It waits for the guard alone, which on Windows
 * is taken over from a thread that is gone.
 */
void agent_life_end(void);

/* Ends recording while the program goes on: the agent does nothing any more, at the ends of live
   calls too. */
void agent_life_leave(void);

#endif
