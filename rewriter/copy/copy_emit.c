#include "rewriter/copy/copy_emit.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/copy/copy_blocks.h"
#include "rewriter/copy/copy_count.h"
#include "rewriter/copy/copy_exits.h"
#include "rewriter/copy/copy_resolve.h"
#include "rewriter/copy/copy_survey.h"
#include "rewriter/copy/count_code.h"
#include "rewriter/copy/frame_code.h"
#include "rewriter/copy/wait_code.h"
#include "rewriter/flow/flow_flags.h"
#include "rewriter/flow/flow_syscalls.h"
#include "support/memory.h"
#include "support/progress.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

#define COPY_ALIGNMENT 16
#define COPY_LIMIT     (3u << 29) /* bytes of stubs and copies */
#define INT3           0xcc

#define X86_TWO_BYTES 0x0f

/* Of the cover, in a lane. */
#define LANE_WORDS                                                                                 \
    ((size_t)IMAGE_LANE_SIZE / TRACE_BLOCK_SIZE * (TRACE_COVER_BYTES / sizeof(uint64_t)))

struct emission {
    struct copy_writer *writer;
    const struct copy_plan *plan;
    const struct patch_plan *patches;
    struct copy_exits exits;
    struct flow_fates fates;
    struct copy_marks marks;
    struct copy_count counted;
    struct copy_ways ways;         /* of the member, if blocks are counted */
    int32_t *returned;             /* of each member (copy_count.h): that of its function */
    struct flow_syscalls syscalls; /* of one that has some: syscalls_of, or null */
    const struct function *syscalls_of;
};

/* Puts a branch over an exit: `opcode`, with the distance of 32 bits that is not known yet. */
static void emit_exit_behind(struct emission *emission, const struct copy_instruction *source,
                             const void *opcode, size_t size)
{
    struct buffer *code = &emission->writer->stubs->code;
    uint32_t distance = 0;
    size_t from;

    copy_put(emission->writer, opcode, size);
    copy_put(emission->writer, &distance, sizeof(distance));
    from = code->size;
    copy_exits_put_jump(&emission->exits, source);
    distance = (uint32_t)(code->size - from);
    memcpy(code->bytes + from - sizeof(distance), &distance, sizeof(distance));
}

/* As instruction_decode; of what is decoded faster, `zydis` has the opcode and the place of a
   rip-relative operand. */
static bool decode(const struct emission *emission, uint64_t address, const uint8_t *bytes,
                   size_t room, struct instruction *at)
{
    if (room < PLAIN_ROOM || !plain_decode(address, bytes, at))
        return instruction_decode(&emission->exits.decoder, address, bytes, room, at);
    at->zydis.opcode = bytes[0] == X86_TWO_BYTES ? bytes[1] : bytes[0];
    at->zydis.raw.disp.offset = (uint8_t)(at->length - sizeof(uint32_t));
    return true;
}

/* jcc target: jcc target; or, if that is an exit, jncc next; exit; next: */
static void emit_condition(struct emission *emission, const struct copy_instruction *source,
                           bool is_exit)
{
    uint8_t condition = source->at->zydis.opcode & 0x0f;
    const uint8_t near[] = {0x0f, (uint8_t)(0x80 | condition)};
    const uint8_t over[] = {0x0f, (uint8_t)(0x80 | (condition ^ 1))};

    if (is_exit)
        emit_exit_behind(emission, source, over, sizeof(over));
    else
        copy_put_branch(emission->writer, near, sizeof(near), source->at->target);
}

/* loop +2; jmp next; jmp target; next: or, if that is an exit, loop +5; jmp next; exit; next: */
static void emit_loop(struct emission *emission, const struct copy_instruction *source,
                      bool is_exit)
{
    copy_put(emission->writer, source->bytes, source->at->length - 1u);
    if (is_exit) {
        emit_exit_behind(emission, source, "\x05\xe9", 2);
        return;
    }
    copy_put(emission->writer, "\x02\xeb\x05", 3);
    copy_put_branch(emission->writer, "\xe9", 1, source->at->target);
}

static void emit_jump(struct emission *emission, const struct copy_instruction *source)
{
    const struct instruction *at = source->at;
    bool is_exit =
        copy_target_leaves(emission->plan, emission->patches->functions, emission->exits.member,
                           at->target, copy_slot_at(&emission->exits.slots, at->address));

    if (at->skips_lock) /* what it skips follows at once, in a copy, too */
        copy_put_same(emission->writer, source);
    else if (at->flow == FLOW_CONDITION)
        emit_condition(emission, source, is_exit);
    else if (at->flow == FLOW_LOOP)
        emit_loop(emission, source, is_exit);
    else if (is_exit)
        copy_exits_put_jump(&emission->exits, source);
    else
        copy_put_branch(emission->writer, "\xe9", 1, at->target);
}

