#include "rewriter/copy/count_code.h"

#include <stddef.h>

#include "rewriter/copy/frame_bytes.h"

#define RED_ZONE 128
#define SAVED_R  (-8)
#define SAVED_C  (-16)
#define JRCXZ    0xe3

static void put_lower(struct copy_writer *writer, int32_t bytes)
{
    frame_put_memory(writer, WIDE, LEA, RSP, RSP, -bytes);
}

/* One that is dead, and not rcx; else r11. */
static unsigned choose(uint16_t dead)
{
    static const uint8_t order[] = {R11, R10, 9, 8, RSI, RDI, RDX, 0};

    for (size_t i = 0; i < sizeof(order); i++)
        if (dead >> order[i] & 1)
            return order[i];
    return R11;
}

static void put_add(struct copy_writer *writer, int32_t number, unsigned r)
{
    size_t from;

    frame_put_header_word(writer, r, offsetof(struct trace_header, frames));
    frame_put_registers(writer, TEST, r, r);
    from = frame_put_short(writer, JUMP_EQUAL);
    frame_put_add(writer, IN_THREAD, r, WORDS(instructions), number);
    frame_land_short(writer, from);
}

static void put_add_with_flags(struct copy_writer *writer, int32_t number, unsigned r,
                               bool saves_rcx)
{
    size_t from;

    if (saves_rcx)
        frame_put_memory(writer, WIDE, STORE, RCX, RSP, SAVED_C);
    frame_put_header_word(writer, RCX, offsetof(struct trace_header, frames));
    from = frame_put_short(writer, JRCXZ);
    frame_put_thread(writer, LOAD, r, RCX, WORDS(instructions));
    frame_put_memory(writer, WIDE, LEA, r, r, number);
    frame_put_thread(writer, STORE, r, RCX, WORDS(instructions));
    frame_land_short(writer, from);
    if (saves_rcx)
        frame_put_memory(writer, WIDE, LOAD, RCX, RSP, SAVED_C);
}

void count_code_put(struct copy_writer *writer, int32_t number, uint16_t dead, bool flags_are_dead)
{
    unsigned r = flags_are_dead && dead >> RCX & 1 ? RCX : choose(dead);
    bool saves_r = !(dead >> r & 1), saves_rcx = !flags_are_dead && !(dead >> RCX & 1);
    uint64_t begin = copy_here(writer);

    if (saves_r || saves_rcx)
        put_lower(writer, RED_ZONE);
    if (saves_r)
        frame_put_memory(writer, WIDE, STORE, r, RSP, SAVED_R);
    if (flags_are_dead)
        put_add(writer, number, r);
    else
        put_add_with_flags(writer, number, r, saves_rcx);
    if (saves_r)
        frame_put_memory(writer, WIDE, LOAD, r, RSP, SAVED_R);
    if (saves_r || saves_rcx)
        put_lower(writer, -RED_ZONE);
    copy_set_add_stretch(writer->set, begin, copy_here(writer));
}
