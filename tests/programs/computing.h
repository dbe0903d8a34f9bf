/* What programs compute whose times are looked at, and their clock. */
#ifndef UMBRA_TESTS_COMPUTING_H
#define UMBRA_TESTS_COMPUTING_H

#include <time.h>

#define ALONE __attribute__((noipa, unused))

static volatile long sink;

/* ns of the thread's processor time. */
static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* Calls nothing and has a loop. */
ALONE static long turn(long n)
{
    long sum = 1;

    for (long i = 0; i < n; i++)
        sum = sum * 3 + i;
    return sum;
}

#endif
