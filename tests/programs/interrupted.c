/*
 * A signal at each instruction of calls: of a leaf, of a function that is none, and of two that
 * jump to that, one by a pointer. The parent steps through its child up to some instructions further each round. The
 * handler makes the same calls, and returns or leaves by siglongjmp. Prints how many rounds there
 * were, and how often each function's body was run.
 *
 *      interrupted return|leave EVERY [nested|disarmed]
 *
 * EVERY: 1 for each instruction, 2 for every other one, …; nested: the handler has a stack of its
 * own, in an array of main's; disarmed: and the kernel does not tell while it runs.
 */
#define _GNU_SOURCE
#include "program.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls before those of a round: most are not timed then, if timing is adaptive. */
#define WARM_UP   2000
#define MOST      5000 /* instructions of a round */
#define STEP_FLAG 0x100

enum { LEAF, LOOP, JUMP, LEAP, HANDLE, FUNCTIONS };

static volatile long runs[FUNCTIONS];
static volatile bool arrived, stepping; /* volatile: all calls of a kind are made from one place */
static bool leaves;
static int flags; /* of the handler */
static sigjmp_buf before;

/* In one instruction, which is interrupted before or after. */
#define COUNT(function) __asm__ volatile("incq %0" : "+m"(runs[function]))
#define TRAP()          __asm__ volatile("int3")

COUNTED int leaf(int n)
{
    COUNT(LEAF);
    return n + 1;
}

COUNTED int loop(int n)
{
    COUNT(LOOP);
    do
        OPAQUE(n);
    while (--n > 0);
    return n;
}

COUNTED int jump(int n)
{
    COUNT(JUMP);
    return loop(n);
}

static int (*volatile loop_pointer)(int) = loop;

COUNTED int leap(int n)
{
    COUNT(LEAP);
    return loop_pointer(n);
}

COUNTED void handle(int signal)
{
    (void)signal;
    COUNT(HANDLE);
    arrived = true;
    leaf(1);
    loop(1);
    jump(1);
    leap(1);
    if (leaves)
        siglongjmp(before, 1);
}

static void round_of_calls(void)
{
    for (int i = 0; i <= WARM_UP; i++) {
        stepping = i == WARM_UP;
        if (stepping)
            TRAP();
        leaf(1);
        loop(1);
        jump(1);
        leap(1);
    }
}

static void child(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

    sigaction(SIGUSR1, &action, NULL);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    do {
        arrived = false;
        if (sigsetjmp(before, 1) == 0)
            round_of_calls();
        TRAP();
    } while (arrived);
    printf("leaf %ld\nloop %ld\njump %ld\nleap %ld\nhandle %ld\n", runs[LEAF], runs[LOOP],
           runs[JUMP], runs[LEAP], runs[HANDLE]);
    exit(0);
}

/* Goes on that way to the next stop; false if the child is gone. */
static bool go_on(pid_t pid, int request, int signal, int *status)
{
    return ptrace(request, pid, 0, (long)signal) == 0 && waitpid(pid, status, 0) == pid &&
           WIFSTOPPED(*status);
}

static bool is_trap(pid_t pid, int code)
{
    siginfo_t info;

    return ptrace(PTRACE_GETSIGINFO, pid, 0, &info) == 0 && info.si_signo == SIGTRAP &&
           info.si_code == code;
}

/*
 * Goes on to the next int3, or the end. Where an instruction that was stepped through saved the
 * flags, the one for stepping among them, and they were restored later, the child steps on by
 * itself until that is taken back.
 */
static bool go_on_to_trap(pid_t pid, int signal, int *status)
{
    struct user_regs_struct registers;

    while (go_on(pid, PTRACE_CONT, signal, status)) {
        if (!is_trap(pid, TRAP_TRACE))
            return is_trap(pid, SI_KERNEL);
        REQUIRE(ptrace(PTRACE_GETREGS, pid, 0, &registers) == 0);
        registers.eflags &= ~(unsigned long long)STEP_FLAG;
        REQUIRE(ptrace(PTRACE_SETREGS, pid, 0, &registers) == 0);
        signal = 0;
    }
    return false;
}

/* From a round's first trap: `at` instructions, the signal, and on to its second trap. False: it
   has no so many. */
static bool interrupt_round(pid_t pid, long at)
{
    int status;

    for (long step = 0; step < at; step++) {
        REQUIRE(go_on(pid, PTRACE_SINGLESTEP, 0, &status));
        if (is_trap(pid, SI_KERNEL))
            return false;
    }
    REQUIRE(go_on_to_trap(pid, SIGUSR1, &status));
    return true;
}

static void wake_service(void)
{
    kill(getppid(), SIGCONT);
}

/* The parent process is the service: it stands still meanwhile, as its ticks would come at every
   step. */
static void use_for_handler(char *stack, size_t size)
{
    stack_t own = {.ss_sp = stack, .ss_size = size};

    REQUIRE(sigaltstack(&own, NULL) == 0);
    flags = SA_ONSTACK;
}

int main(int argc, char **argv)
{
    char stack[16384];
    pid_t pid;
    int status;
    long rounds = 0, every = argc > 2 ? atol(argv[2]) : 1;

    leaves = argc > 1 && strcmp(argv[1], "leave") == 0;
    REQUIRE(every > 0);
    if (argc > 3)
        use_for_handler(stack, sizeof stack);
    pid = fork();
    if (pid == 0)
        child();
    REQUIRE(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
    atexit(wake_service);
    kill(getppid(), SIGSTOP);
    while (interrupt_round(pid, rounds * every)) {
        REQUIRE(++rounds * every < MOST);
        REQUIRE(go_on_to_trap(pid, 0, &status));
    }
    wake_service();
    REQUIRE(!go_on_to_trap(pid, 0, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    printf("rounds %ld\n", rounds);
    return 0;
}
