#include "service/base/tick_clock.h"

#include <cpuid.h>
#include <x86intrin.h>

#include "service/base/system_clock.h"

#define NS_PER_SECOND     1000000000u
#define QUICK_MS          20
#define SAMPLE_ATTEMPTS   16
#define CPUID_POWER       0x80000007u /* Intel SDM, AMD APM: advanced power management */
#define CPUID_INVARIANT   (1u << 8)   /* edx: the counter runs at the same rate in all states */
#define DISBELIEF_DIVISOR 1000

uint64_t tick_clock_now(void)
{
    return __rdtsc();
}

/* Takes several, and keeps the one with the least between its two readings of the counter. */
static void take_sample(uint64_t *ticks, uint64_t *ns)
{
    uint64_t narrowest = UINT64_MAX;

    for (int i = 0; i < SAMPLE_ATTEMPTS; i++) {
        uint64_t before = tick_clock_now();
        uint64_t between = system_clock_steady_ns();
        uint64_t width = tick_clock_now() - before;

        if (width < narrowest) {
            narrowest = width;
            *ticks = before + width / 2;
            *ns = between;
        }
    }
}

static uint64_t measure(const struct tick_clock *clock)
{
    uint64_t ticks = 0, ns = 0;

    take_sample(&ticks, &ns);
    if (ns <= clock->first_ns)
        return 0;
    /* of 64 bits, as no integer of i386 has more */
    return (uint64_t)((long double)(ticks - clock->first_ticks) * NS_PER_SECOND /
                      (long double)(ns - clock->first_ns));
}

static bool counter_is_invariant(void)
{
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid(CPUID_POWER, &eax, &ebx, &ecx, &edx) && (edx & CPUID_INVARIANT);
}

bool tick_clock_open(struct tick_clock *clock)
{
    take_sample(&clock->first_ticks, &clock->first_ns);
    system_clock_sleep_ms(QUICK_MS);
    clock->quick = measure(clock);
    return counter_is_invariant();
}

uint64_t tick_clock_frequency(const struct tick_clock *clock)
{
    uint64_t frequency = measure(clock);
    uint64_t off = frequency > clock->quick ? frequency - clock->quick : clock->quick - frequency;

    return off > clock->quick / DISBELIEF_DIVISOR ? clock->quick : frequency;
}
