/*
 * Numbers pairs of integers 0, 1, 2 … in the order in which they first appear.
 *
 *      slots    | 0 | 3 | 0 | 1 | 2 | 0 | …      open addressing, number + 1, 0 is empty
 *      pairs    | (a,b) | (a,b) | (a,b) |        by number
 *
 * Whatever belongs to a pair lives in an array of its owner, by the same number.
 */
#ifndef UMBRA_GRINDER_PAIR_INDEX_H
#define UMBRA_GRINDER_PAIR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
    uint64_t a;
    uint64_t b;
};

/* All zero is an empty index. */
struct pair_index {
    struct pair *pairs;
    size_t count;
    size_t room;
    uint32_t *slots;
    size_t slot_count; /* a power of two, or 0 */
};

/* The number of (a, b), which is the old `count` if it is new. Ends the program past 2^31. */
uint32_t pair_index_add(struct pair_index *index, uint64_t a, uint64_t b);

/* False: (a, b) has none. */
bool pair_index_find(const struct pair_index *index, uint64_t a, uint64_t b, uint32_t *number);

void pair_index_free(struct pair_index *index);

#endif
