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

static void save(struct copy_writer *writer, unsigned r)
{
    frame_put_memory(writer, WIDE, LEA, RSP, RSP, -RED_ZONE);
    frame_put_memory(writer, WIDE, STORE, r, RSP, SAVED);
}

static void restore(struct copy_writer *writer, unsigned r)
{
    frame_put_memory(writer, WIDE, LOAD, r, RSP, SAVED);
    frame_put_memory(writer, WIDE, LEA, RSP, RSP, RED_ZONE);
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
        save(writer, r);
        put_with_flags(writer, block, r);
        restore(writer, r);
    }
    copy_set_add_stretch(writer->set, begin, copy_here(writer));
}

static void put_with_operand(struct copy_writer *writer, uint8_t opcode, unsigned r, size_t word)
{
    const uint8_t bytes[] = {(uint8_t)(0x40u | WIDE | (r >= 8 ? 4u : 0)), opcode,
                             (uint8_t)(5u | (r & 7u) << 3)};

    copy_put_with_word(writer, bytes, sizeof(bytes), word);
}

void count_code_put_word(struct copy_writer *writer, size_t word, uint16_t dead)
{
    unsigned r = choose(dead);
    bool saves = !(dead >> r & 1);

    if (saves)
        save(writer, r);
    put_with_operand(writer, LOAD, r, word);
    frame_put_memory(writer, WIDE, LEA, r, r, 1);
    put_with_operand(writer, STORE, r, word);
    if (saves)
        restore(writer, r);
}
