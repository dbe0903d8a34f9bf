/* Threads one after the other, and a handler that calls what is counted, too. */
#include "program.h"

#include <pthread.h>
#include <signal.h>

static volatile long sum;

COUNTED void handle(int signal)
{
    (void)signal;
    sum++;
}

COUNTED void *work(void *unused)
{
    sum += fib(5);
    return unused;
}

int main(void)
{
    signal(SIGUSR1, handle);
    for (int i = 0; i < 4; i++) {
        pthread_t thread;

        REQUIRE(!pthread_create(&thread, NULL, work, NULL));
        pthread_join(thread, NULL);
    }
    printf("%ld\n", sum);
    return 0;
}
