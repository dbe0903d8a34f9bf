/*
 * contexts: ten million calling contexts, all different, then as many calls in a thousand contexts.
 * A context is a path of left and right calls down a tree. Says on stderr how long each took.
 */
#include "program.h"

#include <time.h>

#define DEPTH   23 /* 2^24 - 1 calls */
#define SHALLOW 9  /* 2^10 - 1 calls */

static COUNTED long descend(int depth)
{
    long left = 0, right = 0;

    if (depth > 0) {
        left = descend(depth - 1);
        OPAQUE(left);
        right = descend(depth - 1);
        OPAQUE(right);
    }
    return left + right + 1;
}

static COUNTED long all_different(void)
{
    return descend(DEPTH);
}

static COUNTED long few(void)
{
    long calls = 0;

    while (calls < (1L << (DEPTH + 1)) - (1L << SHALLOW))
        calls += descend(SHALLOW);
    return calls;
}

static double seconds(long (*work)(void), long *calls)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    *calls = work();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
}

int main(void)
{
    long calls[2];
    double of_many = seconds(all_different, &calls[0]), of_few = seconds(few, &calls[1]);

    printf("%ld %ld\n", calls[0], calls[1]);
    fprintf(stderr, "%.3f %.3f\n", of_many, of_few);
}
