/* fib_again: works out fib(27) until it is ended. Each time a line: nanoseconds of processor time a
 * call. */
#include <stdio.h>
#include <time.h>

#define DEPTH 27

static long calls;

__attribute__((noinline, noclone)) static long fib(long n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
    calls = 2 * fib(DEPTH + 1) - 1;
    for (;;) {
        double begun = now_ns();
        volatile long result = fib(DEPTH);

        (void)result;
        printf("%.2f\n", (now_ns() - begun) / (double)calls);
        fflush(stdout);
    }
}
