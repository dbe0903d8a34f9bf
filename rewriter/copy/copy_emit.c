#include "rewriter/copy/copy_emit.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/copy/copy_blocks.h"
#include "rewriter/copy/copy_count.h"
#include "rewriter/copy/copy_resolve.h"
#include "rewriter/copy/copy_survey.h"
#include "rewriter/copy/count_code.h"
#include "rewriter/copy/frame_code.h"
#include "rewriter/copy/wait_code.h"
#include "rewriter/flow/flow_flags.h"
#include "rewriter/flow/flow_imports.h"
#include "rewriter/flow/flow_syscalls.h"
#include "rewriter/patch/import_sites.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/sorted.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"

#define COPY_ALIGNMENT 16
#define COPY_LIMIT     (3u << 29) /* bytes of stubs and copies */
#define INT3           0xcc

#define X86_CALL          0xe8
#define X86_JUMP          0xe9
#define X86_ADDRESS_WIDTH 0x67
#define X86_TWO_BYTES     0x0f
#define R11               11

/* Of the cover, in a lane. */
#define LANE_WORDS                                                                                 \
    ((size_t)IMAGE_LANE_SIZE / TRACE_BLOCK_SIZE * (TRACE_COVER_BYTES / sizeof(uint64_t)))

struct emission {
    struct copy_writer *writer;
    const struct copy_plan *plan;
    const struct patch_plan *patches;
    struct redirect *redirects; /* ascending by field */
    ZydisDecoder decoder;
    struct copy_slots slots;
    struct frame_code *frames;
    struct flow_fates fates;
    struct copy_marks marks;
    struct copy_count counted;
    struct copy_ways ways;         /* of the member, if blocks are counted */
    size_t block;                  /* place in `counted`, if instructions are counted */
    int32_t *returned;             /* of each member (copy_count.h): that of its function */
    struct flow_syscalls syscalls; /* of one that has some: syscalls_of, or null */
    const struct function *syscalls_of;
    size_t member;
};

/* An instruction, and what it is to lead to if that is changed. */
struct source {
    const struct emission *emission;
    const struct instruction *at;
    const uint8_t *bytes;
    uint64_t target; /* of a direct branch or a rip-relative operand, as it is to be */
    const struct function *import; /* hooked, that it leads to; or null */
};

static int by_field(const void *left, const void *right)
{
    const struct redirect *a = left, *b = right;

    return a->field < b->field ? -1 : a->field > b->field;
}

static struct redirect *sorted_redirects(const struct patch_plan *patches)
{
    struct redirect *sorted = memory_zeroed(patches->redirect_count, sizeof(*sorted));

    if (patches->redirect_count) {
        memcpy(sorted, patches->redirects, patches->redirect_count * sizeof(*sorted));
        qsort(sorted, patches->redirect_count, sizeof(*sorted), by_field);
    }
    return sorted;
}

/* The stub that a reference goes to instead, as in the original; else where it led. */
static uint64_t redirected(const struct emission *emission, const struct instruction *at,
                           uint64_t target)
{
    const struct redirect *redirects = emission->redirects;
    uint64_t field = at->address + at->length - sizeof(uint32_t);
    size_t place =
        partition_point(i, emission->patches->redirect_count, redirects[i].field < field);

    if (place == emission->patches->redirect_count || redirects[place].field != field)
        return target;
    return emission->writer->stubs->address +
           emission->patches->functions->items[redirects[place].function].stub;
}

/* The hooked import that a branch through a slot leads to: as patch/import_sites.h has it. */
static const struct function *import_of(const struct emission *emission,
                                        const struct instruction *at)
{
    const struct code_map *map = emission->patches->map;
    uint64_t opcode;
    size_t place;

    if ((at->flow != FLOW_INDIRECT_CALL && at->flow != FLOW_INDIRECT_JUMP) || !at->is_rip_based)
        return NULL;
    opcode = at->address + at->zydis.raw.modrm.offset - 1u;
    place = partition_point(i, map->slot_use_count, map->slot_uses[i].opcode < opcode);
    if (place == map->slot_use_count || map->slot_uses[place].opcode != opcode)
        return NULL;
    return import_site_function(emission->patches->functions, &map->slot_uses[place]);
}

