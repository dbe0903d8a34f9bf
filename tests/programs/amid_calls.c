/*
 * amid_calls: main calls exit() while eight threads go down a hundred thousand frames and up again,
 * over and over.
 */
#include "program.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8, DEPTH = 100000, STACK = 16 << 20 };

static COUNTED long descend(long depth)
{
    long below = depth > 1 ? descend(depth - 1) : 0;

    OPAQUE(below);
    return below + 1;
}

static void *thread_main(void *begun)
{
    descend(DEPTH);
    pthread_barrier_wait(begun);
    for (;;)
        descend(DEPTH);
    return NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_barrier_t begun;
    pthread_t thread;

    pthread_barrier_init(&begun, NULL, THREADS + 1);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&thread, &attributes, thread_main, &begun) == 0);
    pthread_barrier_wait(&begun);
    usleep(10000);
    printf("%d threads\n", THREADS);
    exit(0);
}
