#include "hooks/linux/confinement.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "hooks/agent_life.h"
#include "hooks/memory.h"
#include "hooks/sampler.h"
#include "hooks/session.h"
#include "hooks/thread.h"
#include "support/agent_calls.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/syscalls.h"

#define PAGE 4096
#define ROOM ((BPF_MAXINSNS * sizeof(struct sock_filter) + PAGE - 1) / PAGE * PAGE)

/* The program may have given an address where nothing is: then the kernel says so. */
static bool copy(uint64_t from, void *to, uint64_t size)
{
    if (!syscall_is_forbidden(SYS_process_vm_readv))
        return pages_copy(from, to, size);
    for (uint64_t i = 0; i < size; i += sizeof(uintptr_t)) {
        uint64_t word;

        if (!pages_read_own(from + i, &word))
            return false;
        memcpy((char *)to + i, &word, sizeof(uintptr_t));
    }
    return true;
}

static bool forbids_call(const struct sock_fprog *whole, const struct system_call *call)
{
    return !system_call_is_allowed(system_call_answer(whole->filter, whole->len, call));
}

static bool forbids(const struct sock_fprog *whole, long number)
{
    for (uint32_t i = 0; i < agent_call_count; i++)
        if (agent_calls[i].number == number && forbids_call(whole, &agent_calls[i]))
            return true;
    return false;
}

/* What is recorded after that needs pages of the trace, which these two make usable. */
static void get_ready_for(const struct sock_fprog *whole)
{
    if (forbids(whole, SYS_mprotect) || forbids(whole, SYS_rt_sigprocmask))
        session_get_ready();
}

static void forbid_all(void)
{
    for (uint32_t i = 0; i < agent_call_count; i++)
        if (agent_calls[i].number != SYS_read)
            syscall_forbid(agent_calls[i].number);
}

/* What cannot be looked at, for want of memory, may forbid anything. */
static void look_at(uint64_t address)
{
    struct sock_filter *program = pages_take(ROOM);
    struct sock_fprog whole;

    if (!program) {
        sampler_stop();
        forbid_all();
        return;
    }
    if (copy(address, &whole, sizeof(whole)) && whole.len <= BPF_MAXINSNS &&
        copy((uintptr_t)whole.filter, program, whole.len * sizeof(*program))) {
        whole.filter = program;
        get_ready_for(&whole);
        if (forbids(&whole, SYS_rt_sigreturn)) /* no handler could return */
            sampler_stop();
        for (uint32_t i = 0; i < agent_call_count; i++)
            if (forbids_call(&whole, &agent_calls[i]))
                syscall_forbid(agent_calls[i].number);
    }
    pages_give_back(program, ROOM);
}

/* No call but read, write, exit and the return from a handler; and the processor's clock is not to
   be read. */
static void before_strict_mode(void)
{
    sampler_stop();
    agent_life_leave();
    forbid_all();
}

void umbra_before_syscall(uintptr_t number, uintptr_t operation, uintptr_t flags, uintptr_t program)
{
    (void)number, (void)flags;
    thread_begin_in_child(); /* which could not begin a session later */
    if (operation == SECCOMP_SET_MODE_STRICT)
        before_strict_mode();
    else if (operation == SECCOMP_SET_MODE_FILTER)
        look_at(program);
}

void umbra_before_prctl(uintptr_t operation, uintptr_t mode, uintptr_t program)
{
    thread_begin_in_child(); /* which could not begin a session later */
    if (operation == PR_SET_TSC && mode == PR_TSC_SIGSEGV && !session.counts_only)
        agent_life_leave();
    else if (operation == PR_SET_SECCOMP && mode == SECCOMP_MODE_STRICT)
        before_strict_mode();
    else if (operation == PR_SET_SECCOMP && mode == SECCOMP_MODE_FILTER)
        look_at(program);
}
