/*
 * contexts: ten million calling contexts, all different, then as many calls in a thousand contexts.
 * A context is a path of calls of `descend` and `descend_right` down a tree. Last, one function that
 * calls itself from two places. Says on stderr how long each of the first two took.
 */
#include "program.h"

#include <time.h>

#define DEPTH   23 /* 2^24 - 1 calls */
#define SHALLOW 9  /* 2^10 - 1 calls */
#define TWO_PLACES 26

static long descend_right(int depth);

static COUNTED long descend(int depth)
{
    long left = 0, right = 0;

    if (depth > 0) {
        left = descend(depth - 1);
        OPAQUE(left);
        right = descend_right(depth - 1);
        OPAQUE(right);
    }
    return left + right + 1;
}

static COUNTED long descend_right(int depth)
{
    long left = 0, right = 0;

    if (depth > 0) {
        left = descend(depth - 1);
        OPAQUE(left);
        right = descend_right(depth - 1);
        OPAQUE(right);
    }
    return left + right + 1;
}

static long from_first, from_second;

static COUNTED void from_two_places(int depth)
{
    if (depth < 2)
        return;
    from_first++;
    from_two_places(depth - 1); /* the first place */
    from_second++;
    from_two_places(depth - 2); /* the second place */
    OPAQUE(depth);
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

    from_two_places(TWO_PLACES);
    printf("%ld %ld %ld %ld\n", calls[0], calls[1], from_first, from_second);
    fprintf(stderr, "%.3f %.3f\n", of_many, of_few);
}
