/*
 * longjmp across frames of several depths, jump buffers nested in each other, siglongjmp out of a
 * handler that was raised, and out of one that a timer sends at any instruction.
 */
#include "program.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static jmp_buf levels[8];
static sigjmp_buf out_of_handler;
static volatile sig_atomic_t armed;

/* Enters depth + 1 times and jumps to a level from the innermost. */
COUNTED long dive(long depth, int level, int value)
{
    if (depth == 0)
        longjmp(levels[level], value);
    if (depth < 0)
        return 0;
    long below = dive(depth - 1, level, value);
    OPAQUE(below);
    return below + 1;
}

/* Jumps to each of the levels in turn, from below all of them. */
COUNTED long nest(int level, long landed)
{
    volatile long sum = landed;
    int value = setjmp(levels[level]);
    if (value != 0)
        return sum + value * (level + 1);
    if (level < 7)
        sum += nest(level + 1, landed);
    long fallen = dive(10 + level, level, level + 1);
    OPAQUE(fallen);
    return sum;
}

COUNTED void jump_from_handler(int signal)
{
    (void)signal;
    if (armed)
        siglongjmp(out_of_handler, 1);
}

COUNTED long raise_below(long depth)
{
    if (depth == 0)
        raise(SIGUSR1);
    else
        depth += raise_below(depth - 1);
    OPAQUE(depth);
    return depth;
}

static long raised(long rounds)
{
    volatile long jumps = 0;
    armed = 1;
    for (volatile long round = 0; round < rounds; round++) {
        if (sigsetjmp(out_of_handler, 1) == 0)
            raise_below(11);
        else
            jumps++;
    }
    armed = 0;
    return jumps;
}

/* Interrupted by a timer at any instruction of fib or of a hook, and never returned to. */
static long interrupted(long rounds)
{
    volatile long jumps = 0;
    struct itimerval often = {.it_interval = {.tv_usec = 500}, .it_value = {.tv_usec = 500}};
    struct itimerval never = {0};
    setitimer(ITIMER_REAL, &often, NULL);
    while (jumps < rounds) {
        if (sigsetjmp(out_of_handler, 1) == 0) {
            armed = 1;
            for (;;)
                fib(20);
        }
        armed = 0;
        jumps++;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    return jumps;
}

int main(void)
{
    struct sigaction action = {.sa_handler = jump_from_handler};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);

    volatile long landed = 0;
    for (volatile int round = 0; round < 1000; round++)
        landed += nest(0, round);
    printf("nested: %ld\n", landed);
    printf("raised: %ld\n", raised(10000));
    printf("interrupted: %ld\n", interrupted(600));
    printf("still alive: %ld\n", fib(20));
    return 0;
}
