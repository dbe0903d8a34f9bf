/* Records of one kind that a thread adds to the trace, in blocks of its own: one block is full before the
   next is taken. */
#ifndef UMBRA_HOOKS_TRACE_LIST_H
#define UMBRA_HOOKS_TRACE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace_format.h"

/* {0} is an empty one. */
struct trace_list {
    struct trace_block *block; /* the newest */
    uint32_t count;            /* of records in all blocks */
};

/* Room for one more, of the thread with that ordinal, zeroed. It is there once `count` says so. Null: the
   trace is full. */
void *trace_list_next(uint32_t ordinal, struct trace_list *list, enum trace_block_kind kind,
                      size_t record_size);

#endif
