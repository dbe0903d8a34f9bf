/* A thousand short-lived threads, in waves of fifty, each with a name of its own. */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>

enum { WAVES = 20, WAVE = 50 };

static void *thread_main(void *argument)
{
    char name[16];
    snprintf(name, sizeof(name), "worker-%ld", (long)argument);
    pthread_setname_np(pthread_self(), name);
    return (void *)fib(5 + (long)argument % 5);
}

int main(void)
{
    long sum = 0;
    for (long wave = 0; wave < WAVES; wave++) {
        pthread_t threads[WAVE];
        for (long i = 0; i < WAVE; i++)
            REQUIRE(pthread_create(&threads[i], NULL, thread_main, (void *)(wave * WAVE + i)) == 0);
        for (long i = 0; i < WAVE; i++) {
            void *result;
            pthread_join(threads[i], &result);
            sum += (long)result;
        }
    }
    printf("%d threads: %ld\n", WAVES * WAVE, sum);
    return 0;
}
