#include "hooks/trace_list.h"

#include "hooks/session.h"

void *trace_list_next(uint32_t ordinal, struct trace_list *list, enum trace_block_kind kind,
                      size_t record_size)
{
    uint32_t in_block = (uint32_t)((TRACE_BLOCK_SIZE - TRACE_UNIT) / record_size);
    uint32_t place = list->count % in_block;
    struct trace_block *block = list->block;

    if (!block || !place) {
        block = session_block(ordinal);
        if (!block)
            return NULL;
        block->used = TRACE_BLOCK_UNITS;
        block_commit(block, kind);
        list->block = block;
    }
    return (char *)block + TRACE_UNIT + place * record_size;
}
