/* Threads without a guard page below their stacks, as HotSpot's: nothing tells where such a stack
   begins. They leave calls by the C library's longjmp and end. */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>
#include <pthread.h>

#define THREADS 20

static void *work(void *argument)
{
    for (int i = 0; i < 3; i++)
        REQUIRE(dlsym(RTLD_DEFAULT, "there_is_no_such_function") == 0);
    return argument;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t threads[THREADS];

    REQUIRE(pthread_attr_init(&attributes) == 0 && pthread_attr_setguardsize(&attributes, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], &attributes, work, 0) == 0);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_join(threads[i], 0) == 0);
    printf("%d threads\n", THREADS);
    return 0;
}
