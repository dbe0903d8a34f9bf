#include "hooks/linux/confinement.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "hooks/agent_life.h"
#include "hooks/linux/filter_program.h"
#include "hooks/memory.h"
#include "hooks/sampler.h"
#include "hooks/session.h"
#include "hooks/thread.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/syscalls.h"

#define PAGE 4096
#define ROOM ((BPF_MAXINSNS * sizeof(struct sock_filter) + PAGE - 1) / PAGE * PAGE)
#define ANY  0x1000 /* an address, which filters cannot look behind */

/*
 * The agent's calls after its start, with arguments that filters look at. Of a call that stands
 * here more than once, all must be allowed.
 */
static const struct {
    uint16_t number;
    uint64_t arguments[6];
} calls[] = {
    {SYS_mmap, {0, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0}},
    {SYS_mprotect, {ANY, PAGE, PROT_READ | PROT_WRITE}},
    {SYS_mremap, {ANY, PAGE, PAGE, MREMAP_MAYMOVE}},
    {SYS_mremap, {ANY, 0, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, ANY}},
    {SYS_munmap, {ANY, PAGE}},
    {SYS_madvise, {ANY, PAGE, MADV_WIPEONFORK}},
    {SYS_madvise, {ANY, PAGE, MADV_DONTFORK}},
    {SYS_madvise, {ANY, PAGE, MADV_DOFORK}},
    {SYS_madvise, {ANY, PAGE, MADV_POPULATE_WRITE}},
    {SYS_mlock, {ANY, PAGE}},
    {SYS_mlock2, {ANY, PAGE}},
    {SYS_mlockall, {0}},
    {SYS_munlock, {ANY, PAGE}},
    {SYS_munlockall, {0}},
    {SYS_msync, {ANY, PAGE, MS_INVALIDATE}},
    {SYS_rt_sigaction, {SIGURG, 0, ANY, 8}},
    {SYS_rt_sigreturn, {0}},
    {SYS_timer_create, {CLOCK_THREAD_CPUTIME_ID, ANY, ANY}},
    {SYS_rt_sigpending, {ANY, 8}},
    {SYS_rt_sigtimedwait, {ANY, ANY, ANY, 8}},
    {SYS_rt_sigqueueinfo, {1, SIGURG, ANY}},
    {SYS_rt_tgsigqueueinfo, {1, 1, SIGURG, ANY}},
    {SYS_timer_settime, {1, 0, ANY, 0}},
    {SYS_timer_settime, {1, 0, ANY, ANY}},
    {SYS_timer_settime, {1, TIMER_ABSTIME, ANY, 0}},
    {SYS_timer_delete, {1}},
    {SYS_clock_gettime, {CLOCK_THREAD_CPUTIME_ID, ANY}},
    {SYS_getrusage, {(uint64_t)RUSAGE_THREAD, ANY}},
    {SYS_nanosleep, {ANY, 0}},
    {SYS_rt_sigprocmask, {SIG_SETMASK, ANY, ANY, 8}},
    {SYS_rt_sigprocmask, {SIG_BLOCK, 0, ANY, 8}},
    {SYS_rt_sigprocmask, {(uint64_t)-1, ANY, 0, 8}},
    {SYS_sigaltstack, {0, ANY}},
    {SYS_sched_yield, {0}},
    {SYS_getpid, {0}},
    {SYS_gettid, {0}},
    {SYS_getppid, {0}},
    {SYS_geteuid, {0}},
    {SYS_getresuid, {ANY, ANY, ANY}},
    {SYS_capget, {ANY, ANY}},
    {SYS_getrlimit, {RLIMIT_STACK, ANY}},
    {SYS_arch_prctl, {ARCH_GET_FS, ANY}},
    {SYS_tgkill, {1, 1, 0}},
    {SYS_process_vm_readv, {1, ANY, 1, ANY, 1, 0}},
    {SYS_prctl, {PR_GET_NAME, ANY}},
    {SYS_prctl, {PR_GET_DUMPABLE}},
    {SYS_openat, {(uint64_t)AT_FDCWD, ANY, O_RDONLY | O_CLOEXEC, 0}},
    {SYS_read, {3, ANY, PAGE}},
    {SYS_close, {3}},
    {SYS_fstat, {3, ANY}},
    {SYS_newfstatat, {(uint64_t)AT_FDCWD, ANY, ANY, AT_SYMLINK_NOFOLLOW}},
    {SYS_readlink, {ANY, ANY, PAGE}},
    {SYS_poll, {ANY, 1, 50}},
    {SYS_socket, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}},
    {SYS_connect, {3, ANY, 110}},
    {SYS_getsockopt, {3, SOL_SOCKET, SO_PEERCRED, ANY, ANY}},
    {SYS_sendto, {3, ANY, 32, MSG_NOSIGNAL, 0, 0}},
    {SYS_recvmsg, {3, ANY, MSG_CMSG_CLOEXEC}},
};

#define CALLS (sizeof(calls) / sizeof(*calls))

static bool is_allowed(uint32_t answer)
{
    answer &= SECCOMP_RET_ACTION_FULL;
    return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}

static uint32_t answer_to(const struct sock_fprog *whole, uint32_t call)
{
    struct seccomp_data data = {.nr = calls[call].number,
                                .arch = AUDIT_ARCH_X86_64,
                                .instruction_pointer = (uint64_t)answer_to};

    memcpy(data.args, calls[call].arguments, sizeof(data.args));
    return filter_program_run(whole->filter, whole->len, &data);
}

/* The program may have given an address where nothing is: then the kernel says so. */
static bool copy(uint64_t from, void *to, uint64_t size)
{
    if (!syscall_is_forbidden(SYS_process_vm_readv))
        return pages_copy(from, to, size);
    for (uint64_t i = 0; i < size; i += 8)
        if (!pages_read_own(from + i, (uint64_t *)((char *)to + i)))
            return false;
    return true;
}

static bool forbids(const struct sock_fprog *whole, long number)
{
    for (uint32_t i = 0; i < CALLS; i++)
        if (calls[i].number == number && !is_allowed(answer_to(whole, i)))
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
    for (uint32_t i = 0; i < CALLS; i++)
        if (calls[i].number != SYS_read)
            syscall_forbid(calls[i].number);
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
        copy((uint64_t)whole.filter, program, whole.len * sizeof(*program))) {
        whole.filter = program;
        get_ready_for(&whole);
        if (forbids(&whole, SYS_rt_sigreturn)) /* no handler could return */
            sampler_stop();
        for (uint32_t i = 0; i < CALLS; i++)
            if (!is_allowed(answer_to(&whole, i)))
                syscall_forbid(calls[i].number);
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

void umbra_before_syscall(uint64_t number, uint64_t operation, uint64_t flags, uint64_t program)
{
    (void)number, (void)flags;
    thread_begin_in_child(); /* which could not begin a session later */
    if (operation == SECCOMP_SET_MODE_STRICT)
        before_strict_mode();
    else if (operation == SECCOMP_SET_MODE_FILTER)
        look_at(program);
}

void umbra_before_prctl(uint64_t operation, uint64_t mode, uint64_t program)
{
    thread_begin_in_child(); /* which could not begin a session later */
    if (operation == PR_SET_TSC && mode == PR_TSC_SIGSEGV && !session.counts_only)
        agent_life_leave();
    else if (operation == PR_SET_SECCOMP && mode == SECCOMP_MODE_STRICT)
        before_strict_mode();
    else if (operation == PR_SET_SECCOMP && mode == SECCOMP_MODE_FILTER)
        look_at(program);
}