/* Same bytes, but for a rip-relative operand and the distance of a direct call. */
static void put_same(struct copy_writer *writer, const struct source *source)
{
    const struct instruction *at = source->at;
    size_t from = writer->stubs->code.size, field = at->length - sizeof(uint32_t);
    uint32_t distance;

    copy_put(writer, source->bytes, at->length);
    if (at->is_rip_based)
        field = at->zydis.raw.disp.offset;
    else if (at->flow != FLOW_CALL)
        return;
    distance = (uint32_t)(source->target - copy_here(writer));
    memcpy(writer->stubs->code.bytes + from + field, &distance, sizeof(distance));
}

/* A branch through the slot of a hooked import goes to its stub. */
static void put_import(struct copy_writer *writer, const struct source *source)
{
    const uint8_t opcode[] = {X86_ADDRESS_WIDTH,
                              source->at->flow == FLOW_INDIRECT_CALL ? X86_CALL : X86_JUMP};

    copy_put_relative(writer, opcode, sizeof(opcode),
                      writer->stubs->address + source->import->stub);
}

static void put_leaving(struct copy_writer *writer, const void *context)
{
    const struct source *source = context;

    if (source->import)
        put_import(writer, source);
    else if (source->at->flow == FLOW_CALL || source->at->flow == FLOW_INDIRECT_CALL ||
             source->at->flow == FLOW_INDIRECT_JUMP)
        put_same(writer, source);
    else
        copy_put_relative(writer, "\xe9", 1, source->target);
}

static const struct function *copied(const struct emission *emission,
                                     const struct function *function)
{
    const struct function_list *functions = emission->patches->functions;

    return function && copy_plan_has(emission->plan, (size_t)(function - functions->items))
               ? function
               : NULL;
}

/* mov r11, [slot] */
static void put_load_slot(struct copy_writer *writer, uint64_t slot)
{
    copy_put_relative(writer, "\x4c\x8b\x1d", 3, slot);
}

/* mov r11, with the operand of an indirect call or jump. */
static void put_load_operand(struct copy_writer *writer, const struct source *source)
{
    const struct instruction *at = source->at;
    const ZydisDecodedInstruction *zydis = &at->zydis;
    uint8_t modrm_at = zydis->raw.modrm.offset;
    uint8_t modrm = (uint8_t)((source->bytes[modrm_at] & 0xc7) | (3 << 3));
    uint8_t rex = (uint8_t)(0x4c | zydis->raw.rex.X << 1 | zydis->raw.rex.B);
    uint32_t distance;

    for (uint8_t i = 0; i + 1 < modrm_at; i++) /* a segment, or narrow addresses */
        if (source->bytes[i] == 0x64 || source->bytes[i] == 0x65 ||
            source->bytes[i] == X86_ADDRESS_WIDTH)
            copy_put(writer, source->bytes + i, 1);
    copy_put(writer, &rex, 1);
    copy_put(writer, "\x8b", 1);
    copy_put(writer, &modrm, 1);
    copy_put(writer, source->bytes + modrm_at + 1, at->length - modrm_at - 1u);
    if (!at->is_rip_based)
        return;
    distance = (uint32_t)(source->target - copy_here(writer));
    memcpy(writer->stubs->code.bytes + writer->stubs->code.size - sizeof(distance), &distance,
           sizeof(distance));
}

/* The copied function that a call or jump leads to, if it is to be counted here; else null. */
static const struct function *counted(const struct emission *emission,
                                      const struct function *function)
{
    const struct function *callee = copied(emission, function);

    return callee && (emission->plan->counts_no_calls ||
                      frame_code_has_room(emission->frames, (uint32_t)emission->member))
               ? callee
               : NULL;
}

/* The slot that a call or jump goes through, by a stub of the linker's or by itself; 0: none. */
static uint64_t slot_of(const struct emission *emission, const struct source *source)
{
    const struct flow_source imports = {.code = emission->patches->code,
                                        .functions = emission->patches->functions};
    const struct instruction *at = source->at;

    if (at->flow == FLOW_INDIRECT_CALL || at->flow == FLOW_INDIRECT_JUMP)
        return at->is_rip_based ? source->target : 0;
    return source->target == at->target ? flow_stub_slot(&imports, &emission->decoder, at->target)
                                        : 0;
}

/* The copied function of this image that such a slot is bound to, unless another image has one of
   its name; or null. */
