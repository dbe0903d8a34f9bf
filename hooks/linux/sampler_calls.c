#include "hooks/linux/sampler_calls.h"

#include <signal.h>
#include <stddef.h>

#include "hooks/memory.h"
#include "hooks/sampler.h"
#include "hooks/thread_slot.h"
#include "thunkstash/linux/linux_pages.h"

/* What the program hands over may be no memory: then the system call says so. */
static bool holds_signal(uint64_t set)
{
    uint64_t signals = 0;

    return set && pages_read_own(set, &signals) && signals >> (SIGURG - 1) & 1;
}

void umbra_before_handler(void)
{
    sampler_give_up();
}

bool umbra_before_sigaction(uint64_t number, uint64_t action, uint64_t old)
{
    uint64_t word;

    (void)number;
    if (action) {
        sampler_give_up();
        return false;
    }
    if (!old || !sampler_has_signal() || !pages_read_own(old, &word))
        return false;
    memset((void *)old, 0, sizeof(struct sigaction)); /* SIG_DFL, nothing masked, no flags */
    return true;
}

void umbra_before_mask(uint64_t how, uint64_t set)
{
    struct thread *thread = thread_current();
    bool is_held;

    if (!set || !thread || !sampler_may_wait(thread))
        return;
    is_held = holds_signal(set);
    if (how == SIG_UNBLOCK ? is_held : how == SIG_SETMASK && !is_held)
        sampler_resume(thread);
    else if (is_held)
        sampler_pause(thread);
}

void umbra_before_wait(uint64_t set)
{
    struct thread *thread = thread_current();

    if (thread && holds_signal(set))
        sampler_leave(thread);
}

void umbra_before_pending(void)
{
    struct thread *thread = thread_current();

    if (thread)
        sampler_leave(thread);
}

void umbra_before_signalfd(uint64_t file, uint64_t set)
{
    (void)file;
    if (holds_signal(set))
        sampler_give_up();
}

void umbra_before_stack(uint64_t stack)
{
    struct thread *thread = thread_current();
    uint64_t flags = 0, size = 0;

    if (!stack || !thread || !pages_read_own(stack + offsetof(stack_t, ss_flags), &flags) ||
        !pages_read_own(stack + offsetof(stack_t, ss_size), &size))
        return;
    if (!((uint32_t)flags & SS_DISABLE) && size < SAMPLER_STACK)
        sampler_pause(thread);
    else
        sampler_look_again(thread);
}
