/*
 * The agent's one lock, for what is rare: a thread's first hook, an image's first call, a fork
 * child's first hook. All signals are blocked while it is held, so that no handler can run a hook
 * that waits for it, or leave by longjmp with it. The lock knows the process that took it: a
 * child made by fork while another thread held it takes it over.
 */
#ifndef UMBRA_HOOKS_GUARD_H
#define UMBRA_HOOKS_GUARD_H

#include <stdint.h>

struct guard {
    uint64_t signals; /* the mask to put back */
};

struct guard guard_take(void);
void guard_release(struct guard guard);

#endif
