#include "thunkstash/linux/own_memory.h"

#include <stdbool.h>

#define PAGE_SHIFT 12
#define SIZE_BITS  OWN_MEMORY_SIZE_BITS
#define SIZE_MASK  ((1ull << SIZE_BITS) - 1)

uint64_t own_memory_areas[OWN_MEMORY_MOST];
static uint32_t used; /* entries from the first on, of which any was ever in use */

static struct memory_span span_of(uint64_t area)
{
    uint64_t start = area >> SIZE_BITS << PAGE_SHIFT;

    return (struct memory_span){start, start + ((area & SIZE_MASK) << PAGE_SHIFT)};
}

static void note_used(uint32_t count)
{
    uint32_t was = __atomic_load_n(&used, __ATOMIC_RELAXED);

    while (was < count && !__atomic_compare_exchange_n(&used, &was, count, true, __ATOMIC_RELEASE,
                                                       __ATOMIC_RELAXED))
        ;
}

static uint64_t area_of(const void *start, uint64_t size)
{
    uint64_t pages = (size + (1 << PAGE_SHIFT) - 1) >> PAGE_SHIFT;

    return (uint64_t)(uintptr_t)start >> PAGE_SHIFT << SIZE_BITS | pages;
}

void own_memory_add(const void *start, uint64_t size)
{
    uint64_t area = area_of(start, size);

    for (uint32_t i = 0; i < OWN_MEMORY_MOST; i++) {
        uint64_t none = 0;

        if (__atomic_load_n(&own_memory_areas[i], __ATOMIC_RELAXED) ||
            !__atomic_compare_exchange_n(&own_memory_areas[i], &none, area, false, __ATOMIC_RELEASE,
                                         __ATOMIC_RELAXED))
            continue;
        note_used(i + 1);
        return;
    }
}

void own_memory_remove(const void *start, uint64_t size)
{
    uint32_t count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t area = area_of(start, size);

        if (__atomic_load_n(&own_memory_areas[i], __ATOMIC_RELAXED) == area &&
            __atomic_compare_exchange_n(&own_memory_areas[i], &area, 0, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
    }
}

struct memory_span own_memory_above(uint64_t address)
{
    struct memory_span lowest = {UINT64_MAX, UINT64_MAX};
    uint32_t count = __atomic_load_n(&used, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t area = __atomic_load_n(&own_memory_areas[i], __ATOMIC_ACQUIRE);
        struct memory_span span = span_of(area);

        if (area && span.end > address && span.start < lowest.start)
            lowest = span;
    }
    return lowest;
}
