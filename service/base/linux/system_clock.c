#include "service/base/system_clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t system_clock_steady_ns(void)
{
    return read_clock(CLOCK_MONOTONIC_RAW);
}

uint64_t system_clock_real_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

void system_clock_sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l}, NULL);
}
