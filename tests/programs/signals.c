/*
 * Handlers that call functions, a thousand times a second, while the main thread recurses, and as
 * often as can be, while four threads do; on the interrupted stack and on alternate ones.
 */
#define _GNU_SOURCE
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { SIGNALS = 400, THREAD_SIGNALS = 10000, ALTERNATE_SIZE = 64 * 1024 };

static volatile long handled;
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
    handled = 0;
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
    handled = 0;
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
    return 0;
}
