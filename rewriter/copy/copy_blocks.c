#include "rewriter/copy/copy_blocks.h"

#include <stdlib.h>

#include "rewriter/copy/copy_jumps.h"
#include "rewriter/copy/count_code.h"
#include "rewriter/copy/frame_bytes.h"
#include "rewriter/flow/flow_flags.h"
#include "support/memory.h"
#include "trace/image_manifest.h"

#define HALF_OF_POSITIVE 0x40000000 /* of what an operand of 32 bits can be */

/* int3, or a nop of any length. */
static bool is_padding(const uint8_t *bytes, size_t length)
{
    while (length > 1 && (*bytes == 0x66 || *bytes == 0x2e)) {
        bytes++;
        length--;
    }
    return *bytes == 0x90 || *bytes == 0xcc || (length > 1 && bytes[0] == 0x0f && bytes[1] == 0x1f);
}

static void add_leader(void *plan, uint64_t target)
{
    address_set_add(&((struct copy_plan *)plan)->leaders, target);
}

void copy_blocks_find(struct copy_plan *plan, const struct flow_source *source)
{
    address_set_init(&plan->leaders, source->code);
    for (size_t i = 0; i < plan->count; i++)
        if (copy_plan_has(plan, i))
            copy_jumps_each(source->code, &source->functions->items[i], add_leader, plan);
    copy_plan_add_entries(plan, source, &plan->leaders);
}

static struct copy_block *last_block(const struct copy_blocks *blocks)
{
    return &blocks->writer->set->blocks[blocks->writer->set->block_count - 1];
}

static void end_block(struct copy_blocks *blocks, uint64_t address)
{
    if (blocks->is_open)
        last_block(blocks)->size =
            blocks->is_fill ? 0 : (uint32_t)(address - last_block(blocks)->original);
    blocks->is_open = false;
}

void copy_blocks_end(struct copy_blocks *blocks, uint64_t address)
{
    end_block(blocks, address);
    if (blocks->ways)
        blocks->writer->set->places += blocks->ways->places - 1;
}

/* With the block's byte, and one byte behind that operand's distance, which counts from the
 * instruction's end. */
static void put_with_mark(struct copy_writer *writer, const char *opcode, size_t number,
                          uint8_t value)
{
    copy_put_with_word(writer, opcode, 2,
                       IMAGE_HOOK_PAGE + image_cover_place((uint32_t)number) - 1);
    copy_put(writer, &value, 1);
}

static void put_test(struct copy_writer *writer, struct copy_marks *marks, uint32_t number)
{
    uint32_t field = NO_FIELD;

    put_with_mark(writer, "\x80\x3d", number, 0);
    frame_put_jump_if(writer, IF_ZERO, &field);
    marks->items = memory_grow(marks->items, marks->count, &marks->room, sizeof(*marks->items));
    marks->items[marks->count++] = (struct copy_mark){field, number};
}

void copy_marks_put(struct copy_marks *marks, struct copy_writer *writer)
{
    for (size_t i = 0; i < marks->count; i++) {
        const struct copy_mark *mark = &marks->items[i];

        frame_land(writer, mark->field);
        put_with_mark(writer, "\xc6\x05", mark->number, 1);
        frame_put_jump(writer, writer->stubs->address + mark->field + sizeof(uint32_t));
    }
    free(marks->items);
    *marks = (struct copy_marks){0};
}

static void put_mark(struct copy_blocks *blocks, const struct flow_source *source, uint64_t address,
                     size_t number)
{
    if (flow_flags_fate(source, address) == FLAGS_DEAD)
        put_test(blocks->writer, blocks->marks, (uint32_t)number);
    else
        put_with_mark(blocks->writer, "\xc6\x05", number, 1);
}

static void put_count(struct copy_blocks *blocks, const struct flow_source *source,
                      uint64_t address)
{
    struct copy_writer *writer = blocks->writer;
    uint32_t byte = (uint32_t)(writer->set->counted++ * sizeof(uint64_t));
    const struct count_word word = {
        .place = IMAGE_HOOK_PAGE + image_cover_place(byte),
        .has_lanes = writer->set->has_lanes,
        .is_absolute = source->code->has_absolute_code && copy_here(writer) < HALF_OF_POSITIVE,
        .dead = flow_registers_dead(&blocks->plan->registers, address),
        .flags_are_dead = flow_flags_fate(source, address) != FLAGS_READ,
    };

    if (!blocks->skips_lock)
        count_code_put_word(writer, &word);
}

/* The way that begins at an address; null if none does. */
static const struct copy_way *way_at(struct copy_blocks *blocks, uint64_t address)
{
    const struct copy_ways *ways = blocks->ways;

    if (blocks->way == ways->count || ways->items[blocks->way].offset != address - blocks->address)
        return NULL;
    return &ways->items[blocks->way++];
}

/* Places of the member, behind those of the members before. */
static void set_places(struct copy_blocks *blocks, struct copy_block *block,
                       const struct copy_way *way)
{
    uint32_t before = blocks->writer->set->places;

    block->from = way->from == COPY_GROUND ? COPY_GROUND : before + way->from;
    block->to = way->to == COPY_GROUND ? COPY_GROUND : before + way->to;
    block->counts = way->counts;
}

static void count_before(struct copy_blocks *blocks, const struct flow_source *source,
                         uint64_t address)
{
    const struct copy_way *way = way_at(blocks, address);
    uint64_t from = copy_here(blocks->writer);

    if (!way)
        return;
    end_block(blocks, address);
    copy_set_add_block(blocks->writer->set, address);
    set_places(blocks, last_block(blocks), way);
    if (way->counts)
        put_count(blocks, source, address);
    copy_set_add_stretch(blocks->writer->set, from, copy_here(blocks->writer));
    blocks->is_open = true;
    blocks->is_fill = !way->is_known;
}

static void mark_before(struct copy_blocks *blocks, const struct flow_source *source,
                        uint64_t address)
{
    bool is_leader = address_set_has(&blocks->plan->leaders, address);
    uint64_t from = copy_here(blocks->writer);

    if (blocks->skips_lock || (!blocks->begins && !is_leader))
        return;
    end_block(blocks, address);
    put_mark(blocks, source, address, copy_set_add_block(blocks->writer->set, address));
    copy_set_add_stretch(blocks->writer->set, from, copy_here(blocks->writer));
    blocks->is_open = true;
    blocks->is_fill = !is_leader;
    blocks->begins = false;
}

void copy_blocks_before(struct copy_blocks *blocks, const struct flow_source *source,
                        uint64_t address)
{
    if (blocks->ways)
        count_before(blocks, source, address);
    else if (blocks->plan->marks_blocks)
        mark_before(blocks, source, address);
}

void copy_blocks_behind(struct copy_blocks *blocks, const struct instruction *at,
                        const uint8_t *bytes)
{
    blocks->is_fill = blocks->is_fill && is_padding(bytes, at->length);
    blocks->begins = at->flow != FLOW_NEXT;
    blocks->skips_lock = at->skips_lock;
}
