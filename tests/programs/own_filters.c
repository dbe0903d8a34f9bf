/*
 * Forbids itself system calls and goes on:  own_filters HOW [syscall|exec]
 *
 *      sshd        what OpenSSH's process that speaks to strangers may do
 *      service     systemd's kind: all but a few groups (@debug, @mount …)
 *      browser     Chromium's and Firefox's kind: threads and memory; asks for itself alone
 *      few         read, write, exit, exit_group
 *      strict      the kernel's own: read, write, exit
 *
 * What is forbidden ends it. The filter is installed by prctl, or by the system call of seccomp.
 * With `exec` it is installed before the program is executed, as systemd does it: twice is once.
 */
#define _GNU_SOURCE
#include "program.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBERS(...)                                                                               \
    (const int[])                                                                                  \
    {                                                                                              \
        __VA_ARGS__, -1                                                                            \
    }
#define MOST 200

static struct sock_filter filter[MOST];
static unsigned short length;

static void put(struct sock_filter instruction)
{
    REQUIRE(length < MOST);
    filter[length++] = instruction;
}

static void answer_to(int number, unsigned answer)
{
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* Only if its first argument is that. */
static void allow_for(int number, unsigned argument)
{
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 4));
    put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                     offsetof(struct seccomp_data, args)));
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
}

/* OpenSSH 9.2 filters mmap and mprotect so: nothing but reading and writing. */
static void allow_plain_memory(int number)
{
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 4));
    put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                     offsetof(struct seccomp_data, args) + 16));
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ~3u, 0, 1));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static void allow(const int *numbers)
{
    for (; *numbers >= 0; numbers++)
        answer_to(*numbers, SECCOMP_RET_ALLOW);
}

static void begin(void)
{
    put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                     offsetof(struct seccomp_data, arch)));
    put((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    put((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
}

static void end(unsigned answer)
{
    put((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

static void make_filter(const char *how)
{
    begin();
    if (!strcmp(how, "sshd")) {
        answer_to(SYS_openat, SECCOMP_RET_ERRNO | 13);
        answer_to(SYS_open, SECCOMP_RET_ERRNO | 13);
        answer_to(SYS_newfstatat, SECCOMP_RET_ERRNO | 13);
        allow(NUMBERS(SYS_brk, SYS_clock_gettime, SYS_clock_nanosleep, SYS_close, SYS_exit,
                      SYS_exit_group, SYS_futex, SYS_geteuid, SYS_getpgid, SYS_getpid,
                      SYS_getrandom, SYS_gettid, SYS_gettimeofday, SYS_getuid, SYS_madvise,
                      SYS_mremap, SYS_munmap, SYS_nanosleep, SYS_poll, SYS_ppoll, SYS_pselect6,
                      SYS_read, SYS_rt_sigprocmask, SYS_select, SYS_shutdown, SYS_time, SYS_write,
                      SYS_writev));
        allow_plain_memory(SYS_mmap);
        allow_plain_memory(SYS_mprotect);
        end(SECCOMP_RET_KILL_PROCESS);
    } else if (!strcmp(how, "service")) {
        const int *numbers = NUMBERS(SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace,
                                     SYS_perf_event_open, SYS_mount, SYS_umount2, SYS_reboot,
                                     SYS_kexec_load, SYS_init_module, SYS_mlock, SYS_mlock2);
        for (; *numbers >= 0; numbers++)
            answer_to(*numbers, SECCOMP_RET_KILL_PROCESS);
        end(SECCOMP_RET_ALLOW);
    } else if (!strcmp(how, "browser")) {
        allow(NUMBERS(SYS_brk, SYS_clock_gettime, SYS_clone, SYS_clone3, SYS_close, SYS_exit,
                      SYS_exit_group, SYS_futex, SYS_getpid, SYS_getrandom, SYS_gettid, SYS_madvise,
                      SYS_mmap, SYS_mprotect, SYS_mremap, SYS_munmap, SYS_read, SYS_rseq,
                      SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sched_yield,
                      SYS_set_robust_list, SYS_write));
        allow_for(SYS_prctl, PR_SET_NAME);
        end(SECCOMP_RET_TRAP);
    } else {
        REQUIRE(!strcmp(how, "few"));
        allow(NUMBERS(SYS_read, SYS_write, SYS_exit, SYS_exit_group));
        end(SECCOMP_RET_KILL_PROCESS);
    }
}

static void confine(const char *how, int by_syscall)
{
    struct sock_fprog program = {0, filter};

    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (!strcmp(how, "strict")) {
        REQUIRE((by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0)
                            : prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) == 0);
        return;
    }
    make_filter(how);
    program.len = length;
    REQUIRE((by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                        : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) == 0);
}

/* Contexts that are new, a stack that is deeper than before, frames that are left by longjmp. */
COUNTED long deep(long depth)
{
    long below = depth ? deep(depth - 1) : fib(5);
    OPAQUE(below);
    return below + 1;
}

static jmp_buf back;

COUNTED void leave(long depth)
{
    if (depth == 0)
        longjmp(back, 1);
    leave(depth - 1);
    OPAQUE(depth);
}

COUNTED long jumps(void)
{
    volatile long count = 0;

    for (volatile int i = 0; i < 20; i++)
        if (setjmp(back) == 0)
            leave(i);
        else
            count++;
    return count;
}

static void *work(void *sum)
{
    *(long *)sum += deep(300) + jumps();
    return 0;
}

static void say(long sum)
{
    char text[32];
    char *at = text + sizeof text;

    *--at = '\n';
    do
        *--at = (char)('0' + sum % 10);
    while (sum /= 10);
    (void)!write(STDOUT_FILENO, at, (size_t)(text + sizeof text - at));
}

int main(int argc, char **argv)
{
    long sum;
    pthread_t thread;

    REQUIRE(argc > 1);
    sum = fib(15);
    if (argc < 3 || strcmp(argv[2], "confined") != 0)
        confine(argv[1], argc > 2 && !strcmp(argv[2], "syscall"));
    if (argc > 2 && !strcmp(argv[2], "exec"))
        execl("/proc/self/exe", argv[0], argv[1], "confined", (char *)0);
    sum += deep(2000) + fib(16) + jumps();
    if (!strcmp(argv[1], "browser") || !strcmp(argv[1], "service"))
        for (int i = 0; i < 3; i++)
            REQUIRE(pthread_create(&thread, 0, work, &sum) == 0 && pthread_join(thread, 0) == 0);
    say(sum);
    syscall(SYS_exit, 0);
    return 0;
}
