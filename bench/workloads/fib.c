/* fib N [THREADS]: each thread works out fib(N). A call is shorter than reading the clock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int depth;

__attribute__((noinline, noclone)) static long fib(long n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *work(void *result)
{
    *(long *)result = fib(depth);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    pthread_t others[64];
    long results[64] = {0};

    depth = atoi(argv[1]);
    for (int i = 1; i < threads; i++)
        pthread_create(&others[i], 0, work, &results[i]);
    work(&results[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], 0);
    printf("%ld\n", results[threads - 1]);
}
