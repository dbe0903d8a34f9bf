/*
 * Handlers that call functions, a thousand times a second, while the main thread recurses, and as
 * often as can be, while four threads do; on the interrupted stack and on alternate ones; and in
 * threads that have just begun. Leaves how many there were in a file, "handled".
 * -DTHREAD_SIGNALS=N: so many for four threads.
 */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#ifndef THREAD_SIGNALS
#define THREAD_SIGNALS 10000
#endif

enum { SIGNALS = 400, BIRTHS = 300, ALTERNATE_SIZE = 64 * 1024 };

static volatile long handled, handled_before;
static volatile bool is_born;
static volatile long handler_sum;

COUNTED long handler_work(long depth)
{
    long below = depth == 0 ? 1 : handler_work(depth - 1);
    OPAQUE(below);
    return below + 1;
}

COUNTED void handle(int signal)
{
    (void)signal;
    errno = 1234;
    handler_sum = handler_work(5);
    errno = 0;
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

static void begin_count(void)
{
    handled_before += handled;
    handled = 0;
}

static void listen(int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags | SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

static void alternate_stack(void)
{
    stack_t stack = {.ss_sp = malloc(ALTERNATE_SIZE), .ss_size = ALTERNATE_SIZE};
    sigaltstack(&stack, NULL);
}

/* Recurses until so many signals came in between. */
static void recurse_through(long signals)
{
    while (handled < signals)
        REQUIRE(fib(15) == 610);
}

static void by_timer(int flags)
{
    struct itimerval often = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
    struct itimerval never = {0};
    begin_count();
    listen(flags);
    setitimer(ITIMER_REAL, &often, NULL);
    recurse_through(SIGNALS);
    setitimer(ITIMER_REAL, &never, NULL);
    REQUIRE(handler_sum == 7);
}

static void *thread_main(void *argument)
{
    (void)argument;
    alternate_stack();
    recurse_through(THREAD_SIGNALS);
    return NULL;
}

static void by_threads(int flags)
{
    pthread_t threads[4];
    struct timespec pause = {.tv_nsec = 10 * 1000};
    begin_count();
    listen(flags);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread_main, NULL);
    for (int i = 0; handled < THREAD_SIGNALS; i++) {
        pthread_kill(threads[i % 4], SIGUSR1);
        nanosleep(&pause, NULL); /* it wakes up ahead of threads that compute */
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *born(void *argument)
{
    fib(2);
    is_born = true;
    return argument;
}

static void by_births(void)
{
    pthread_t thread;

    begin_count();
    for (int i = 0; i < BIRTHS; i++) {
        is_born = false;
        pthread_create(&thread, NULL, born, NULL);
        while (!is_born)
            pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
    }
    begin_count();
}

static void leave_count(void)
{
    FILE *file = fopen("handled", "w");

    REQUIRE(file);
    fprintf(file, "%ld\n", handled_before);
    REQUIRE(fclose(file) == 0);
}

int main(void)
{
    by_timer(0);
    printf("on the stack: %d signals\n", SIGNALS);
    alternate_stack();
    by_timer(SA_ONSTACK);
    printf("on an alternate stack: %d signals\n", SIGNALS);
    by_threads(0);
    by_threads(SA_ONSTACK);
    printf("on four threads: %d signals\n", THREAD_SIGNALS);
    by_births();
    leave_count();
    return 0;
}
