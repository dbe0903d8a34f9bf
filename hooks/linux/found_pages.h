/*
 * Pages of the trace that were found to have memory: a run of them, told by one word, as threads claim blocks at the
 * same time. Each claims one that nobody else has, and finds some behind it; a thread that comes later with one in
 * front of these has to find that itself.
 *
 *      trace    | … | X | X + 1 | X + 2 | …          X is another thread's, which has not yet looked
 *                        ^ found                ^
 *
 *       63              32 31             0
 *      +------------------+----------------+
 *      | first page       | end            |
 *      +------------------+----------------+
 */
#ifndef UMBRA_HOOKS_LINUX_FOUND_PAGES_H
#define UMBRA_HOOKS_LINUX_FOUND_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define FOUND_PAGE  4096u
#define FOUND_SHIFT 32

struct found_pages {
    uint64_t run; /* 0: none */
};

/* at, size: bytes of the trace. */
static inline void found_pages_set(struct found_pages *found, uint64_t at, uint64_t size)
{
    __atomic_store_n(&found->run, (at / FOUND_PAGE) << FOUND_SHIFT | (at + size) / FOUND_PAGE, __ATOMIC_RELAXED);
}

static inline bool found_pages_has(const struct found_pages *found, uint64_t at, uint64_t size)
{
    uint64_t run = __atomic_load_n(&found->run, __ATOMIC_RELAXED);

    return at / FOUND_PAGE >= run >> FOUND_SHIFT &&
           (at + size + FOUND_PAGE - 1) / FOUND_PAGE <= (uint32_t)run;
}

#endif
