/*
 * Work that is known: chains of multiplications that nothing can overlap. Prints for each function
 * its name and the processor time of all its calls, in seconds, by the thread's own clock.
 *
 *      w5 w10 w20 w100     about as many nanoseconds a call
 *      tail                one call of 300 takes a million times as long as the others
 *      deep                about 20 ns in each of 100,000 frames
 *      -                   a chain without any call: how fast the processor was in this run
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline unsigned long chain(unsigned long x, long count)
{
    for (long i = 0; i < count; i++)
        __asm__ volatile("imul %0, %0" : "+r"(x));
    return x | 1;
}

#define WORK(name, count)                                                                          \
    __attribute__((noipa)) static unsigned long name(unsigned long x)                              \
    {                                                                                              \
        return chain(x, count);                                                                    \
    }

WORK(w5, 6)
WORK(w10, 12)
WORK(w20, 26)
WORK(w100, 140)

__attribute__((noipa)) static unsigned long tail(unsigned long x, long count)
{
    return chain(x, count);
}

__attribute__((noipa)) static unsigned long deep(unsigned long x, long depth)
{
    x = chain(x, 26);
    return depth ? deep(x, depth - 1) + 2 : x;
}

static void measure_speed(double *seconds)
{
    double begin = now();

    __asm__ volatile("" ::"r"(chain(3, 40000000)));
    *seconds += now() - begin;
}

/* The loop is the function's only caller, and a chain goes through all of its calls. */
#define MEASURE(name, times, call)                                                                 \
    do {                                                                                           \
        double begin = now();                                                                      \
        for (long i = 0; i < (times); i++)                                                         \
            x = call;                                                                              \
        printf("%s %.6f\n", name, now() - begin);                                                  \
        measure_speed(&speed);                                                                     \
    } while (0)

int main(int count, char **arguments)
{
    long share = count > 1 ? atol(arguments[1]) : 100; /* percent of what it does else */
    unsigned long x = 3;
    double speed = 0;

    MEASURE("w5", 1000000 * share, w5(x));
    MEASURE("w10", 600000 * share, w10(x));
    MEASURE("w20", 400000 * share, w20(x));
    MEASURE("w100", 100000 * share, w100(x));
    MEASURE("tail", 90 * share, tail(x, i % 300 ? 12 : 12000000));
    MEASURE("deep", share, deep(x, 100000));
    printf("- %.6f\n", speed);
    return (int)(x & 0);
}