static void emit_instruction(struct emission *emission, const struct instruction *at,
                             const uint8_t *bytes)
{
    const struct copy_instruction source = copy_exits_instruction(&emission->exits, at, bytes);

    switch (at->flow) {
    case FLOW_CALL:
    case FLOW_INDIRECT_CALL:
        copy_exits_put_call(&emission->exits, &source);
        break;
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        emit_jump(emission, &source);
        break;
    case FLOW_END:
        if (emission->plan->counts_instructions && instruction_is_return(at))
            copy_exits_put_return(&emission->exits, at->address);
        copy_put_same(emission->writer, &source);
        break;
    case FLOW_INDIRECT_JUMP:
        if (copy_target_pointer_leaves(emission->plan, at->address,
                                       copy_slot_at(&emission->exits.slots, at->address))) {
            copy_exits_put_indirect_jump(&emission->exits, &source);
            break;
        }
        /* fall through */
    default:
        copy_put_same(emission->writer, &source);
        break;
    }
}

/* A system call that is timed: what does that changes flags. */
static bool put_timed_syscall(struct emission *emission, const struct function *function,
                              uint64_t address, const uint8_t *bytes)
{
    const struct flow_source source = {.code = emission->patches->code,
                                       .functions = emission->patches->functions};

    if (!wait_code_can_time(bytes, address - function->address,
                            function->end - function->address) ||
        flow_flags_fate(&source, address + SYSCALL_SIZE) == FLAGS_READ)
        return false;
    if (emission->syscalls_of != function) {
        flow_syscalls_free(&emission->syscalls);
        flow_syscalls_read(&emission->syscalls, &source, function);
        emission->syscalls_of = function;
    }
    wait_code_put(emission->writer, flow_syscalls_number(&emission->syscalls, address));
    return true;
}

/* The instruction at at->address of `room` bytes, of which the rest is filled in. False if it is
 * none. */
static bool emit_next(struct emission *emission, const struct function *function,
                      const uint8_t *bytes, size_t room, struct instruction *at)
{
    const uint8_t *here = bytes + (at->address - function->address);
    uint64_t address = at->address;
    size_t plain = room >= PLAIN_ROOM ? plain_length(here, PLAIN_MIND_RIP) : 0;

    *at = (struct instruction){.address = address, .length = (uint8_t)plain, .flow = FLOW_NEXT};
    if (plain) {
        copy_put(emission->writer, here, plain);
        return true;
    }
    if (!emission->plan->counts_no_calls && put_timed_syscall(emission, function, address, bytes)) {
        at->length = SYSCALL_SIZE;
        return true;
    }
    if (!decode(emission, address, here, room, at))
        return false;
    emit_instruction(emission, at, here);
    return true;
}

/* What flow_flags_fate reads. */
static struct flow_source source_of(struct emission *emission)
{
    return (struct flow_source){.code = emission->patches->code,
                                .functions = emission->patches->functions,
                                .fates = &emission->fates};
}

static void put_direct(struct emission *emission, uint64_t address, int32_t added)
{
    struct frame_place place = {
        .slot = copy_slot_at(&emission->exits.slots, address),
        .member = (uint32_t)emission->exits.member,
        .original = address,
        .dead = flow_registers_dead(&emission->plan->registers, address),
        .is_out = true,
        .is_return = true,
        .is_within = true,
        .counts = true,
        .instructions = added,
    };

    frame_code_put_site(emission->exits.frames, &place);
}

/* In front of the instruction at an address: what its block adds, if it begins one. */
static void put_added(struct emission *emission, uint64_t address, uint32_t offset)
{
    const struct flow_source source = source_of(emission);
    const struct copy_count *counted = &emission->counted;
    const struct count_block *block = emission->exits.block;

    if (!block)
        return;
    while (block + 1 < counted->blocks + counted->count && block[1].offset <= offset)
        block++;
    emission->exits.block = block;
    if (block->offset != offset || !block->added)
        return;
    if (block->is_direct)
        put_direct(emission, address, block->added);
    else
        count_code_put(emission->writer, block,
                       flow_registers_dead(&emission->plan->registers, address),
                       flow_flags_fate(&source, address) != FLAGS_READ);
}

