/*
 * What a program can see of signals, a case per argument, in each after it has computed for long
 * enough to be sampled. It says on standard output what happens where nobody samples it.
 */
#define _GNU_SOURCE
#include "computing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

extern __sighandler_t bsd_signal(int, __sighandler_t);
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

ALONE void compute(long ms)
{
    long long end = now() + ms * 1000000;

    while (now() < end)
        sink += turn(1000);
}

static sigset_t set_of(int number)
{
    sigset_t set;

    sigemptyset(&set);
    if (number)
        sigaddset(&set, number);
    return set;
}

static void change_mask(int how, int number)
{
    sigset_t set = set_of(number);

    sigprocmask(how, &set, NULL);
}

static volatile int handled;

static void on_signal(int number)
{
    handled += number == SIGURG;
}

static const char *name_of(void (*handler)(int))
{
    return handler == SIG_DFL     ? "default"
           : handler == SIG_IGN   ? "ignored"
           : handler == SIG_HOLD  ? "held"
           : handler == on_signal ? "its own"
                                  : "a stranger's";
}

/* The signal is not pending, or how it is. */
static void look(const char *when)
{
    const struct timespec at_once = {0, 0};
    sigset_t set = set_of(SIGURG), pending;
    siginfo_t info = {0};
    int got;

    sigpending(&pending);
    got = sigtimedwait(&set, &info, &at_once);
    printf("%s: %s, got %d, code %d\n", when, sigismember(&pending, SIGURG) ? "pending" : "nothing",
           got, info.si_code);
}

static void use_stack(size_t size, int flags)
{
    char *pages = mmap(NULL, 17 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = pages + PAGE, .ss_size = size, .ss_flags = flags};

    mprotect(pages, PAGE, PROT_NONE);
    printf("stack of %zu: %d\n", size, sigaltstack(&stack, NULL));
}

static void stacks(void)
{
    compute(30);
    use_stack(2048, 0);
    compute(200);
    use_stack(16 * PAGE, 0);
    compute(200);
    use_stack(2048, 0);
    compute(30);
    use_stack(0, SS_DISABLE);
    compute(200);
}

static void waits(void)
{
    sigset_t set = set_of(SIGURG);
    siginfo_t info;
    int number = 0;

    compute(30);
    look("not blocked");
    change_mask(SIG_BLOCK, SIGURG);
    compute(100);
    look("blocked");
    for (int i = 0; i < 20; i++) {
        compute(20);
        if (i < 10)
            kill(getpid(), SIGURG);
        else
            pthread_kill(pthread_self(), SIGURG);
        compute(20);
        sigwait(&set, &number);
        printf("waited for %d\n", number);
    }
    kill(getpid(), SIGURG);
    compute(20);
    printf("info of %d", sigwaitinfo(&set, &info));
    printf(", code %d, from itself %d\n", info.si_code, info.si_pid == getpid());
    change_mask(SIG_UNBLOCK, SIGURG);
    compute(200);
}

/* The program's own is there before, and afterwards. */
static void descriptors(void)
{
    struct signalfd_siginfo info = {0};
    sigset_t set = set_of(SIGURG);
    int file;

    compute(30);
    change_mask(SIG_BLOCK, SIGURG);
    compute(50);
    raise(SIGURG);
    kill(getpid(), SIGURG);
    file = signalfd(-1, &set, SFD_NONBLOCK);
    compute(50);
    for (int i = 0; i < 2; i++) {
        ssize_t got = read(file, &info, sizeof info);

        printf("read %zd: %u, code %d, from itself %d\n", got, info.ssi_signo, info.ssi_code,
               info.ssi_pid == (uint32_t)getpid());
    }
    for (int i = 0; i < 20; i++) {
        compute(10);
        printf("read %zd\n", read(file, &info, sizeof info));
    }
}

static void late_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal}, old;

    compute(30);
    change_mask(SIG_BLOCK, SIGURG);
    compute(50);
    raise(SIGURG);
    compute(50);
    sigaction(SIGURG, &action, &old);
    compute(50);
    printf("was %s, handled %d", name_of(old.sa_handler), handled);
    change_mask(SIG_UNBLOCK, SIGURG);
    compute(50);
    printf(", then %d\n", handled);
}

