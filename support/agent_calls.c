#include "support/agent_calls.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "support/filter_program.h"

#define PAGE 4096
#define ANY  SYSTEM_CALL_ANY

const struct system_call agent_calls[] = {
    SYSTEM_CALL(mmap, 0, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0),
    SYSTEM_CALL(mprotect, ANY, PAGE, PROT_READ | PROT_WRITE),
    SYSTEM_CALL(mremap, ANY, PAGE, PAGE, MREMAP_MAYMOVE),
    SYSTEM_CALL(mremap, ANY, 0, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, ANY),
    SYSTEM_CALL(munmap, ANY, PAGE),
    SYSTEM_CALL(madvise, ANY, PAGE, MADV_WIPEONFORK),
    SYSTEM_CALL(madvise, ANY, PAGE, MADV_DONTFORK),
    SYSTEM_CALL(madvise, ANY, PAGE, MADV_DOFORK),
    SYSTEM_CALL(madvise, ANY, PAGE, MADV_POPULATE_WRITE),
    SYSTEM_CALL(mlock, ANY, PAGE),
    SYSTEM_CALL(mlock2, ANY, PAGE),
    SYSTEM_CALL(mlockall, 0),
    SYSTEM_CALL(munlock, ANY, PAGE),
    SYSTEM_CALL(munlockall, 0),
    SYSTEM_CALL(msync, ANY, PAGE, MS_INVALIDATE),
    SYSTEM_CALL(rt_sigaction, SIGURG, 0, ANY, 8),
    SYSTEM_CALL(rt_sigreturn, 0),
    SYSTEM_CALL(timer_create, CLOCK_THREAD_CPUTIME_ID, ANY, ANY),
    SYSTEM_CALL(rt_sigpending, ANY, 8),
    SYSTEM_CALL(rt_sigtimedwait, ANY, ANY, ANY, 8),
    SYSTEM_CALL(rt_sigqueueinfo, 1, SIGURG, ANY),
    SYSTEM_CALL(rt_tgsigqueueinfo, 1, 1, SIGURG, ANY),
    SYSTEM_CALL(timer_settime, 1, 0, ANY, 0),
    SYSTEM_CALL(timer_settime, 1, 0, ANY, ANY),
    SYSTEM_CALL(timer_settime, 1, TIMER_ABSTIME, ANY, 0),
    SYSTEM_CALL(timer_delete, 1),
    SYSTEM_CALL(clock_gettime, CLOCK_THREAD_CPUTIME_ID, ANY),
    SYSTEM_CALL(getrusage, (uint64_t)RUSAGE_THREAD, ANY),
    SYSTEM_CALL(nanosleep, ANY, 0),
    SYSTEM_CALL(rt_sigprocmask, SIG_SETMASK, ANY, ANY, 8),
    SYSTEM_CALL(rt_sigprocmask, SIG_BLOCK, 0, ANY, 8),
    SYSTEM_CALL(rt_sigprocmask, (uint64_t)-1, ANY, 0, 8),
    SYSTEM_CALL(sigaltstack, 0, ANY),
    SYSTEM_CALL(sched_yield, 0),
    SYSTEM_CALL(getpid, 0),
    SYSTEM_CALL(gettid, 0),
    SYSTEM_CALL(getppid, 0),
    SYSTEM_CALL(geteuid, 0),
    SYSTEM_CALL(getresuid, ANY, ANY, ANY),
    SYSTEM_CALL(capget, ANY, ANY),
    SYSTEM_CALL(getrlimit, RLIMIT_STACK, ANY),
    SYSTEM_CALL(arch_prctl, ARCH_GET_FS, ANY),
    SYSTEM_CALL(tgkill, 1, 1, 0),
    SYSTEM_CALL(process_vm_readv, 1, ANY, 1, ANY, 1, 0),
    SYSTEM_CALL(prctl, PR_GET_NAME, ANY),
    SYSTEM_CALL(prctl, PR_GET_DUMPABLE),
    SYSTEM_CALL(openat, (uint64_t)AT_FDCWD, ANY, O_RDONLY | O_CLOEXEC, 0),
    SYSTEM_CALL(read, 3, ANY, PAGE),
    SYSTEM_CALL(close, 3),
    SYSTEM_CALL(fstat, 3, ANY),
    SYSTEM_CALL(newfstatat, (uint64_t)AT_FDCWD, ANY, ANY, AT_SYMLINK_NOFOLLOW),
    SYSTEM_CALL(readlink, ANY, ANY, PAGE),
    SYSTEM_CALL(poll, ANY, 1, 50),
    SYSTEM_CALL(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
    SYSTEM_CALL(connect, 3, ANY, 110),
    SYSTEM_CALL(getsockopt, 3, SOL_SOCKET, SO_PEERCRED, ANY, ANY),
    SYSTEM_CALL(sendto, 3, ANY, 32, MSG_NOSIGNAL, 0, 0),
    SYSTEM_CALL(recvmsg, 3, ANY, MSG_CMSG_CLOEXEC),
};

const uint32_t agent_call_count = sizeof(agent_calls) / sizeof(*agent_calls);

uint32_t system_call_answer(const struct sock_filter *program, uint32_t length,
                            const struct system_call *call)
{
    struct seccomp_data data = {.nr = call->number,
                                .arch = sizeof(long) == 8 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_I386,
                                .instruction_pointer = (uintptr_t)system_call_answer};

    memcpy(data.args, call->arguments, sizeof(data.args));
    return filter_program_run(program, length, &data);
}

bool system_call_is_allowed(uint32_t answer)
{
    answer &= SECCOMP_RET_ACTION_FULL;
    return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}