/* Whether all could be decoded, as it could before. */
static bool emit_instructions(struct emission *emission, const struct function *function,
                              const uint8_t *bytes, size_t start)
{
    struct copy_writer *writer = emission->writer;
    size_t first = writer->set->move_count;
    struct instruction at = {.address = function->address};
    struct copy_blocks blocks = {
        .writer = writer,
        .marks = &emission->marks,
        .plan = emission->plan,
        .ways = emission->plan->counts_blocks ? &emission->ways : NULL,
        .address = function->address,
        .begins = true,
    };
    const struct flow_source source = source_of(emission);

    for (; at.address < function->end; at.address += at.length) {
        size_t offset = at.address - function->address, room = function->end - at.address;

        copy_set_add_move(writer->set, first, offset,
                          offset ? writer->stubs->code.size - start : 0);
        copy_blocks_before(&blocks, &source, at.address);
        if (!blocks.skips_lock)
            put_added(emission, at.address, (uint32_t)offset);
        if (!emit_next(emission, function, bytes, room, &at))
            return false;
        copy_blocks_behind(&blocks, &at, bytes + offset);
    }
    copy_blocks_end(&blocks, function->end);
    copy_set_add_move(writer->set, first, function->end - function->address,
                      writer->stubs->code.size - start);
    return true;
}

/* Returns the offset of the copy; the function's key, if it is one's, is there. */
static size_t begin_copy(struct emission *emission, const struct function *function,
                         uint32_t member)
{
    struct buffer *code = &emission->writer->stubs->code;
    size_t start = buffer_align(code, COPY_ALIGNMENT, INT3);

    if (function->reason != PATCH_FRAGMENT)
        frame_code_put_key(emission->exits.frames, member);
    return start;
}

static bool emit_member(struct emission *emission, uint32_t member)
{
    const struct function *function = &emission->patches->functions->items[member];
    struct copy_writer *writer = emission->writer;
    struct copy_set *set = writer->set;
    size_t size, start = begin_copy(emission, function, member);
    const uint8_t *bytes = code_at(emission->patches->code, function->address, &size);
    struct copy copy = {.address = writer->stubs->address + start,
                        .function = member,
                        .first_move = set->move_count};

    emission->exits.member = member;
    if (emission->plan->counts_instructions)
        copy_count_read(&emission->counted, emission->plan, emission->patches, &emission->fates,
                        member);
    if (emission->plan->counts_blocks)
        copy_ways_read(&emission->ways, emission->plan, emission->patches, &emission->fates,
                       member);
    emission->exits.slots = copy_slots_begin(emission->patches->code, function);
    emission->exits.block = emission->counted.count ? emission->counted.blocks : NULL;
    emission->exits.returned = emission->returned ? emission->returned[member] : 0;
    copy.body = (uint32_t)(writer->stubs->code.size - start);
    if (!emit_instructions(emission, function, bytes, start))
        return false;
    copy.returned = emission->exits.returned;
    copy.size = (uint32_t)(writer->stubs->code.size - start);
    copy.move_count = set->move_count - copy.first_move;
    set->items = memory_grow(set->items, set->count, &set->room, sizeof(copy));
    set->items[set->count++] = copy;
    return writer->stubs->code.size < COPY_LIMIT;
}

bool copies_append(struct copy_writer *writer, const struct copy_plan *plan,
                   const struct patch_plan *patches, const char *path, struct failure *failure)
{
    struct emission emission = {
        .writer = writer,
        .plan = plan,
        .patches = patches,
    };
    struct frame_code *frames = frame_code_begin(writer, plan, patches->functions);
    bool is_done = true;

    flow_fates_init(&emission.fates, patches->code);
    copy_exits_begin(&emission.exits, writer, plan, patches, frames);
    if (plan->counts_instructions)
        emission.returned = copy_count_returned(plan, patches, &emission.fates);
    writer->set->has_lanes = plan->has_lanes && copy_ways_counted(plan, patches, &emission.fates,
                                                                  LANE_WORDS) <= LANE_WORDS;
    for (size_t i = 0; is_done && i < plan->count; i++) {
        progress_share(i, plan->count, "the functions copied");
        if (copy_plan_has(plan, i))
            is_done = emit_member(&emission, (uint32_t)i);
    }
    copy_marks_put(&emission.marks, writer);
    frame_code_end(frames);
    flow_syscalls_free(&emission.syscalls);
    flow_fates_free(&emission.fates);
    copy_count_free(&emission.counted);
    copy_ways_free(&emission.ways);
    free(emission.returned);
    copy_exits_free(&emission.exits);
    if (!is_done)
        return fail(failure, path, "expected less than 2 GB of address space");
    copies_resolve(writer, patches->functions);
    return true;
}
