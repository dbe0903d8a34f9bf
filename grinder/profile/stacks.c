#include "grinder/profile/stacks.h"

#include <stdlib.h>

#include "support/memory.h"

static uint32_t number_of(struct stack_tree *stacks, uint64_t parent, uint64_t function,
                          uint16_t depth)
{
    size_t before = stacks->keys.count;
    uint32_t number = pair_index_add(&stacks->keys, parent, function);

    if (number < before)
        return number;
    stacks->costs = memory_grow(stacks->costs, number, &stacks->room, sizeof(*stacks->costs));
    stacks->depths =
        memory_grow(stacks->depths, number, &stacks->depth_room, sizeof(*stacks->depths));
    stacks->costs[number] = (struct stack_cost){0};
    stacks->depths[number] = depth;
    return number;
}

uint32_t stacks_push(struct stack_tree *stacks, uint32_t parent, uint32_t function)
{
    uint16_t depth;

    if (!stacks->keys.count)
        number_of(stacks, 0, UINT64_MAX, 0);
    depth = stacks->depths[parent];
    if (depth > STACK_DEPTH)
        return parent;
    return number_of(stacks, parent, depth == STACK_DEPTH ? STACK_CUT : function,
                     (uint16_t)(depth + 1));
}

void stacks_free(struct stack_tree *stacks)
{
    pair_index_free(&stacks->keys);
    free(stacks->costs);
    free(stacks->depths);
    *stacks = (struct stack_tree){0};
}

uint32_t stack_parent(const struct stack_tree *stacks, uint32_t stack)
{
    return (uint32_t)stacks->keys.pairs[stack].a;
}

uint32_t stack_function(const struct stack_tree *stacks, uint32_t stack)
{
    return (uint32_t)stacks->keys.pairs[stack].b;
}

void stack_spell(const struct stack_tree *stacks, uint32_t stack, struct stack_frames *frames)
{
    frames->count = stacks->depths[stack];
    for (size_t i = frames->count; i > 0; i--) {
        frames->functions[i - 1] = stack_function(stacks, stack);
        stack = stack_parent(stacks, stack);
    }
}

/* The stack of a root, a representative, or nothing. */
static uint32_t stack_of_top(struct stack_tree *stacks, const struct context *context)
{
    if (!context->fold)
        return 0;
    return stacks_push(stacks, stacks_push(stacks, 0, STACK_CUT), context->function);
}

/* Contexts whose stacks are not known yet, from here to the first that is, are linked by their
   numbers on the way down, so that no depth takes room of its own. */
uint32_t stack_of_context(struct stack_tree *stacks, const struct tree *tree,
                          const struct context *context, uint32_t *numbers)
{
    uint32_t slot = (uint32_t)(context - tree->contexts), below = 0, stack;

    while (tree->contexts[slot].parent && !numbers[slot]) {
        numbers[slot] = below;
        below = slot;
        slot = tree->contexts[slot].parent;
    }
    stack = numbers[slot];
    if (!tree->contexts[slot].parent)
        stack = stack_of_top(stacks, &tree->contexts[slot]);
    while (below) {
        uint32_t next = numbers[below];
        stack = stacks_push(stacks, stack, tree->contexts[below].function);
        numbers[below] = stack;
        below = next;
    }
    return stack;
}

const char *stack_frame_name(const struct images *images, uint32_t function)
{
    return function == STACK_CUT ? "[cut]" : images->functions[function].name;
}