static const struct function *bound_to(const struct emission *emission, uint64_t slot)
{
    const struct copy_plan *plan = emission->plan;
    const struct flow_source source = {.imports = plan->imports,
                                       .import_count = plan->import_count};
    const struct flow_import *import = slot ? flow_import_at(&source, slot) : NULL;

    return import && import->target
               ? counted(emission, function_list_at(emission->patches->functions, import->target))
               : NULL;
}

/* r11 can be what an indirect call or jump leads to: it is that already, or nobody reads it any
   more. What finds thread-local storage, which `call [rax]` may be, keeps it. */
static bool is_r11_free(const struct source *source, uint16_t dead)
{
    const ZydisDecodedInstruction *zydis = &source->at->zydis;
    unsigned base = zydis->raw.modrm.rm | zydis->raw.rex.B << 3;

    return dead >> R11 & 1 || (zydis->raw.modrm.mod == 3 && base == R11);
}

/* Puts what a call or jump leads to into r11, if it goes by a pointer. */
static void put_pointer(struct emission *emission, const struct source *source,
                        struct frame_place *place)
{
    bool is_indirect =
        source->at->flow == FLOW_INDIRECT_CALL || source->at->flow == FLOW_INDIRECT_JUMP;
    uint64_t slot = slot_of(emission, source);
    const struct function *own = bound_to(emission, slot);
    const struct function *import =
        slot ? function_list_at(emission->patches->functions, slot) : NULL;

    if (source->import || (import && import->is_import) || (!is_indirect && !slot) ||
        (is_indirect && !is_r11_free(source, place->dead)) ||
        !frame_code_has_room(emission->frames, (uint32_t)emission->member))
        return;
    if (is_indirect)
        put_load_operand(emission->writer, source);
    else
        put_load_slot(emission->writer, slot);
    place->is_pointer = !own;
    if (!own)
        return;
    place->slot_bound = slot;
    place->callee = own->address;
    place->is_out = false;
    place->is_to_leaf = own->is_leaf;
}

/*
 * A call through a slot that the loader binds, as it does with functions of this image, too, goes
 * to the copy if that is what it is bound to. Flags are dead, and no call counts. True: it is to go
 * to r11.
 *
 *      lea     r11, [function]
 *      cmp     r11, [slot]
 *      lea     r11, [copy]
 *      cmovne  r11, [slot]
 */
static bool put_bound(struct emission *emission, const struct source *source, uint16_t dead)
{
    bool is_indirect =
        source->at->flow == FLOW_INDIRECT_CALL || source->at->flow == FLOW_INDIRECT_JUMP;
    uint64_t slot = source->import ? 0 : slot_of(emission, source);
    const struct function *own = bound_to(emission, slot);

    if (!own || (is_indirect && !is_r11_free(source, dead)))
        return false;
    copy_put_relative(emission->writer, "\x4c\x8d\x1d", 3, own->address);
    copy_put_relative(emission->writer, "\x4c\x3b\x1d", 3, slot);
    copy_put_entry(emission->writer, "\x4c\x8d\x1d", 3, own->address);
    copy_put_relative(emission->writer, "\x4c\x0f\x45\x1d", 4, slot);
    return true;
}

static void set_instructions(const struct emission *emission, struct frame_place *place)
{
    const struct count_block *block = &emission->counted.blocks[emission->block];

    if (!emission->plan->counts_instructions)
        return;
    place->instructions = block->pending;
    if (place->is_tail)
        place->instructions -= emission->returned[emission->member];
    place->held = block->held;
    place->counts = true;
}

/* What stands in front of a call, or of a jump that leaves. True: it is to go to r11. */
static bool put_site(struct emission *emission, const struct source *source,
                     const struct function *callee, bool is_tail)
{
    const struct flow_registers *registers = &emission->plan->registers;
    uint64_t address = source->at->address;
    struct frame_place place = {
        .slot = copy_slot_at(&emission->slots, address),
        .member = (uint32_t)emission->member,
        .original = address,
        .dead = source->at->flow == FLOW_CONDITION ? flow_registers_dead_taken(registers, address)
                                                   : flow_registers_dead(registers, address),
        .is_tail = is_tail,
        .is_out = !callee,
        .is_to_leaf = callee && callee->is_leaf,
    };

    set_instructions(emission, &place);
    if (emission->plan->counts_no_calls)
        return !callee && put_bound(emission, source, place.dead);
    if (!callee)
        put_pointer(emission, source, &place);
    frame_code_put_site(emission->frames, &place);
    return place.is_pointer || place.slot_bound;
}

