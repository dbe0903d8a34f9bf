/* Blocks whose counts follow from others'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "grinder/coverage/block_counts.h"

#include <cmocka.h>

#define C           MANIFEST_COUNTED
#define MOST_BLOCKS 64
#define GRAPHS      2000
#define LEAST_STEPS 1000
#define MOST_STEPS  10000

static struct manifest_way ways[MOST_BLOCKS];
static uint64_t words[MOST_BLOCKS], counts[MOST_BLOCKS];
static struct manifest manifest = {.ways = ways};

static void find(uint32_t blocks)
{
    manifest.block_count = blocks;
    for (uint32_t i = 0; i < MOST_BLOCKS; i++)
        counts[i] = 12345;
    for (uint32_t i = 0; i < blocks; i++)
        counts[i] = 0;
    block_counts_find(&manifest, words, counts);
}

/* f: A; jne else; B; else: C, of copy_ways.h */
static void what_leads_to_a_place_leaves_it(void **state)
{
    const struct manifest_way drawn[] = {{0 | C, 1}, {1 | C, 1}, {1, 0}};

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        ways[i] = drawn[i];
    words[0] = 10;
    words[1] = 4;
    find(3);
    assert_int_equal(block_counts_words(&manifest), 2);
    assert_int_equal(counts[0], 10);
    assert_int_equal(counts[1], 4);
    assert_int_equal(counts[2], 10);
    assert_int_equal(counts[3], 12345);
}

/* One was in the middle of the first block when its process ended. */
static void no_count_is_negative(void **state)
{
    const struct manifest_way drawn[] = {{0, 1}, {1 | C, 2}, {2, 0}, {2 | C, 1}};

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        ways[i] = drawn[i];
    words[0] = 3;
    words[1] = 5;
    find(4);
    assert_int_equal(counts[0], 0);
    assert_int_equal(counts[2], 0);
}

/* No rewriter writes these: blocks that are not counted, in circles. */
static void circles_are_left_alone(void **state)
{
    const struct manifest_way drawn[] = {{1, 2}, {2, 1}, {3, 3}, {1 | C, 2}, {0, 4}, {4, 0}};

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        ways[i] = drawn[i];
    words[0] = 7;
    find(6);
    assert_int_equal(counts[3], 7);
    assert_int_equal(counts[0], 0);
    assert_int_equal(counts[2], 0);
}

/* ---- walks through graphs made at random */

static uint32_t roots[MOST_BLOCKS + 1];

static uint32_t root_of(uint32_t place)
{
    while (roots[place] != place)
        place = roots[place];
    return place;
}

/* Leaves out of the count what makes a tree. */
static void choose_counted(uint32_t blocks, uint32_t places)
{
    for (uint32_t i = 0; i < places; i++)
        roots[i] = i;
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t from = root_of(ways[i].from), to = root_of(ways[i].to);

        if (from == to)
            ways[i].from |= C;
        roots[from] = to;
    }
}

/* A block that leads on from a place, taken at random. */
static uint32_t leading_from(uint32_t place, uint32_t blocks)
{
    uint32_t first = (uint32_t)rand() % blocks;

    for (uint32_t i = 0; i < blocks; i++)
        if ((ways[(first + i) % blocks].from & ~C) == place)
            return (first + i) % blocks;
    return blocks;
}

/* Walks until it is at the ground after many steps. False: it has come to a dead end, or does not
 * come back. */
static bool walk(uint32_t blocks, uint64_t *walked)
{
    uint32_t place = 0;

    for (uint32_t steps = 0; steps < MOST_STEPS; steps++) {
        uint32_t block = leading_from(place, blocks);

        if (place == 0 && steps >= LEAST_STEPS)
            return true;
        if (block == blocks)
            return false;
        walked[block]++;
        place = ways[block].to;
    }
    return false;
}

static void counts_are_those_of_a_walk(void **state)
{
    uint32_t walks = 0;

    (void)state;
    srand(1);
    for (uint32_t graph = 0; graph < GRAPHS; graph++) {
        uint32_t blocks = 1 + (uint32_t)rand() % (MOST_BLOCKS - 1);
        uint32_t places = 1 + (uint32_t)rand() % blocks, counted = 0;
        uint64_t walked[MOST_BLOCKS] = {0};

        for (uint32_t i = 0; i < blocks; i++)
            ways[i] = (struct manifest_way){(uint32_t)rand() % places, (uint32_t)rand() % places};
        choose_counted(blocks, places);
        if (!walk(blocks, walked))
            continue;
        walks++;
        for (uint32_t i = 0; i < blocks; i++)
            if (ways[i].from & C)
                words[counted++] = walked[i];
        find(blocks);
        for (uint32_t i = 0; i < blocks; i++)
            assert_int_equal(counts[i], walked[i]);
    }
    assert_true(walks > GRAPHS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leads_to_a_place_leaves_it),
        cmocka_unit_test(no_count_is_negative),
        cmocka_unit_test(circles_are_left_alone),
        cmocka_unit_test(counts_are_those_of_a_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
