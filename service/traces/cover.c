#include "service/traces/cover.h"

#include <stddef.h>

#include "service/base/file.h"
#include "trace/trace_format.h"

uint64_t cover_append(int to, int from, uint64_t capacity, uint64_t used)
{
    unsigned char block[TRACE_BLOCK_SIZE];
    uint64_t cover;

    if (!file_read_at(from, &cover, sizeof(cover), offsetof(struct trace_header, cover)))
        return 0;
    if (used > capacity || cover > capacity - used || cover % TRACE_BLOCK_SIZE)
        return used;
    for (uint64_t at = capacity - cover; at < capacity; at += TRACE_BLOCK_SIZE) {
        if (!file_read_at(from, block, sizeof(block), at) ||
            !file_write_at(to, block, sizeof(block), used))
            return 0;
        used += TRACE_BLOCK_SIZE;
    }
    return used;
}