static void emit_call(struct emission *emission, const struct source *source)
{
    const struct instruction *at = source->at;
    const struct function *callee = NULL;

    if (at->flow == FLOW_CALL)
        callee = counted(emission, function_list_at(emission->patches->functions, at->target));
    if (put_site(emission, source, callee, false))
        copy_put(emission->writer, "\x41\xff\xd3", 3); /* call r11 */
    else if (callee)
        copy_put_entry(emission->writer, "\xe8", 1, callee->address);
    else
        put_leaving(emission->writer, source);
    copy_note_site(emission->writer, at->address + at->length);
}

static void put_pointer_jump(struct copy_writer *writer)
{
    copy_put(writer, "\x41\xff\xe3", 3); /* jmp r11 */
}

static void emit_indirect_exit(struct emission *emission, const struct source *source)
{
    if (put_site(emission, source, NULL, true))
        put_pointer_jump(emission->writer);
    else
        put_leaving(emission->writer, source);
}

static void emit_exit(struct emission *emission, const struct source *source)
{
    const struct function *callee =
        counted(emission, copy_target_callee(emission->patches->functions, source->at->target));

    if (put_site(emission, source, callee, true))
        put_pointer_jump(emission->writer);
    else if (callee)
        copy_put_entry(emission->writer, "\xe9", 1, callee->address);
    else
        put_leaving(emission->writer, source);
}

/* Puts a branch over an exit: `opcode`, with the distance of 32 bits that is not known yet. */
static void emit_exit_behind(struct emission *emission, const struct source *source,
                             const void *opcode, size_t size)
{
    struct buffer *code = &emission->writer->stubs->code;
    uint32_t distance = 0;
    size_t from;

    copy_put(emission->writer, opcode, size);
    copy_put(emission->writer, &distance, sizeof(distance));
    from = code->size;
    emit_exit(emission, source);
    distance = (uint32_t)(code->size - from);
    memcpy(code->bytes + from - sizeof(distance), &distance, sizeof(distance));
}

/* As instruction_decode; of what is decoded faster, `zydis` has the opcode and the place of a
   rip-relative operand. */
static bool decode(const struct emission *emission, uint64_t address, const uint8_t *bytes,
                   size_t room, struct instruction *at)
{
    if (room < PLAIN_ROOM || !plain_decode(address, bytes, at))
        return instruction_decode(&emission->decoder, address, bytes, room, at);
    at->zydis.opcode = bytes[0] == X86_TWO_BYTES ? bytes[1] : bytes[0];
    at->zydis.raw.disp.offset = (uint8_t)(at->length - sizeof(uint32_t));
    return true;
}

/* jcc target: jcc target; or, if that is an exit, jncc next; exit; next: */
static void emit_condition(struct emission *emission, const struct source *source, bool is_exit)
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
static void emit_loop(struct emission *emission, const struct source *source, bool is_exit)
{
    copy_put(emission->writer, source->bytes, source->at->length - 1u);
    if (is_exit) {
        emit_exit_behind(emission, source, "\x05\xe9", 2);
        return;
    }
    copy_put(emission->writer, "\x02\xeb\x05", 3);
    copy_put_branch(emission->writer, "\xe9", 1, source->at->target);
}

static void emit_jump(struct emission *emission, const struct source *source)
{
    const struct instruction *at = source->at;
    bool is_exit =
        copy_target_leaves(emission->plan, emission->patches->functions, emission->member,
                           at->target, copy_slot_at(&emission->slots, at->address));

    if (at->skips_lock) /* what it skips follows at once, in a copy, too */
        put_same(emission->writer, source);
    else if (at->flow == FLOW_CONDITION)
        emit_condition(emission, source, is_exit);
    else if (at->flow == FLOW_LOOP)
        emit_loop(emission, source, is_exit);
    else if (is_exit)
        emit_exit(emission, source);
    else
        copy_put_branch(emission->writer, "\xe9", 1, at->target);
}

