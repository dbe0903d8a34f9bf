#include "rewriter/copy/count_code.h"

#include "rewriter/copy/frame_bytes.h"

#define RED_ZONE 128
#define SAVED    (-8)
#define PUSHF    0x9c
#define POPF     0x9d

/* As frame_put_cell numbers words of struct frame_counts. */
#define FRAME_LANE_CELL FRAME_CELLS
_Static_assert(FRAME_COUNTS_AT + FRAME_LANE_CELL * sizeof(uint64_t) == FRAME_LANE_AT, "the lane");

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

static void put_with_operand(struct copy_writer *writer, uint8_t opcode, unsigned r, size_t word)
{
    const uint8_t bytes[] = {(uint8_t)(0x40u | WIDE | (r >= 8 ? 4u : 0)), opcode,
                             (uint8_t)(5u | (r & 7u) << 3)};

    copy_put_with_word(writer, bytes, sizeof(bytes), word);
}

/* inc qword [r + word] */
static void put_inc_absolute(struct copy_writer *writer, unsigned r, size_t word)
{
    const uint8_t bytes[] = {(uint8_t)(0x40u | WIDE | (r >= 8 ? 1u : 0)), GROUP_5,
                             (uint8_t)(0x80u | (r & 7u))};

    copy_put_with_absolute_word(writer, bytes, sizeof(bytes), word);
}

static void put_inc(struct copy_writer *writer, unsigned r, const struct count_word *word)
{
    if (!word->has_lanes) {
        put_with_operand(writer, GROUP_5, 0, word->place);
    } else if (word->is_absolute) {
        frame_put_cell(writer, LOAD, r, FRAME_LANE_CELL);
        put_inc_absolute(writer, r, word->place);
    } else {
        put_with_operand(writer, LEA, r, word->place);
        frame_put_cell(writer, ADD_LOAD, r, FRAME_LANE_CELL);
        frame_put_memory(writer, WIDE, GROUP_5, 0, r, 0);
    }
}

void count_code_put_word(struct copy_writer *writer, const struct count_word *word)
{
    unsigned r = choose(word->dead);
    bool saves = word->has_lanes && !(word->dead >> r & 1);
    bool is_below = saves || !word->flags_are_dead;

    if (is_below)
        frame_put_memory(writer, WIDE, LEA, RSP, RSP, -RED_ZONE);
    if (!word->flags_are_dead)
        frame_put8(writer, PUSHF);
    if (saves)
        frame_put_memory(writer, WIDE, STORE, r, RSP, SAVED);
    put_inc(writer, r, word);
    if (saves)
        frame_put_memory(writer, WIDE, LOAD, r, RSP, SAVED);
    if (!word->flags_are_dead)
        frame_put8(writer, POPF);
    if (is_below)
        frame_put_memory(writer, WIDE, LEA, RSP, RSP, RED_ZONE);
}
