#include "trace/stack_chain.h"

#include <stdlib.h>
#include <string.h>

bool stack_chain_add(struct stack_chain *chain, const struct trace_stack *block,
                     const struct trace_stack_entry *entries)
{
    size_t end = (size_t)block->first + STACK_BLOCK_ENTRIES;

    if (end > chain->places) {
        struct trace_stack_entry *longer =
            realloc(chain->entries, end * sizeof(struct trace_stack_entry));
        if (!longer)
            return false;
        memset(longer + chain->places, 0, (end - chain->places) * sizeof(*longer));
        chain->entries = longer;
        chain->places = end;
    }
    if (!block->first)
        chain->head = *block;
    memcpy(chain->entries + block->first, entries, STACK_BLOCK_ENTRIES * sizeof(*entries));
    return true;
}

const struct trace_stack_entry *stack_chain_entry(const struct stack_chain *chain,
                                                  uint32_t position)
{
    return &chain->entries[stack_place(position)];
}

static bool is_there(const struct stack_chain *chain, uint32_t position)
{
    return stack_is_kept(position, chain->count) && stack_place(position) < chain->places;
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
    uint32_t check = (uint32_t)(chain->head.chain >> 32), inner = 0;

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
    if (chain->count <= STACK_KEPT || chain->places < STACK_OUTER ||
        stack_chain_entry(chain, STACK_OUTER - 1)->check != chain->head.outer_check)
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
    uint64_t depth;

    chain->count = (uint32_t)chain->head.chain;
    chain->inner = count_inner(chain);
    chain->outer = count_outer(chain);
    chain->peak = chain->head.high - chain->head.lowest;
    depth = stack_chain_depth(chain);
    if (depth >= chain->peak + STACK_DEPTH_UNIT && depth <= chain->head.size)
        chain->peak = depth;
}

void stack_chain_free(struct stack_chain *chain)
{
    free(chain->entries);
    *chain = (struct stack_chain){0};
}
