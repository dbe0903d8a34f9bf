#include "rewriter/copy/frame_bytes.h"

#include <string.h>

#include "trace/trace_format.h"

void frame_put8(struct copy_writer *writer, unsigned byte)
{
    uint8_t low = (uint8_t)byte;

    copy_put(writer, &low, 1);
}

void frame_put32(struct copy_writer *writer, uint32_t word)
{
    copy_put(writer, &word, sizeof(word));
}

void frame_put_memory(struct copy_writer *writer, uint8_t rex, uint8_t opcode, unsigned reg,
                      unsigned base, int32_t displacement)
{
    bool is_short = displacement >= INT8_MIN && displacement <= INT8_MAX;

    frame_put8(writer, 0x40u | rex | (reg >= 8 ? 4u : 0) | (base >= 8 ? 1u : 0));
    frame_put8(writer, opcode);
    if (!displacement && (base & 7) != RBP) {
        frame_put8(writer, (reg & 7u) << 3 | (base & 7u));
        return;
    }
    frame_put8(writer, (is_short ? 0x40u : 0x80u) | (reg & 7u) << 3 | (base & 7u));
    if ((base & 7) == RSP)
        frame_put8(writer, 0x24);
    if (is_short)
        frame_put8(writer, (unsigned)displacement);
    else
        frame_put32(writer, (uint32_t)displacement);
}

void frame_put_thread(struct copy_writer *writer, uint8_t opcode, unsigned reg, unsigned base,
                      int32_t displacement)
{
    frame_put8(writer, IN_THREAD);
    frame_put_memory(writer, WIDE, opcode, reg, base, displacement);
}

static void put_number(struct copy_writer *writer, bool is_byte, int32_t number)
{
    if (is_byte)
        frame_put8(writer, (unsigned)number);
    else
        frame_put32(writer, (uint32_t)number);
}

static bool is_byte(int32_t number)
{
    return number >= INT8_MIN && number <= INT8_MAX;
}

void frame_put_add(struct copy_writer *writer, unsigned base, int32_t displacement, int32_t number)
{
    frame_put_memory(writer, WIDE, is_byte(number) ? GROUP_8_BITS : TAKES_WORD, 0, base,
                     displacement);
    put_number(writer, is_byte(number), number);
}

/* fs:[number]: without a base, and not relative to rip. */
void frame_put_cell(struct copy_writer *writer, uint8_t opcode, unsigned reg, unsigned cell)
{
    const uint8_t bytes[] = {IN_THREAD, (uint8_t)(0x40u | WIDE | (reg >= 8 ? 4u : 0)), opcode,
                             (uint8_t)(4u | (reg & 7u) << 3), 0x25};

    copy_put(writer, bytes, sizeof(bytes));
    frame_put32(writer, FRAME_COUNTS_AT + cell * (uint32_t)sizeof(uint64_t));
}

void frame_put_cell_add(struct copy_writer *writer, unsigned cell, int32_t number)
{
    frame_put_cell(writer, is_byte(number) ? GROUP_8_BITS : TAKES_WORD, 0, cell);
    put_number(writer, is_byte(number), number);
}

void frame_put_registers(struct copy_writer *writer, uint8_t opcode, unsigned reg, unsigned rm)
{
    frame_put8(writer, 0x40u | WIDE | (reg >= 8 ? 4u : 0) | (rm >= 8 ? 1u : 0));
    frame_put8(writer, opcode);
    frame_put8(writer, 0xc0u | (reg & 7u) << 3 | (rm & 7u));
}

void frame_put_header_word(struct copy_writer *writer, unsigned reg, size_t word)
{
    const uint8_t opcode[] = {(uint8_t)(0x40u | WIDE | (reg >= 8 ? 4u : 0)), LOAD,
                              (uint8_t)(5u | (reg & 7u) << 3)};

    copy_put_with_word(writer, opcode, sizeof(opcode), word);
}

void frame_put_jump_if(struct copy_writer *writer, uint8_t condition, uint32_t *last)
{
    uint32_t before = *last;

    frame_put8(writer, 0x0f);
    frame_put8(writer, 0x80u | condition);
    *last = (uint32_t)writer->stubs->code.size;
    frame_put32(writer, before);
}

void frame_put_jump_on(struct copy_writer *writer, uint32_t *last)
{
    uint32_t before = *last;

    frame_put8(writer, NEAR_JUMP);
    *last = (uint32_t)writer->stubs->code.size;
    frame_put32(writer, before);
}

void frame_land(struct copy_writer *writer, uint32_t last)
{
    uint8_t *bytes = writer->stubs->code.bytes;
    uint32_t before, distance;

    for (; last != NO_FIELD; last = before) {
        memcpy(&before, bytes + last, sizeof(before));
        distance = (uint32_t)(writer->stubs->code.size - last - sizeof(distance));
        memcpy(bytes + last, &distance, sizeof(distance));
    }
}

int32_t frame_callee_place(bool is_tail)
{
    return is_tail ? 0 : -8;
}

void frame_put_note(struct copy_writer *writer, bool is_tail, const struct scratch *scratch)
{
    unsigned a = scratch->a, b = scratch->b;

    frame_put_header_word(writer, b, offsetof(struct trace_header, words));
    if (!is_tail) {
        frame_put_thread(writer, STORE, RSP, b, WORDS(note));
        return;
    }
    frame_put_memory(writer, WIDE, LEA, a, RSP, 8);
    frame_put_thread(writer, STORE, a, b, WORDS(note));
}

void frame_put_or(struct copy_writer *writer, unsigned reg, uint8_t bits)
{
    frame_put8(writer, 0x48u | (reg >= 8 ? 1u : 0));
    frame_put8(writer, 0x83);
    frame_put8(writer, 0xc8u | (reg & 7));
    frame_put8(writer, bits);
}

void frame_put_jump(struct copy_writer *writer, uint64_t target)
{
    copy_put_relative(writer, "\xe9", 1, target);
}

size_t frame_put_short(struct copy_writer *writer, uint8_t opcode)
{
    frame_put8(writer, opcode);
    frame_put8(writer, 0);
    return writer->stubs->code.size;
}

void frame_land_short(struct copy_writer *writer, size_t from)
{
    writer->stubs->code.bytes[from - 1] = (uint8_t)(writer->stubs->code.size - from);
}
