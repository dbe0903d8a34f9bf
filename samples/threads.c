/* Four threads named fib-20 … fib-23: 21,891, 35,421, 57,313 and 92,735 calls of fib. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

__attribute__((noinline)) static long fib(long n)
{
    if (n < 2)
        return n;
    long left = fib(n - 1);
    long right = fib(n - 2);
    __asm__("" : "+r"(left), "+r"(right));
    return left + right;
}

static void *thread_main(void *argument)
{
    long n = (long)argument;
    char name[16];
    snprintf(name, sizeof(name), "fib-%ld", n);
    pthread_setname_np(pthread_self(), name);
    return (void *)fib(n);
}

int main(void)
{
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread_main, (void *)(20 + i));
    for (long i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        printf("fib(%ld) = %ld\n", 20 + i, (long)result);
    }
    return 0;
}
