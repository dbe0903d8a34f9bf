#include "trace/stack_chain.h"

#include <stdlib.h>
#include <string.h>

bool stack_chain_add(struct stack_chain *chain, const struct trace_stack *block,
                     const struct trace_stack_entry *entries)
{
    struct stack_chain_copy *copy = &chain->copies[block->copy];
    size_t end = (size_t)block->first + STACK_BLOCK_ENTRIES;

    if (end > copy->places) {
        struct trace_stack_entry *longer =
            realloc(copy->entries, end * sizeof(struct trace_stack_entry));
        if (!longer)
            return false;
        memset(longer + copy->places, 0, (end - copy->places) * sizeof(*longer));
        copy->entries = longer;
        copy->places = end;
    }
    if (!block->first)
        copy->head = *block;
    memcpy(copy->entries + block->first, entries, STACK_BLOCK_ENTRIES * sizeof(*entries));
    return true;
}

static const struct stack_chain_copy *copy_of(const struct stack_chain *chain)
{
    return &chain->copies[chain->copy];
}

const struct trace_stack_entry *stack_chain_entry(const struct stack_chain *chain,
                                                  uint32_t position)
{
    return &copy_of(chain)->entries[stack_place(position)];
}

static bool is_there(const struct stack_chain *chain, uint32_t position)
{
    return stack_is_kept(position, chain->count) && stack_place(position) < copy_of(chain)->places;
}

/* Does the entry belong behind the one before it? */
static bool is_linked(const struct stack_chain *chain, uint32_t position)
{
    const struct trace_stack_entry *entry = stack_chain_entry(chain, position);
    uint32_t before = 0;

    if (position && !is_there(chain, position - 1))
        return false;
    if (position)
        before = stack_chain_entry(chain, position - 1)->check;
    return entry->check == stack_check(before, entry);
}

static uint32_t count_inner(const struct stack_chain *chain)
{
    uint32_t check = (uint32_t)(copy_of(chain)->head.chain >> 32), inner = 0;

    if (!chain->count || !is_there(chain, chain->count - 1) ||
        stack_chain_entry(chain, chain->count - 1)->check != check)
        return 0;
    while (inner < chain->count && is_there(chain, chain->count - 1 - inner) &&
           is_linked(chain, chain->count - 1 - inner))
        inner++;
    return inner;
}

/* They belong to the chain if the last of them is the one that it says. */
static uint32_t count_outer(const struct stack_chain *chain)
{
    if (chain->count <= STACK_KEPT || copy_of(chain)->places < STACK_OUTER ||
        stack_chain_entry(chain, STACK_OUTER - 1)->check != copy_of(chain)->head.outer_check)
        return 0;
    for (uint32_t position = 0; position < STACK_OUTER; position++)
        if (!is_linked(chain, position))
            return 0;
    return STACK_OUTER;
}

uint64_t stack_chain_depth(const struct stack_chain *chain)
{
    if (!chain->inner)
        return 0;
    return (uint64_t)stack_chain_entry(chain, chain->count - 1)->depth * STACK_DEPTH_UNIT;
}

void stack_chain_check(struct stack_chain *chain)
{
    const struct trace_stack *first = &chain->copies[0].head, *second = &chain->copies[1].head;
    uint64_t depth;

    chain->copy = second->sequence > first->sequence;
    chain->count = (uint32_t)copy_of(chain)->head.chain;
    chain->inner = count_inner(chain);
    chain->outer = count_outer(chain);
    chain->peak = first->high - first->lowest;
    depth = stack_chain_depth(chain);
    if (depth >= chain->peak + STACK_DEPTH_UNIT && depth <= first->size)
        chain->peak = depth;
}

void stack_chain_free(struct stack_chain *chain)
{
    for (int i = 0; i < STACK_COPIES; i++)
        free(chain->copies[i].entries);
    *chain = (struct stack_chain){0};
}