static void questions(void)
{
    struct sigaction old;

    for (int i = 0; i < 2; i++) {
        memset(&old, 0x55, sizeof old);
        compute(30);
        printf("%d", (i ? __sigaction : sigaction)(SIGURG, NULL, &old));
        printf(" %s, flags %x, masked %d, restorer %d\n", name_of(old.sa_handler),
               (unsigned)old.sa_flags,
               sigismember(&old.sa_mask, SIGTERM) || sigismember(&old.sa_mask, SIGURG),
               !!old.sa_restorer);
    }
    printf("%d", sigaction(SIGURG, NULL, NULL));
    errno = 0;
    printf(" %d", sigaction(SIGKILL, NULL, &old));
    printf(" %d %s\n", errno, name_of(old.sa_handler));
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static const char *ignore(void)
{
    return sigignore(SIGURG) ? "failed" : "ignored";
}

static const char *interrupt(void)
{
    return siginterrupt(SIGURG, 1) ? "failed" : "interrupts";
}

static const char *set_action(int (*act)(int, const struct sigaction *, struct sigaction *))
{
    struct sigaction action = {.sa_handler = on_signal}, old;

    act(SIGURG, &action, &old);
    return name_of(old.sa_handler);
}

/* Each in a process of its own, which is sampled until then. */
static void handlers(void)
{
    for (int i = 0; i < 11; i++) {
        int status = 0;

        fflush(stdout);
        if (!fork()) {
            compute(20);
            printf("%d %s", i,
                   i == 0   ? name_of(signal(SIGURG, on_signal))
                   : i == 1 ? name_of(bsd_signal(SIGURG, on_signal))
                   : i == 2 ? name_of(ssignal(SIGURG, on_signal))
                   : i == 3 ? name_of(sysv_signal(SIGURG, on_signal))
                   : i == 4 ? name_of(__sysv_signal(SIGURG, on_signal))
                   : i == 5 ? name_of(sigset(SIGURG, on_signal))
                   : i == 6 ? ignore()
                   : i == 7 ? interrupt()
                   : i == 8 ? set_action(sigaction)
                   : i == 9 ? set_action(__sigaction)
                            : name_of(sigset(SIGURG, SIG_HOLD)));
            compute(60);
            printf(", handled %d", handled);
            raise(SIGURG);
            printf(", then %d, %s\n", handled, name_of(signal(SIGURG, SIG_DFL)));
            fflush(stdout);
            _exit(0);
        }
        wait(&status);
        printf("status %x\n", (unsigned)status);
    }
}

/* Waits for 1 ms with an empty mask: returns whether anything came in. */
static int wait_openly(int how)
{
    static int epoll = -1;
    struct timespec ms = {0, 1000000};
    sigset_t none = set_of(0);
    struct epoll_event event;

    if (epoll < 0)
        epoll = epoll_create1(EPOLL_CLOEXEC);
    return how == 0   ? ppoll(NULL, 0, &ms, &none)
           : how == 1 ? pselect(0, NULL, NULL, NULL, &ms, &none)
           : how == 2 ? epoll_pwait(epoll, &event, 1, 1, &none)
                      : epoll_pwait2(epoll, &event, 1, &ms, &none);
}

static volatile int alarms;

static void on_alarm(int number)
{
    alarms += number == SIGALRM;
}

static void set_alarm(long us, long interval_us)
{
    struct itimerval timer = {{0, interval_us}, {0, us}};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static void masks(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    sigset_t none = set_of(0);
    int interrupted = 0, early = 0;

    for (int i = 0; i < 80; i++) {
        change_mask(i & 1 ? SIG_BLOCK : SIG_SETMASK, SIGURG);
        compute(7);
        interrupted += wait_openly(i / 2 % 4) != 0;
        change_mask(i & 2 ? SIG_UNBLOCK : SIG_SETMASK, i & 2 ? SIGURG : 0);
        compute(3);
    }
    printf("interrupted %d times\n", interrupted);

    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 20; i++) {
        change_mask(SIG_BLOCK, SIGALRM);
        if (i & 1)
            sighold(SIGURG);
        else
            sigblock(1 << (SIGURG - 1));
        compute(10);
        alarms = 0;
        set_alarm(20000, 0);
        if (i & 2)
            sigsuspend(&none);
        else
            sigpause(SIGALRM);
        early += !alarms;
        if (i & 2)
            sigrelse(SIGURG);
        else
            sigsetmask(0);
        compute(3);
    }
    printf("early %d times\n", early);
}

/* Between two that block it, a time that is seen; and the share of it that is blocked. */
ALONE void blocked(void)
{
    change_mask(SIG_BLOCK, SIGURG);
    compute(100);
    change_mask(SIG_UNBLOCK, SIGURG);
}

ALONE void by_turns(void)
{
    for (int i = 0; i < 400; i++) {
        change_mask(SIG_BLOCK, SIGURG);
        sink += turn(1000);
        change_mask(SIG_UNBLOCK, SIGURG);
        compute(1);
    }
}

ALONE void jumps(void)
{
    static sigjmp_buf before;

    if (!sigsetjmp(before, 1)) {
        change_mask(SIG_BLOCK, SIGURG);
        compute(5);
        siglongjmp(before, 1);
    }
    compute(400);
}

static void times(void)
{
    blocked();
    by_turns();
    jumps();
    printf("done\n");
}

static int in_handler;

static void on_user(int number)
{
    (void)number;
    compute(20);
    in_handler += wait_openly(in_handler % 4) != 0;
    compute(20);
    look("in a handler");
}

/* Blocked by a handler's mask, and by one that siglongjmp restores. */
static void in_handlers(void)
{
    struct sigaction action = {.sa_handler = on_user};
    static sigjmp_buf before;
    volatile int interrupted = 0;

    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 10; i++) {
        compute(5);
        raise(SIGUSR1);
    }
    printf("interrupted %d times\n", in_handler);
    for (volatile int i = 0; i < 20; i++) {
        change_mask(SIG_BLOCK, SIGURG);
        if (!sigsetjmp(before, 1)) {
            change_mask(SIG_UNBLOCK, SIGURG);
            compute(5);
            siglongjmp(before, 1);
        }
        compute(10);
        interrupted += wait_openly(i % 4) != 0;
        look("restored");
    }
    printf("interrupted %d times\n", interrupted);
}

