#include "grinder/coverage/block_counts.h"

#include <stdbool.h>
#include <stdlib.h>

#include "support/memory.h"

/*
 * Blocks that are not counted are a forest over the places. A place with a single one of them says
 * how often that ran, as what leads there is as much as what leads on; then that one is known at
 * its other end, too, until none is left. Which blocks are left at a place is told by their number
 * and by their exclusive or.
 *
 * The ground says nothing: it only has ends.
 */
struct place {
    int64_t more; /* how often known blocks led there, less how often they led on */
    uint32_t unknown;
    uint32_t which;
};

struct solving {
    const struct manifest_way *ways;
    uint64_t *counts;
    struct place *places;
    uint32_t *ready; /* places with one unknown block, to be looked at */
    uint32_t ready_count;
};

static uint32_t from_of(const struct manifest_way *way)
{
    return way->from & ~MANIFEST_COUNTED;
}

uint32_t block_counts_words(const struct manifest *manifest)
{
    uint32_t words = 0;

    for (uint32_t i = 0; manifest->ways && i < manifest->block_count; i++)
        words += manifest->ways[i].from / MANIFEST_COUNTED;
    return words;
}

static void add_unknown(struct solving *solving, uint32_t place, uint32_t block)
{
    solving->places[place].unknown++;
    solving->places[place].which ^= block;
}

static void note_ready(struct solving *solving, uint32_t place)
{
    if (place && solving->places[place].unknown == 1)
        solving->ready[solving->ready_count++] = place;
}

static void add_known(struct solving *solving, uint32_t block, uint64_t count)
{
    solving->counts[block] = count;
    solving->places[solving->ways[block].to].more += (int64_t)count;
    solving->places[from_of(&solving->ways[block])].more -= (int64_t)count;
}

/* The only unknown block of a place. */
static void solve(struct solving *solving, uint32_t place)
{
    uint32_t block = solving->places[place].which;
    const struct manifest_way *way = &solving->ways[block];
    uint32_t from = from_of(way), other = from == place ? way->to : from;
    int64_t count = from == place ? solving->places[place].more : -solving->places[place].more;

    if (solving->places[place].unknown != 1)
        return;
    add_known(solving, block, count > 0 ? (uint64_t)count : 0);
    solving->places[place].unknown--;
    solving->places[other].unknown--;
    solving->places[other].which ^= block;
    note_ready(solving, other);
}

void block_counts_find(const struct manifest *manifest, const uint64_t *words, uint64_t *counts)
{
    uint32_t place_count = manifest->block_count + 1;
    struct solving solving = {
        .ways = manifest->ways,
        .counts = counts,
        .places = memory_zeroed(place_count, sizeof(*solving.places)),
        .ready = memory_zeroed((size_t)2 * place_count, sizeof(*solving.ready)),
    };

    for (uint32_t i = 0; i < manifest->block_count; i++) {
        const struct manifest_way *way = &solving.ways[i];

        if (way->from & MANIFEST_COUNTED) {
            add_known(&solving, i, *words++);
        } else if (way->from != way->to) { /* else nothing says it, and no rewriter makes it so */
            add_unknown(&solving, way->from, i);
            add_unknown(&solving, way->to, i);
        }
    }
    for (uint32_t i = 1; i < place_count; i++)
        note_ready(&solving, i);
    while (solving.ready_count)
        solve(&solving, solving.ready[--solving.ready_count]);
    free(solving.places);
    free(solving.ready);
}
