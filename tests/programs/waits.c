/*
 * Waits in many ways, and writes what each function has seen of it on standard error: its name, and
 * how much further the wall clock went than the thread's processor time, in ns.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int is_ready;
static int ends[2];
static sigjmp_buf start;

static int64_t read_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t not_running(void)
{
    return read_clock(CLOCK_MONOTONIC) - read_clock(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((noinline)) static void nap(long ns)
{
    struct timespec time = {0, ns};

    nanosleep(&time, NULL);
}

__attribute__((noinline)) void spins(long ns)
{
    int64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

__attribute__((noinline)) void sleeps(void)
{
    for (int i = 0; i < 10; i++)
        nap(10000000);
}

__attribute__((noinline)) void sleeps_shortly(void)
{
    for (int i = 0; i < 300; i++)
        nap(200000);
}

__attribute__((noinline)) void sleeps_and_spins(void)
{
    for (int i = 0; i < 10; i++) {
        nap(10000000);
        spins(10000000);
    }
}

static void *hold(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    is_ready = 1;
    nap(100000000);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

__attribute__((noinline)) void waits_for_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void *announce(void *unused)
{
    (void)unused;
    nap(50000000);
    pthread_mutex_lock(&mutex);
    is_ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    if (write(ends[1], "x", 1) != 1)
        abort();
    return NULL;
}

__attribute__((noinline)) void waits_for_condition(void)
{
    pthread_mutex_lock(&mutex);
    while (!is_ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) void reads(void)
{
    char byte;

    if (read(ends[0], &byte, 1) != 1)
        abort();
}

__attribute__((noinline)) void polls(void)
{
    struct pollfd nothing = {.fd = ends[0], .events = POLLIN};

    poll(&nothing, 1, 40);
}

/* It works for the kernel, and does not wait. */
__attribute__((noinline)) void fills(void)
{
    static char pages[1 << 24];
    FILE *zero = fopen("/dev/zero", "r");

    for (int i = 0; i < 4; i++)
        if (fread(pages, sizeof pages, 1, zero) != 1)
            abort();
    fclose(zero);
}

static pid_t child;

/* The caller waits in clone until the child has executed: that is no copy's call. */
static void spawn(void)
{
    char *arguments[] = {"sh", "-c", "sleep 0.05", NULL};

    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ))
        abort();
}

__attribute__((noinline)) void reaps(void)
{
    int status;

    if (waitpid(child, &status, 0) != child || status)
        abort();
}

__attribute__((noinline)) void forks(void)
{
    child = fork();
    if (!child) {
        sleeps();
        _exit(0);
    }
    reaps();
}

static void note_cleaned(void *unused)
{
    (void)unused;
    puts("cleaned");
}

static void *read_for_ever(void *unused)
{
    char byte;

    (void)unused;
    pthread_cleanup_push(note_cleaned, NULL);
    is_ready = 1;
    if (read(ends[0], &byte, 1))
        abort();
    pthread_cleanup_pop(0);
    return NULL;
}

static void leave(int number)
{
    struct timespec time = {0, 300000};

    (void)number;
    nanosleep(&time, NULL);
    siglongjmp(start, 1);
}

static void pass(int number)
{
    (void)number;
}

static void set_alarm(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct itimerval soon = {{0, 0}, {0, 5000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}

/* Handlers leave waits, interrupt them, or have them go on. */
__attribute__((noinline)) void interrupted(void)
{
    struct timespec time = {0, 50000000}, left = {0, 0};
    volatile int left_by_jump = 0;
    char byte;

    for (volatile int i = 0; i < 20; i++) {
        if (sigsetjmp(start, 1) == 0) {
            set_alarm(leave, 0);
            nanosleep(&time, NULL);
        } else {
            left_by_jump++;
        }
    }
    set_alarm(pass, 0);
    printf("left %d, interrupted %d, ", left_by_jump,
           nanosleep(&time, &left) < 0 && errno == EINTR && left.tv_nsec > 0);
    set_alarm(pass, SA_RESTART);
    printf("restarted %d\n", read(ends[0], &byte, 1) == 1);
}

static void report(const char *name, void (*function)(void))
{
    int64_t before = not_running();

    function();
    fprintf(stderr, "%s %lld\n", name, (long long)(not_running() - before));
}

static pthread_t begin(void *(*function)(void *))
{
    pthread_t thread;

    is_ready = 0;
    if (pthread_create(&thread, NULL, function, NULL))
        abort();
    return thread;
}

int main(void)
{
    pthread_t thread;

    fprintf(stderr, "pid %d\n", getpid());
    if (pipe(ends))
        return 1;
    report("sleeps", sleeps);
    report("sleeps_shortly", sleeps_shortly);
    report("sleeps_and_spins", sleeps_and_spins);
    report("polls", polls);
    fills();
    thread = begin(hold);
    while (!is_ready)
        nap(1000000);
    report("waits_for_mutex", waits_for_mutex);
    pthread_join(thread, NULL);
    thread = begin(announce);
    report("waits_for_condition", waits_for_condition);
    pthread_join(thread, NULL);
    reads();
    thread = begin(announce);
    report("reads", reads);
    pthread_join(thread, NULL);
    spawn();
    report("reaps", reaps);
    report("forks", forks);
    thread = begin(read_for_ever);
    while (!is_ready)
        nap(1000000);
    nap(20000000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    thread = begin(announce);
    interrupted();
    pthread_join(thread, NULL);
    return 0;
}
