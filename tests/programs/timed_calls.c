/*
 * Calls whose times are known: what the program has seen itself, on standard error:
 *
 *      NAME CALLS P50 P90 P99 P999 LONGEST      in ns
 *
 * jumps ends with a jump to spin; thrown's calls do not return, some of them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ALONE __attribute__((noinline, noipa))

static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

ALONE void spin(long ns)
{
    long long end = now() + ns;

    while (now() < end)
        ;
}

/* 900 of 1,000 calls take 10 us, 90 take 100 us, 9 take 1 ms, one takes 20 ms. */
static long long how_long(int i)
{
    return i % 1000 == 777 ? 20000000 : i % 100 == 13 ? 1000000 : i % 10 == 5 ? 100000 : 10000;
}

ALONE long serves(int i)
{
    spin(how_long(i));
    return i;
}

ALONE void jumps(int i)
{
    spin(how_long(i));
}

static jmp_buf before;

ALONE long thrown(int i)
{
    spin(10000);
    if (i % 4 == 3)
        longjmp(before, 1);
    return i;
}

static int (*volatile next)(int);

ALONE int again(int i)
{
    return i ? next(i - 1) + 1 : 0;
}

static int by_length(const void *left, const void *right)
{
    const long long *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void say(const char *name, long long *times, int count)
{
    const double shares[] = {0.5, 0.9, 0.99, 0.999};

    qsort(times, (size_t)count, sizeof *times, by_length);
    fprintf(stderr, "%s %d", name, count);
    for (int i = 0; i < 4; i++) {
        double wanted = shares[i] * count;
        int place = (int)wanted;

        fprintf(stderr, " %lld", times[place < wanted ? place : place - 1]);
    }
    fprintf(stderr, " %lld\n", times[count - 1]);
}

static void *in_thread(void *argument)
{
    for (int i = 0; i < 10; i++)
        again(100);
    return argument;
}

int main(void)
{
    static long long times[2000];
    pthread_t other;
    int count = 0;

    next = again;
    for (int i = 0; i < 2000; i++) {
        long long begin = now();
        serves(i);
        times[i] = now() - begin;
    }
    say("serves", times, 2000);
    for (int i = 0; i < 1000; i++) {
        long long begin = now();
        jumps(i);
        times[i] = now() - begin;
    }
    say("jumps", times, 1000);
    for (volatile int i = 0; i < 400; i++) {
        long long begin = now();
        if (!setjmp(before))
            thrown(i);
        if (i % 4 != 3)
            times[count++] = now() - begin;
    }
    say("thrown", times, count);
    pthread_create(&other, NULL, in_thread, NULL);
    pthread_join(other, NULL);
    again(100);
    puts("done");
    return 0;
}
