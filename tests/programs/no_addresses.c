/*
 * Takes all the address space there is, and calls on: deeper than ever, from places that never
 * called before, and with threads that begin once some of it is free again. Prints the numbers of
 * calls.
 */
#include "program.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#define LEAST 4096ul

static unsigned long taken;

/* In ever smaller pieces. */
static void take_all(void)
{
    for (unsigned long size = 1ul << 30; size >= LEAST; size /= 2)
        while (mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) !=
               MAP_FAILED)
            taken += size;
}

COUNTED long deep(long depth)
{
    OPAQUE(depth);
    return depth ? deep(depth - 1) + 1 : 0;
}

/* A tree of calls, each of whose nodes is a context of its own. */
COUNTED long left(long depth);

COUNTED long right(long depth)
{
    OPAQUE(depth);
    return depth ? left(depth - 1) + right(depth - 1) + 1 : 1;
}

COUNTED long left(long depth)
{
    OPAQUE(depth);
    return depth ? right(depth - 1) + left(depth - 1) + 1 : 1;
}

static void *in_thread(void *result)
{
    *(long *)result = left(10) + deep(100);
    return NULL;
}

int main(void)
{
    void *some =
        mmap(NULL, 64ul << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    long result = 0;
    pthread_t thread;

    printf("%ld before\n", left(8) + deep(100));
    take_all();
    printf("%ld with all %s\n", left(16) + deep(20000), taken >> 30 ? "taken" : "not taken");
    munmap(some, 64ul << 20);
    for (int i = 0; i < 4; i++) {
        if (pthread_create(&thread, NULL, in_thread, &result))
            return 1;
        pthread_join(thread, NULL);
        printf("%ld in a thread\n", result);
    }
    return 0;
}
