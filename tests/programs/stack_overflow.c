/*
 * A recursion without end runs off its stack; the SIGSEGV handler, on an alternate stack, jumps
 * out of it. On the main thread and on a thread with a small stack, again and again.
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>

enum { OVERFLOWS = 10, ALTERNATE_SIZE = 64 * 1024 };

static __thread sigjmp_buf rescue;

COUNTED long fall(long depth)
{
    volatile char filling[200];
    if (depth < 0)
        return 0;
    filling[depth % 200] = 1;
    long below = fall(depth + 1);
    OPAQUE(below);
    return below + filling[depth % 200];
}

COUNTED void rescue_from(int signal)
{
    siglongjmp(rescue, signal);
}

static void *overflow(void *argument)
{
    stack_t stack = {.ss_sp = malloc(ALTERNATE_SIZE), .ss_size = ALTERNATE_SIZE};
    volatile long *rescued = argument;
    sigaltstack(&stack, NULL);
    for (volatile int i = 0; i < OVERFLOWS; i++) {
        int signal = sigsetjmp(rescue, 1);
        if (signal == 0)
            fall(0);
        REQUIRE(signal == SIGSEGV);
        (*rescued)++;
        fib(10);
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = rescue_from, .sa_flags = SA_ONSTACK};
    volatile long rescued = 0;
    sigaction(SIGSEGV, &action, NULL);
    overflow((void *)&rescued);
    printf("main thread: %ld\n", rescued);

    pthread_attr_t attributes;
    pthread_t thread;
    rescued = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    pthread_create(&thread, &attributes, overflow, (void *)&rescued);
    pthread_join(thread, NULL);
    printf("small stack: %ld\n", rescued);
    return 0;
}
