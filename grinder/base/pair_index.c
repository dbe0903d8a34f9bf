#include "grinder/base/pair_index.h"

#include <stdlib.h>

#include "grinder/base/message.h"
#include "support/memory.h"

#define FIRST_SLOTS 64u
#define MAX_COUNT   0x7fffffffu

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a * 0x9e3779b97f4a7c15ull) ^ (b + 0x7f4a7c159e3779b9ull + (a << 6) + (a >> 2));

    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ull;
    return h ^ (h >> 32);
}

/* The slot that holds the pair, or the empty one where it belongs. */
static size_t find_slot(const struct pair_index *index, uint64_t a, uint64_t b)
{
    size_t slot = mix(a, b) & (index->slot_count - 1);

    while (index->slots[slot]) {
        const struct pair *pair = &index->pairs[index->slots[slot] - 1];
        if (pair->a == a && pair->b == b)
            break;
        slot = (slot + 1) & (index->slot_count - 1);
    }
    return slot;
}

static void spread(struct pair_index *index)
{
    free(index->slots);
    index->slot_count = index->slot_count ? index->slot_count * 2 : FIRST_SLOTS;
    index->slots = memory_zeroed(index->slot_count, sizeof(*index->slots));
    for (size_t number = 0; number < index->count; number++) {
        const struct pair *pair = &index->pairs[number];
        index->slots[find_slot(index, pair->a, pair->b)] = (uint32_t)number + 1;
    }
}

uint32_t pair_index_add(struct pair_index *index, uint64_t a, uint64_t b)
{
    size_t slot;

    if (index->count * 2 >= index->slot_count)
        spread(index);
    slot = find_slot(index, a, b);
    if (index->slots[slot])
        return index->slots[slot] - 1;
    if (index->count >= MAX_COUNT) {
        message("too many distinct functions or calls: more than %u", MAX_COUNT);
        exit(EXIT_FAILURE);
    }
    index->pairs = memory_grow(index->pairs, index->count, &index->room, sizeof(*index->pairs));
    index->pairs[index->count] = (struct pair){a, b};
    index->slots[slot] = (uint32_t)++index->count;
    return (uint32_t)index->count - 1;
}

bool pair_index_find(const struct pair_index *index, uint64_t a, uint64_t b, uint32_t *number)
{
    uint32_t found = index->slot_count ? index->slots[find_slot(index, a, b)] : 0;

    *number = found - 1;
    return found != 0;
}

void pair_index_free(struct pair_index *index)
{
    free(index->pairs);
    free(index->slots);
    *index = (struct pair_index){0};
}
