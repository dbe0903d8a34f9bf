#include "rewriter/copy/copy_set.h"

#include <stdlib.h>

#include "support/memory.h"
#include "support/sorted.h"

const struct copy *copy_set_of(const struct copy_set *set, uint32_t function)
{
    size_t place = partition_point(i, set->count, set->items[i].function < function);

    return place < set->count && set->items[place].function == function ? &set->items[place] : NULL;
}

uint32_t copy_set_moved(const struct copy_set *set, const struct copy *copy, uint32_t from)
{
    const struct copy_move *moves = set->moves + copy->first_move;
    size_t next;

    if (copy->is_slow) {
        next = partition_point(i, copy->move_count, moves[i].from < from);
        return next < copy->move_count ? moves[next].to : copy->size;
    }
    next = partition_point(i, copy->move_count, moves[i].from <= from);
    return moves[next - 1].to + (from - moves[next - 1].from);
}

void copy_set_add_move(struct copy_set *set, size_t first, size_t from, size_t to)
{
    if (set->move_count > first) {
        const struct copy_move *last = &set->moves[set->move_count - 1];

        if (to - from == last->to - (size_t)last->from)
            return;
    }
    set->moves = memory_grow(set->moves, set->move_count, &set->move_room, sizeof(*set->moves));
    set->moves[set->move_count++] = (struct copy_move){(uint32_t)from, (uint32_t)to};
}

void copy_set_add_stretch(struct copy_set *set, uint64_t address, uint64_t end)
{
    set->stretches = memory_grow(set->stretches, set->stretch_count, &set->stretch_room,
                                 sizeof(*set->stretches));
    set->stretches[set->stretch_count++] =
        (struct copy_stretch){address, (uint32_t)(end - address)};
}

size_t copy_set_add_block(struct copy_set *set, uint64_t original)
{
    set->blocks =
        memory_grow(set->blocks, set->block_count, &set->block_room, sizeof(*set->blocks));
    set->blocks[set->block_count] = (struct copy_block){.original = original};
    return set->block_count++;
}

void copy_set_free(struct copy_set *set)
{
    free(set->items);
    free(set->slow);
    free(set->moves);
    free(set->sites);
    free(set->stretches);
    free(set->blocks);
    *set = (struct copy_set){0};
}
