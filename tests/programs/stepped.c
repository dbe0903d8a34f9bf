/*
 * Counts instructions: the parent steps through its child, from one trap to the next, in between
 * which a function is called. Prints the least of many calls, of a leaf, of a function that has a
 * loop and so is none, and of one that jumps to that.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM_UP 10000 /* calls before those that are counted: contexts are new, all are timed */
#define CALLS   100

/* gcc's noipa, clang knows noinline alone */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

static volatile bool stepping; /* volatile: all calls are made from one place */

/* Traps only around the calls that are counted. */
#define TRAP()                                                                                     \
    do                                                                                             \
        if (stepping)                                                                              \
            __asm__ volatile("int3");                                                              \
    while (0)

KEPT static int leaf(int n)
{
    __asm__ volatile("");
    return n + 1;
}

KEPT static int loop(int n)
{
    do
        __asm__ volatile("" : "+r"(n));
    while (--n > 0);
    return n;
}

KEPT static int jump(int n)
{
    return loop(n);
}

static int child(void)
{
    volatile int result = 0;

    ptrace(PTRACE_TRACEME, 0, 0, 0);
    for (int i = 0; i < WARM_UP + CALLS; i++) {
        stepping = i >= WARM_UP;
        TRAP();
        result += leaf(1);
        TRAP();
    }
    for (int i = 0; i < WARM_UP + CALLS; i++) {
        stepping = i >= WARM_UP;
        TRAP();
        result += loop(1);
        TRAP();
    }
    for (int i = 0; i < WARM_UP + CALLS; i++) {
        stepping = i >= WARM_UP;
        TRAP();
        result += jump(1);
        TRAP();
    }
    _exit(0);
}

/* Goes on to the next int3 and returns the steps it took; -1 if the child is gone. */
static long steps_to_trap(pid_t pid, int request)
{
    siginfo_t info;
    int status;

    for (long steps = 0;; steps++) {
        if (ptrace(request, pid, 0, 0) < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
            return -1;
        ptrace(PTRACE_GETSIGINFO, pid, 0, &info);
        if (info.si_code == SI_KERNEL)
            return steps;
    }
}

static long least_of_calls(pid_t pid, bool is_first_seen)
{
    long least = 1 << 30;

    for (int i = 0; i < CALLS; i++) {
        long steps;

        if ((i || !is_first_seen) && steps_to_trap(pid, PTRACE_CONT) < 0)
            return -1;
        steps = steps_to_trap(pid, PTRACE_SINGLESTEP);
        if (steps >= 0 && steps < least)
            least = steps;
    }
    return least;
}

/* With an argument, the parent process is the service: it stands still meanwhile, as its ticks
   would come at every step. */
int main(int argc, char **argv)
{
    pid_t pid = fork();
    long of_leaf, of_loop, of_jump;
    int status;

    (void)argv;
    if (pid == 0)
        child();
    waitpid(pid, &status, 0); /* at the first int3 */
    if (argc > 1)
        kill(getppid(), SIGSTOP);
    of_leaf = least_of_calls(pid, true);
    of_loop = least_of_calls(pid, false);
    of_jump = least_of_calls(pid, false);
    ptrace(PTRACE_CONT, pid, 0, 0);
    waitpid(pid, &status, 0);
    if (argc > 1)
        kill(getppid(), SIGCONT);
    printf("leaf %ld\nloop %ld\njump %ld\n", of_leaf, of_loop, of_jump);
}
