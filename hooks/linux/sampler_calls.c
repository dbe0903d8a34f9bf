#include "hooks/linux/sampler_calls.h"

#include <signal.h>

#include "hooks/linux/sampler_hold.h"
#include "hooks/memory.h"
#include "hooks/sampler.h"
#include "thunkstash/linux/linux_pages.h"

#define SIGNAL SIGURG
#define BIT    (1ull << (SIGNAL - 1))

static bool has_signal(uintptr_t set)
{
    uint64_t signals;

    return pages_read_own(set, &signals) && signals & BIT;
}

bool umbra_is_sampler_action(void)
{
    return sampler_handles_signal();
}

void umbra_before_altstack(uintptr_t address)
{
    struct thread *thread = sampler_thread();
    uint64_t words[3]; /* of a stack_t */
    stack_t stack;

    if (!thread)
        return;
    for (uint32_t i = 0; i < 3; i++)
        if (!pages_read_own(address + sizeof(uintptr_t) * i, &words[i]))
            return;
    stack = (stack_t){.ss_flags = (int)words[1], .ss_size = words[2]};
    if (sampler_is_small_stack(&stack))
        sampler_hold(thread);
}

void umbra_after_hold(void)
{
    struct thread *thread = thread_current();

    if (thread && thread->samples.is_held && sampler_thread())
        sampler_begin(thread);
}

void umbra_after_spawn(void)
{
    if (sampler_thread())
        sampler_reopen_mask();
}

/* sigstack does not say how large the stack is. */
void umbra_before_sigstack(uintptr_t address)
{
    struct thread *thread = address ? sampler_thread() : NULL;

    if (thread)
        sampler_hold(thread);
}

static void before_unblock(void)
{
    struct thread *thread = thread_current();

    if (thread && thread->samples.is_held && sampler_thread())
        sampler_release(thread);
}

void umbra_before_mask(int how, const uint64_t *set)
{
    if (how == (*set & BIT ? SIG_UNBLOCK : SIG_SETMASK))
        before_unblock();
}

void umbra_after_mask(int how, const uint64_t *set, uint64_t *old)
{
    if (old && sampler_has_opened(*old))
        *old |= BIT;
    if (set && how != SIG_UNBLOCK && sampler_mask_is_full(*set) && sampler_thread())
        sampler_open_mask();
}

void umbra_before_sigsetmask(int set)
{
    if (!((uint32_t)set & BIT))
        before_unblock();
}

void umbra_before_sigrelse(int number)
{
    if (number == SIGNAL)
        before_unblock();
}

void umbra_before_jump(const struct __jmp_buf_tag *to)
{
    uint64_t mask;

    memcpy(&mask, &to->__saved_mask, sizeof(mask));
    if (!(mask & BIT))
        before_unblock();
}

/* The thread looks at what is pending, lets it in for as long as a call takes, or takes it along to
   another program. */
void umbra_before_look(void)
{
    struct thread *thread = sampler_thread();

    if (thread && !thread->samples.is_held && sampler_is_blocked())
        sampler_hold(thread);
}

void umbra_before_execute(void)
{
    sampler_close_mask();
    umbra_before_look();
}

/* sigwait takes a signal that is not blocked as well. */
void umbra_before_wait(uintptr_t set)
{
    struct thread *thread = sampler_thread();

    if (thread && !thread->samples.is_held && has_signal(set))
        sampler_hold(thread);
}

/* Any thread may read from it, without a call that is watched. */
void umbra_before_signalfd(int file, uintptr_t set)
{
    (void)file;
    if (sampler_thread() && has_signal(set))
        sampler_give_up();
}
