/*
 * A lock of the agent's own. It names its owner, so that it can be taken over from a thread that
 * was terminated while it held it; at the process's end that is what became of all other threads.
 */
#include "hooks/guard.h"

#include "hooks/system.h"

#define TRIES_BEFORE_CHECK 256

static uint32_t owner; /* number of the thread that holds it, 0 for none */

bool guard_prepare(void)
{
    return true;
}

static bool take_from(uint32_t expected, uint32_t self)
{
    return __atomic_compare_exchange_n(&owner, &expected, self, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void guard_take_holding(void)
{
    uint32_t self = system_thread_id();

    for (uint32_t tries = 1; !take_from(0, self); tries++) {
        uint32_t holder = __atomic_load_n(&owner, __ATOMIC_RELAXED);

        if (tries % TRIES_BEFORE_CHECK == 0 && holder && system_thread_is_gone(holder) &&
            take_from(holder, self))
            break;
        system_yield();
    }
}

struct guard guard_take(void)
{
    guard_take_holding();
    return (struct guard){0};
}

void guard_release(struct guard guard)
{
    (void)guard;
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
}

struct guard guard_hold_signals(void)
{
    return (struct guard){0};
}

void guard_let_signals(struct guard guard)
{
    (void)guard;
}

/* There is no fork. */
bool guard_forked(void)
{
    return false;
}

void guard_adopt(void)
{
}
