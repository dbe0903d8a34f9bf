/*
 * The agent's one lock, for what is rare: a thread's first hook, an image's first call, a fork
 * child's first hook. What follows is Linux's; windows/guard.c says how it is there. All signals
 * are blocked while it is held, so that no handler can run a hook that waits for it, or leave by
 * longjmp with it.
 *
 * It lies in a page that is wiped in a child made by fork, beside a mark that tells such a child.
 * So the child finds the lock free, whoever held it in the parent; a vfork or posix_spawn child,
 * which shares its parent's memory, counts as its parent.
 */
#ifndef UMBRA_HOOKS_GUARD_H
#define UMBRA_HOOKS_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct guard {
    uint64_t signals; /* the mask to put back, on Linux */
};

/* Before anything else. False: the kernel (before 4.14) cannot wipe pages. */
bool guard_prepare(void);

struct guard guard_take(void);
void guard_release(struct guard guard);

/* guard_take in two steps: from the first on no handler runs, where the kernel lets us block signals; on Windows there
   are none. guard_let_signals undoes the first alone. */
struct guard guard_hold_signals(void);
void guard_take_holding(void);
void guard_let_signals(struct guard guard);

/* Is this a child made by fork since guard_prepare or guard_adopt? */
bool guard_forked(void);

/* The child is now its own; call it with the guard held. */
void guard_adopt(void);

#endif
