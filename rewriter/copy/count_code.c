#include "rewriter/copy/count_code.h"

#include "rewriter/copy/frame_bytes.h"

#define RED_ZONE 128
#define SAVED    (-8)

/* One that is dead; else r11. */
static unsigned choose(uint16_t dead)
{
    static const uint8_t order[] = {R11, R10, 9, 8, RCX, RSI, RDI, RDX, 0};

    for (size_t i = 0; i < sizeof(order); i++)
        if (dead >> order[i] & 1)
            return order[i];
    return R11;
}

static void put_with_flags(struct copy_writer *writer, const struct count_block *block, unsigned r)
{
    frame_put_cell(writer, LOAD, r, block->cell);
    frame_put_memory(writer, WIDE, LEA, r, r, block->added);
    frame_put_cell(writer, STORE, r, block->cell);
}

void count_code_put(struct copy_writer *writer, const struct count_block *block, uint16_t dead,
                    bool flags_are_dead)
{
    unsigned r = choose(dead);
    uint64_t begin = copy_here(writer);

    if (flags_are_dead) {
        frame_put_cell_add(writer, block->cell, block->added);
    } else if (dead >> r & 1) {
        put_with_flags(writer, block, r);
    } else {
        frame_put_memory(writer, WIDE, LEA, RSP, RSP, -RED_ZONE);
        frame_put_memory(writer, WIDE, STORE, r, RSP, SAVED);
        put_with_flags(writer, block, r);
        frame_put_memory(writer, WIDE, LOAD, r, RSP, SAVED);
        frame_put_memory(writer, WIDE, LEA, RSP, RSP, RED_ZONE);
    }
    copy_set_add_stretch(writer->set, begin, copy_here(writer));
}
