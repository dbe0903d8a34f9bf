/*
 * What compilers call for atomic operations on 8 bytes, where neither the x87 nor vector registers
 * may be used. The memory is this process's or the trace, whose other writers and readers use whole
 * words of 8 bytes.
 */
#include <stdbool.h>
#include <stdint.h>

#define TEXT_(prefix) #prefix
#define TEXT(prefix)  TEXT_(prefix)
#define CALLED_AS(name)                                                                            \
    __asm__(TEXT(__USER_LABEL_PREFIX__) name) __attribute__((visibility("hidden"), used))

uint64_t atomics_load(const volatile void *place, int order) CALLED_AS("__atomic_load_8");
void atomics_store(volatile void *place, uint64_t value, int order) CALLED_AS("__atomic_store_8");
uint64_t atomics_exchange(volatile void *place, uint64_t value, int order)
    CALLED_AS("__atomic_exchange_8");
bool atomics_compare_exchange(volatile void *place, void *expected, uint64_t value, int success,
                              int failure) CALLED_AS("__atomic_compare_exchange_8");
uint64_t atomics_add(volatile void *place, uint64_t value, int order)
    CALLED_AS("__atomic_fetch_add_8");
uint64_t atomics_subtract(volatile void *place, uint64_t value, int order)
    CALLED_AS("__atomic_fetch_sub_8");
uint64_t atomics_and(volatile void *place, uint64_t value, int order)
    CALLED_AS("__atomic_fetch_and_8");
uint64_t atomics_or(volatile void *place, uint64_t value, int order)
    CALLED_AS("__atomic_fetch_or_8");

/* What was there; it is replaced if it was `old`. */
static uint64_t replace(volatile void *place, uint64_t old, uint64_t value)
{
    uint64_t found = old;

    __asm__ volatile("lock cmpxchg8b %1"
                     : "+A"(found), "+m"(*(volatile uint64_t *)place)
                     : "b"((uint32_t)value), "c"((uint32_t)(value >> 32))
                     : "memory", "cc");
    return found;
}

/* Pages may be readable alone, so nothing is written: both halves, until the upper one stays the
 * same. */
uint64_t atomics_load(const volatile void *place, int order)
{
    const volatile uint32_t *halves = place;
    uint32_t low, high, again;

    (void)order;
    do {
        high = halves[1];
        low = halves[0];
        again = halves[1];
    } while (high != again);
    return (uint64_t)high << 32 | low;
}

uint64_t atomics_exchange(volatile void *place, uint64_t value, int order)
{
    uint64_t found = atomics_load(place, order), old;

    do {
        old = found;
        found = replace(place, old, value);
    } while (found != old);
    return old;
}

void atomics_store(volatile void *place, uint64_t value, int order)
{
    atomics_exchange(place, value, order);
}

bool atomics_compare_exchange(volatile void *place, void *expected, uint64_t value, int success,
                              int failure)
{
    uint64_t old = *(uint64_t *)expected, found = replace(place, old, value);

    (void)success, (void)failure;
    *(uint64_t *)expected = found;
    return found == old;
}

uint64_t atomics_add(volatile void *place, uint64_t value, int order)
{
    uint64_t found = atomics_load(place, order), old;

    do {
        old = found;
        found = replace(place, old, old + value);
    } while (found != old);
    return old;
}

uint64_t atomics_subtract(volatile void *place, uint64_t value, int order)
{
    return atomics_add(place, 0 - value, order);
}

uint64_t atomics_and(volatile void *place, uint64_t value, int order)
{
    uint64_t found = atomics_load(place, order), old;

    do {
        old = found;
        found = replace(place, old, old & value);
    } while (found != old);
    return old;
}

uint64_t atomics_or(volatile void *place, uint64_t value, int order)
{
    uint64_t found = atomics_load(place, order), old;

    do {
        old = found;
        found = replace(place, old, old | value);
    } while (found != old);
    return old;
}
