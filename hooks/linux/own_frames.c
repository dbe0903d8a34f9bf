#include "hooks/linux/own_frames.h"

#include <stddef.h>

/* As the compiler makes it for code that may lie anywhere: | length | CIE | code | size | … */
struct frame {
    uint32_t length, cie;
    int32_t code; /* distance from here */
    uint32_t size;
};

/* The number of the last that begins at or before; `count` if none does. */
static uint32_t last_before(const struct frame_index *index, int64_t distance)
{
    uint32_t low = 0, high = index->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (index->entries[middle].code <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : index->count;
}

const void *own_frame(const struct frame_index *index, uint64_t where, struct frame_bases *bases)
{
    uint64_t begin = (uintptr_t)index;
    uint32_t place = last_before(index, (int64_t)(where - begin));
    const struct frame *frame;
    uint64_t function;

    if (place == index->count)
        return NULL;
    function = begin + (uint64_t)(int64_t)index->entries[place].code;
    frame =
        (const struct frame *)(uintptr_t)(begin + (uint64_t)(int64_t)index->entries[place].frame);
    if (where - function >= frame->size)
        return NULL;
    *bases = (struct frame_bases){.function = function};
    return frame;
}
