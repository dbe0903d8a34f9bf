// For the report: phases that slices can tell apart, two threads, and a source that the test adds
// lines to which no page may take for its own. report MILLISECONDS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline)) void leaf(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i;
}

__attribute__((noinline)) void first_phase(long ms)
{
    for (long end = now_ms() + ms; now_ms() < end;)
        leaf(20000);
}

__attribute__((noinline)) void second_phase(long ms)
{
    for (long end = now_ms() + ms; now_ms() < end;)
        leaf(40000);
}

__attribute__((noinline)) int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) void *helper(void *number)
{
    sink += (unsigned long)fib(*(int *)number);
    return NULL;
}

int main(int argc, char **argv)
{
    long ms = argc > 1 ? atol(argv[1]) : 100;
    int number = 18;
    pthread_t thread;

    pthread_create(&thread, NULL, helper, &number);
    pthread_join(thread, NULL);
    first_phase(ms);
    second_phase(ms);
    puts("done");
    return 0;
}
