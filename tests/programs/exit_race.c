/* Threads call and return all the time while main calls exit(). */
#include "program.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 4 };

static void *run(void *unused)
{
    for (;;)
        fib(15);
    return unused;
}

int main(void)
{
    pthread_t thread;

    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&thread, NULL, run, NULL) == 0);
    usleep(3000);
    exit(0);
}
