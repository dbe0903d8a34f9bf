#include "service/base/system_clock.h"

#include <windows.h>

#define NS_PER_SECOND   1000000000u
#define TO_1970_SECONDS 11644473600u /* from 1601, where Windows begins to count */

uint64_t system_clock_steady_ns(void)
{
    LARGE_INTEGER now, frequency;
    uint64_t seconds, rest;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    seconds = (uint64_t)now.QuadPart / (uint64_t)frequency.QuadPart;
    rest = (uint64_t)now.QuadPart % (uint64_t)frequency.QuadPart;
    return seconds * NS_PER_SECOND + rest * NS_PER_SECOND / (uint64_t)frequency.QuadPart;
}

uint64_t system_clock_real_ns(void)
{
    FILETIME now;
    uint64_t hundreds;

    GetSystemTimeAsFileTime(&now);
    hundreds = (uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
    return hundreds * 100 - (uint64_t)TO_1970_SECONDS * NS_PER_SECOND;
}

void system_clock_sleep_ms(unsigned ms)
{
    Sleep(ms);
}
