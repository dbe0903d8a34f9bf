/*
 * Waits busily, for known times, and once in a long while for very long. Says what it measured
 * itself: nanoseconds in each function.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define NOINLINE __attribute__((noinline, noclone))

#define RARE_CALLS 1000000
/* A tenth of a second, more when recorded; as many in each run, so that runs can be compared. */
#define CLOCK_CALLS 4000000

static double ticks_a_ns;

static uint64_t mono_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void find_rate(void)
{
    uint64_t ns = mono_ns(), ticks = __rdtsc(), now = ns;

    for (int i = 0; i < CLOCK_CALLS; i++)
        now = mono_ns();
    ticks_a_ns = (double)(__rdtsc() - ticks) / (double)(now - ns);
}

/* A loop of its own in each, so that no time is spent in calls. Returns ticks. */
#define WAIT(ns)                                                                                   \
    uint64_t begin = __rdtsc(), now, length = (uint64_t)((ns)*ticks_a_ns);                         \
    do                                                                                             \
        now = __rdtsc();                                                                           \
    while (now - begin < length)
#define SPIN(ns)                                                                                   \
    WAIT(ns);                                                                                      \
    return now - begin

NOINLINE static uint64_t spin_1us(void)
{
    SPIN(1e3);
}

NOINLINE static uint64_t spin_10us(void)
{
    SPIN(1e4);
}

NOINLINE static uint64_t spin_1ms(void)
{
    SPIN(1e6);
}

/* The second is a tail call of the first. */
static uint64_t before_jump;

NOINLINE static uint64_t jumped_to(void)
{
    SPIN(2e4);
}

NOINLINE static uint64_t jumper(void)
{
    WAIT(1e4);
    before_jump += now - begin;
    return jumped_to();
}

/* Calls nothing, and is over at once, but for one call in a million. */
NOINLINE static uint64_t rarely_slow(int i)
{
    if (i != RARE_CALLS / 2)
        return 0;
    SPIN(3e8);
}

int main(void)
{
    uint64_t us = 0, tens = 0, ms = 0, after_jump = 0, rare = 0;

    find_rate();
    for (int i = 0; i < 100000; i++)
        us += spin_1us();
    for (int i = 0; i < 20000; i++)
        tens += spin_10us();
    for (int i = 0; i < 200; i++)
        ms += spin_1ms();
    for (int i = 0; i < 5000; i++)
        after_jump += jumper();
    for (int i = 0; i < RARE_CALLS; i++)
        rare += rarely_slow(i);
    fprintf(stderr,
            "spin_1us %.0f\nspin_10us %.0f\nspin_1ms %.0f\njumper %.0f\njumped_to %.0f\n"
            "rarely_slow %.0f\n",
            (double)us / ticks_a_ns, (double)tens / ticks_a_ns, (double)ms / ticks_a_ns,
            (double)before_jump / ticks_a_ns, (double)after_jump / ticks_a_ns,
            (double)rare / ticks_a_ns);
}