static void *waiter(void *with)
{
    sigset_t set;
    int number;

    sigfillset(&set);
    compute(20);
    do {
        sigwait(&set, &number);
        printf("a thread waited for %d\n", number);
        compute(20);
    } while (number != SIGTERM);
    return with;
}

static void threads(void)
{
    sigset_t all;
    pthread_t other;

    compute(30);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&other, NULL, waiter, NULL);
    compute(100);
    pthread_kill(other, SIGUSR1);
    compute(100);
    pthread_kill(other, SIGTERM);
    pthread_join(other, NULL);
}

static void say_stops(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        printf("stopped by %d\n", WSTOPSIG(status));
        ptrace(PTRACE_CONT, child, NULL, NULL);
    }
    printf("status %x\n", (unsigned)status);
}

static void traced(const char *self)
{
    for (int i = 0; i < 2; i++) {
        pid_t child;

        fflush(stdout);
        child = fork();
        if (!child) {
            compute(30);
            ptrace(PTRACE_TRACEME, 0, NULL, NULL);
            raise(SIGSTOP);
            compute(100);
            if (i)
                execl(self, self, "computes", NULL);
            _exit(7);
        }
        say_stops(child);
    }
}

static void children(void)
{
    pid_t child;

    compute(20);
    fflush(stdout);
    child = fork();
    if (!child) {
        look("in a child, not blocked");
        change_mask(SIG_BLOCK, SIGURG);
        compute(50);
        look("in a child");
        questions();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < 10; i++) {
        child = vfork();
        if (!child) {
            change_mask(SIG_BLOCK, SIGURG);
            compute(10);
            if (i & 1)
                signal(SIGURG, SIG_IGN);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        compute(20);
    }
    questions();
    change_mask(SIG_BLOCK, SIGURG);
    compute(50);
    look("after that");
}

/* What another program finds. */
static void say_inherited(void)
{
    sigset_t mask;

    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("blocked %d\n", sigismember(&mask, SIGURG));
    compute(50);
    look("executed");
    questions();
}

static void executes(const char *self)
{
    for (volatile int i = 0; i < 4; i++) {
        pid_t child;

        compute(20);
        fflush(stdout);
        child = i & 1 ? vfork() : fork();
        if (!child) {
            compute(20);
            if (i & 2)
                change_mask(SIG_BLOCK, SIGURG);
            compute(20);
            execl(self, self, "inherits", NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    change_mask(SIG_BLOCK, SIGURG);
    compute(50);
    fflush(stdout);
    execl(self, self, "inherits", NULL);
}

ALONE void in_full_mask(void)
{
    compute(100);
}

static void say_mask(const char *when)
{
    sigset_t mask;
    int blocked = 0;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i <= SIGRTMAX; i++)
        blocked += sigismember(&mask, i) == 1;
    printf("%s: %d blocked, SIGURG %d\n", when, blocked, sigismember(&mask, SIGURG));
}

static void *under_full_mask(void *with)
{
    in_full_mask();
    say_mask("a thread");
    return with;
}

/* All signals are blocked, as libraries do in their threads; the signal is the program's all the
 * same. */
static void full_masks(const char *self)
{
    sigset_t all, before;
    pthread_t other;
    pid_t child;

    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    say_mask("full");
    in_full_mask();
    pthread_create(&other, NULL, under_full_mask, NULL);
    pthread_join(other, NULL);
    fflush(stdout);
    child = fork();
    if (!child) {
        compute(20);
        execl(self, self, "inherits", NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < 2; i++) {
        posix_spawn(&child, self, NULL, NULL, (char *[]){(char *)self, "inherits", NULL}, environ);
        waitpid(child, NULL, 0);
        in_full_mask();
    }
    if (system("grep SigBlk /proc/self/status"))
        printf("system failed\n");
    kill(getpid(), SIGURG);
    compute(50);
    look("sent by itself");
    compute(50);
    look("once");
    pthread_sigmask(SIG_SETMASK, &before, &all);
    say_mask("before");
    printf("SIGURG was blocked: %d\n", sigismember(&all, SIGURG));
}

static void interrupted_calls(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    int interrupted = 0;

    sigaction(SIGALRM, &action, NULL);
    set_alarm(5000, 5000);
    while (interrupted < 50) {
        interrupted += poll(NULL, 0, 1000) < 0 && errno == EINTR;
        compute(1);
    }
    set_alarm(0, 0);
    printf("interrupted as often as alarmed, or less: %d\n", interrupted <= alarms);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (!strcmp(how, "stacks"))
        stacks();
    else if (!strcmp(how, "waits"))
        waits();
    else if (!strcmp(how, "descriptors"))
        descriptors();
    else if (!strcmp(how, "late_handler"))
        late_handler();
    else if (!strcmp(how, "questions"))
        questions();
    else if (!strcmp(how, "handlers"))
        handlers();
    else if (!strcmp(how, "masks"))
        masks();
    else if (!strcmp(how, "in_handlers"))
        in_handlers();
    else if (!strcmp(how, "times"))
        times();
    else if (!strcmp(how, "threads"))
        threads();
    else if (!strcmp(how, "traced"))
        traced(argv[0]);
    else if (!strcmp(how, "computes"))
        compute(100);
    else if (!strcmp(how, "children"))
        children();
    else if (!strcmp(how, "executes"))
        executes(argv[0]);
    else if (!strcmp(how, "full_masks"))
        full_masks(argv[0]);
    else if (!strcmp(how, "inherits"))
        say_inherited();
    else if (!strcmp(how, "interrupted_calls"))
        interrupted_calls();
    else
        return 99;
    return 0;
}
