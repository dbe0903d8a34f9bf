/*
 * `costs`: functions that take a few nanoseconds a call, none of which can be done beside another, and what each
 * takes by the thread's processor clock: a line "NAME CALLS NS" each, NS being a call's.
 *
 * `costs FILE`: makes FILE; or, if it is there, calls `other` instead of `first`.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CALLS 20000000

static volatile unsigned long sink;

/* Each step needs the one before. */
#define STEPS(count)                                                                               \
    for (int i = 0; i < (count); i++)                                                              \
        value = value * 6364136223846793005ul + 1442695040888963407ul

#define COST(name, steps)                                                                          \
    __attribute__((noinline)) static unsigned long name(unsigned long value)                       \
    {                                                                                              \
        STEPS(steps);                                                                              \
        __asm__ volatile("" : "+r"(value));                                                        \
        return value;                                                                              \
    }

COST(little, 8)
COST(some, 16)
COST(much, 80)

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void run(const char *name, unsigned long (*function)(unsigned long), int calls)
{
    double begin = now();
    unsigned long value = 1;

    for (int i = 0; i < calls; i++)
        value = function(value);
    sink = value;
    printf("%s %d %.2f\n", name, calls, (now() - begin) / calls);
}

__attribute__((noinline)) static void first(void)
{
    run("much", much, CALLS / 4);
    __asm__ volatile("");
}

__attribute__((noinline)) static void other(void)
{
    run("some", some, CALLS / 2);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        if (access(argv[1], F_OK) == 0)
            other();
        else if (fclose(fopen(argv[1], "w")) == 0)
            first();
        return 0;
    }
    run("little", little, CALLS);
    run("some", some, CALLS);
    run("much", much, CALLS / 4);
    return 0;
}
