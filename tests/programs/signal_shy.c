/*
 * What programs do with signals in which they might meet one that is not their own. How: the
 * argument. Says on standard output what it saw, and for how long it computes does not show.
 */
#define _GNU_SOURCE

#include "computing.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_MS 1000000ll

/* Computes, calls, in turns. */
ALONE static void work(long ms)
{
    for (long long end = now() + ms * NS_PER_MS; now() < end;)
        sink += turn(1000);
}

static sigset_t all;

static void block_all(void)
{
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void let_all_through(void)
{
    sigset_t none;

    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Waits for any signal, for a short time. */
static void wait_for_any(const char *name)
{
    struct timespec time = {0, 3000000};
    siginfo_t info;
    int number = sigtimedwait(&all, &info, &time);

    if (number > 0)
        printf("%s: got %d\n", name, number);
}

static void waiting(void)
{
    work(20);
    for (int i = 0; i < 50; i++) {
        block_all();
        work(3);
        wait_for_any("sigtimedwait");
        let_all_through();
        work(2);
    }
    for (int i = 0; i < 30; i++) { /* nothing is blocked */
        work(5);
        wait_for_any("sigtimedwait of what is not blocked");
    }
}

/* One that is sent is found, in order. */
static void told(void)
{
    sigset_t set;
    siginfo_t info;

    work(20);
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    work(20);
    kill(getpid(), SIGURG);
    work(20);
    printf("sigwaitinfo: %d", sigwaitinfo(&set, &info) == SIGURG && info.si_code == SI_USER);
    kill(getpid(), SIGUSR1);
    printf(" %d\n", sigwaitinfo(&set, &info) == SIGUSR1);
}

static void pending(void)
{
    sigset_t set;

    work(20);
    for (int i = 0; i < 100; i++) {
        if (i % 2)
            block_all();
        work(3);
        sigpending(&set);
        for (int number = 1; number < 65; number++)
            if (sigismember(&set, number) == 1)
                printf("pending: %d\n", number);
        let_all_through();
    }
}

static void on_signal(int number)
{
    sigset_t set;

    (void)number;
    work(20); /* all are blocked */
    sigpending(&set);
    if (sigismember(&set, SIGURG))
        puts("pending in a handler");
}

static void in_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    work(20);
    raise(SIGUSR1);
    work(20);
}

static void by_descriptor(void)
{
    struct signalfd_siginfo info;
    struct pollfd file = {.events = POLLIN};

    work(20);
    block_all();
    work(10);
    file.fd = signalfd(-1, &all, SFD_CLOEXEC);
    for (int i = 0; i < 20; i++) {
        work(5);
        if (poll(&file, 1, 1) > 0 && read(file.fd, &info, sizeof info) > 0)
            printf("signalfd: %u\n", info.ssi_signo);
    }
}

static void asking(void)
{
    struct sigaction action;
    int masked = 0;

    work(20);
    memset(&action, 1, sizeof action);
    printf("sigaction: %d", sigaction(SIGURG, NULL, &action));
    for (int number = 1; number < 65; number++)
        masked += sigismember(&action.sa_mask, number);
    printf(" %d %d %d\n", action.sa_handler == SIG_DFL, action.sa_flags, masked);
    printf("%d\n", sigaction(SIGURG, NULL, NULL));
    work(20);
}

static volatile int urgent;

static void on_urgent(int number)
{
    urgent += number;
}

static void install(int how)
{
    urgent = 0;
    switch (how) {
    case 0:
        printf("%d ", sigset(SIGURG, on_urgent) == SIG_DFL);
        break;
    case 1:
        printf("%d ", sysv_signal(SIGURG, on_urgent) == on_urgent);
        break;
    case 2:
        printf("%d ", signal(SIGURG, on_urgent) == SIG_DFL); /* gone with the first */
        break;
    case 3:
        printf("%d %d ", sigignore(SIGURG), siginterrupt(SIGURG, 1));
        break;
    default:
        printf("%d ", ssignal(SIGURG, on_urgent) == SIG_IGN);
        break;
    }
}

static void installing(void)
{
    work(20);
    for (int how = 0; how < 5; how++) {
        install(how);
        work(20);
        printf("%d ", urgent);
        raise(SIGURG);
        printf("%d\n", urgent);
    }
}

/* The processor puts more than 2 KiB on a handler's stack; Linux takes it all the same. */
static void small_stack(void)
{
    static char small[16384];
    stack_t stack = {.ss_sp = small, .ss_size = 2048};

    memset(small, 1, sizeof small);
    work(20);
    printf("%d\n", sigaltstack(&stack, NULL));
    work(50);
    for (size_t i = 0; i < sizeof small; i++)
        if (small[i] != 1) {
            puts("written to");
            break;
        }
    stack.ss_flags = SS_DISABLE;
    printf("%d\n", sigaltstack(&stack, NULL));
    work(20);
}

static void interrupted(const char *name, int result)
{
    if (result < 0)
        printf("%s: %s\n", name, strerror(errno));
}

/* With masks of their own. */
static void masked_waits(void)
{
    struct timespec time = {0, 1000000};
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    sigset_t none;

    sigemptyset(&none);
    work(20);
    block_all();
    for (int i = 0; i < 60; i++) {
        work(2);
        interrupted("ppoll", ppoll(NULL, 0, &time, &none));
        work(2);
        interrupted("pselect", pselect(0, NULL, NULL, NULL, &time, &none));
        work(2);
        interrupted("epoll_pwait", epoll_pwait(epoll, &event, 1, 1, &none));
    }
}

static void *waiter(void *argument)
{
    int number;

    sigwait(argument, &number);
    printf("sigwait: %d\n", number);
    return NULL;
}

/* One thread has the signals, as servers do it. */
static void a_thread(void)
{
    pthread_t thread;

    work(20);
    block_all();
    pthread_create(&thread, NULL, waiter, &all);
    work(100);
    pthread_kill(thread, SIGTERM);
    pthread_join(thread, NULL);
}

static volatile int alarms, cut_short;

static void on_alarm(int number)
{
    const struct itimerval never = {0};

    (void)number;
    if (++alarms == 20)
        setitimer(ITIMER_REAL, &never, NULL);
}

static void counted(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval each = {{0, 10000}, {0, 10000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    while (alarms < 20) {
        work(1);
        if (poll(NULL, 0, 1000) < 0)
            cut_short++;
    }
    printf("alarms: %d, %d\n", alarms, cut_short <= 20);
}

static void children(char **argv)
{
    int status;
    pid_t child = fork();

    work(20);
    if (!child) {
        pending();
        asking();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("fork: %d\n", status);
    child = vfork();
    if (!child) {
        sigset_t none;

        sigprocmask(SIG_SETMASK, &all, NULL);
        signal(SIGURG, SIG_DFL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execl(argv[0], argv[0], "asking", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("vfork: %d\n", status);
    work(50);
}

/* The child is traced from its start. */
static void traced(char **argv)
{
    int status, stops = 0;
    pid_t child = fork();

    if (!child) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(argv[0], argv[0], "work", (char *)NULL);
        _exit(1);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) != SIGTRAP)
            printf("stopped by %d\n", WSTOPSIG(status));
        stops++;
        ptrace(PTRACE_CONT, child, NULL, NULL);
    }
    printf("stops: %d, status: %d\n", stops, status);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"waiting", waiting},
        {"told", told},
        {"pending", pending},
        {"in_handler", in_handler},
        {"by_descriptor", by_descriptor},
        {"asking", asking},
        {"installing", installing},
        {"small_stack", small_stack},
        {"masked_waits", masked_waits},
        {"a_thread", a_thread},
        {"counted", counted},
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    sigfillset(&all);
    if (!strcmp(how, "children"))
        children(argv);
    else if (!strcmp(how, "traced"))
        traced(argv);
    else if (!strcmp(how, "work"))
        work(100);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(how, cases[i].name))
            cases[i].run();
    return 0;
}
