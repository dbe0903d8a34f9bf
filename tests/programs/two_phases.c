/*
 * `two_phases MS`: early computes for so many ms of processor time, then late. Both by hot, whose
 * time goes to one line; inlining takes its own from a header, and late calls inlining, too. deep
 * is recursive.
 */
#include <stdlib.h>
#include <time.h>

#include "two_phases.h"

static volatile unsigned long sink;

static unsigned long processor_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
}

__attribute__((noinline)) void hot(unsigned long n)
{
    unsigned long sum = sink;

    for (unsigned long i = 0; i < n; i++)
        sum = (sum ^ i) / (i + 7) + (sum >> 3) % (i + 3); /* the hot line */
    sink = sum;
}

__attribute__((noinline)) void inlining(unsigned long n)
{
    unsigned long sum = sink;

    for (unsigned long i = 0; i < n; i++)
        sum += mixed_in_header(sum, i);
    sink = sum;
}

__attribute__((noinline)) void deep(int depth)
{
    if (depth)
        deep(depth - 1);
    else
        hot(20000);
    sink++;
}

__attribute__((noinline)) void early(void)
{
    deep(20);
    hot(20000);
    sink++;
}

__attribute__((noinline)) void late(void)
{
    hot(20000);
    inlining(2000);
    sink++;
}

int main(int argc, char **argv)
{
    unsigned long ms = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

    while (processor_ms() < ms)
        early();
    while (processor_ms() < 2 * ms)
        late();
    return 0;
}