/* Nothing is left to be counted behind it. */
static void emit_return(struct emission *emission, const struct source *source)
{
    const struct flow_registers *registers = &emission->plan->registers;
    uint64_t address = source->at->address;
    struct frame_place place = {
        .slot = {.base = RETURN_SLOT_RSP},
        .member = (uint32_t)emission->member,
        .original = address,
        .dead = flow_registers_dead(registers, address),
        .is_tail = true,
        .is_out = true,
        .is_return = true,
    };

    set_instructions(emission, &place);
    if (place.instructions || place.held)
        frame_code_put_site(emission->frames, &place);
}

static void emit_instruction(struct emission *emission, const struct instruction *at,
                             const uint8_t *bytes)
{
    struct source source = {.emission = emission, .at = at, .bytes = bytes};

    source.target = redirected(emission, at, at->is_rip_based ? at->operand : at->target);
    source.import = import_of(emission, at);
    switch (at->flow) {
    case FLOW_CALL:
    case FLOW_INDIRECT_CALL:
        emit_call(emission, &source);
        break;
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        emit_jump(emission, &source);
        break;
    case FLOW_END:
        if (emission->plan->counts_instructions && instruction_is_return(at))
            emit_return(emission, &source);
        put_same(emission->writer, &source);
        break;
    case FLOW_INDIRECT_JUMP:
        if (copy_target_pointer_leaves(emission->plan, at->address,
                                       copy_slot_at(&emission->slots, at->address))) {
            emit_indirect_exit(emission, &source);
            break;
        }
        /* fall through */
    default:
        put_same(emission->writer, &source);
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
        .slot = copy_slot_at(&emission->slots, address),
        .member = (uint32_t)emission->member,
        .original = address,
        .dead = flow_registers_dead(&emission->plan->registers, address),
        .is_out = true,
        .is_return = true,
        .is_within = true,
        .counts = true,
        .instructions = added,
    };

    frame_code_put_site(emission->frames, &place);
}

/* In front of the instruction at an address: what its block adds, if it begins one. */
static void put_added(struct emission *emission, uint64_t address, uint32_t offset)
{
    const struct flow_source source = source_of(emission);
    const struct copy_count *counted = &emission->counted;
    const struct count_block *block;

    while (emission->block + 1 < counted->count &&
           counted->blocks[emission->block + 1].offset <= offset)
        emission->block++;
    block = counted->count ? &counted->blocks[emission->block] : NULL;
    if (!block || block->offset != offset || !block->added)
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
        frame_code_put_key(emission->frames, member);
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

    emission->member = member;
    emission->block = 0;
    if (emission->plan->counts_instructions)
        copy_count_read(&emission->counted, emission->plan, emission->patches, &emission->fates,
                        member);
    if (emission->plan->counts_blocks)
        copy_ways_read(&emission->ways, emission->plan, emission->patches, &emission->fates,
                       member);
    emission->slots = copy_slots_begin(emission->patches->code, function);
    copy.body = (uint32_t)(writer->stubs->code.size - start);
    if (!emit_instructions(emission, function, bytes, start))
        return false;
    copy.returned = emission->returned ? emission->returned[member] : 0;
    copy.size = (uint32_t)(writer->stubs->code.size - start);
    copy.move_count = set->move_count - copy.first_move;
    set->items = memory_grow(set->items, set->count, &set->room, sizeof(copy));
    set->items[set->count++] = copy;
    return writer->stubs->code.size < COPY_LIMIT;
}

#define LANE_WORDS                                                                                 \
    ((size_t)IMAGE_LANE_SIZE / TRACE_BLOCK_SIZE * (TRACE_COVER_BYTES / sizeof(uint64_t)))

bool copies_append(struct copy_writer *writer, const struct copy_plan *plan,
                   const struct patch_plan *patches, const char *path, struct failure *failure)
{
    struct emission emission = {
        .writer = writer,
        .plan = plan,
        .patches = patches,
        .redirects = sorted_redirects(patches),
    };
    bool is_done = true;

    decoder_init(&emission.decoder);
    flow_fates_init(&emission.fates, patches->code);
    emission.frames = frame_code_begin(writer, plan, patches->functions);
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
    frame_code_end(emission.frames);
    flow_syscalls_free(&emission.syscalls);
    flow_fates_free(&emission.fates);
    copy_count_free(&emission.counted);
    copy_ways_free(&emission.ways);
    free(emission.returned);
    free(emission.redirects);
    if (!is_done)
        return fail(failure, path, "expected less than 2 GB of address space");
    copies_resolve(writer, patches->functions);
    return true;
}
