#include "grinder/views/diff_stacks.h"

#include <stdlib.h>

#include "grinder/profile/baseline.h"
#include "support/memory.h"

/* Stacks are numbered after their parents: numbers holds those of all parents. */
static void add_stacks(struct diff_stacks *both, const struct diff *diff, int side)
{
    const struct stack_tree *from = &diff->parts[side]->stacks;
    uint32_t *numbers = memory_zeroed(from->keys.count, sizeof(*numbers));

    for (uint32_t i = 1; i < from->keys.count; i++) {
        struct stack_cost zero = {0}, *sum;
        size_t known = both->stacks.keys.count;
        numbers[i] = stacks_push(&both->stacks, numbers[stack_parent(from, i)],
                                 diff->same[stack_function(from, i)]);
        for (; known < both->stacks.keys.count; known++) {
            both->before = memory_grow(both->before, known, &both->before_room, sizeof(zero));
            both->before[known] = zero;
        }
        sum = side == BEFORE ? both->before : both->stacks.costs;
        stack_cost_add(&sum[numbers[i]], &from->costs[i]);
    }
    free(numbers);
}

void diff_stacks_begin(struct diff_stacks *both, const struct diff *diff)
{
    *both = (struct diff_stacks){0};
    add_stacks(both, diff, BEFORE);
    add_stacks(both, diff, AFTER);
}

void diff_stacks_free(struct diff_stacks *both)
{
    stacks_free(&both->stacks);
    free(both->before);
}

/* Whether a baseline, which has the larger contexts alone, may have left out one with the figures
 * of the other. */
static bool is_left_out(const struct diff *diff, int side, uint64_t own, uint64_t other)
{
    struct costs whole[SIDES];

    diff_whole(diff, whole);
    return diff->is_listed[side] && !own &&
           !baseline_has_context(other, diff_figure(&whole[side], diff->weight));
}

int64_t diff_stack_change(const struct diff_stacks *both, const struct diff *diff, uint32_t stack)
{
    uint64_t before = weight_of(diff->weight, &both->before[stack]);
    uint64_t after = weight_of(diff->weight, &both->stacks.costs[stack]);

    if (is_left_out(diff, BEFORE, before, after) || is_left_out(diff, AFTER, after, before))
        return 0;
    return (int64_t)(after - before);
}

static uint64_t distance(int64_t change)
{
    return change < 0 ? -(uint64_t)change : (uint64_t)change;
}

uint32_t *diff_stacks_largest(const struct diff_stacks *both, const struct diff *diff)
{
    uint32_t *largest = memory_zeroed(images_function_count(diff->images), sizeof(*largest));
    uint64_t *most = memory_zeroed(images_function_count(diff->images), sizeof(*most));

    for (uint32_t i = 1; i < both->stacks.keys.count; i++) {
        uint32_t function = stack_function(&both->stacks, i);
        uint64_t by = distance(diff_stack_change(both, diff, i));
        if (by <= most[function])
            continue;
        most[function] = by;
        largest[function] = i;
    }
    free(most);
    return largest;
}
