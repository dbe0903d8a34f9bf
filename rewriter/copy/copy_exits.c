#include "rewriter/copy/copy_exits.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/flow/flow_imports.h"
#include "rewriter/patch/import_sites.h"
#include "support/memory.h"
#include "support/sorted.h"

#define X86_CALL          0xe8
#define X86_JUMP          0xe9
#define X86_ADDRESS_WIDTH 0x67
#define R11               11

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

void copy_exits_begin(struct copy_exits *exits, struct copy_writer *writer,
                      const struct copy_plan *plan, const struct patch_plan *patches,
                      struct frame_code *frames)
{
    *exits = (struct copy_exits){
        .writer = writer,
        .plan = plan,
        .patches = patches,
        .frames = frames,
        .redirects = sorted_redirects(patches),
    };
    decoder_init(&exits->decoder, &processor_x86_64);
}

void copy_exits_free(struct copy_exits *exits)
{
    free(exits->redirects);
}

/* The stub that a reference goes to instead, as in the original; else where it led. */
static uint64_t redirected(const struct copy_exits *exits, const struct instruction *at,
                           uint64_t target)
{
    const struct redirect *redirects = exits->redirects;
    uint64_t field = at->address + at->length - sizeof(uint32_t);
    size_t place = partition_point(i, exits->patches->redirect_count, redirects[i].field < field);

    if (place == exits->patches->redirect_count || redirects[place].field != field)
        return target;
    return exits->writer->stubs->address +
           exits->patches->functions->items[redirects[place].function].stub;
}

/* The hooked import that a branch through a slot leads to: as patch/import_sites.h has it. */
static const struct function *import_of(const struct copy_exits *exits,
                                        const struct instruction *at)
{
    const struct code_map *map = exits->patches->map;
    uint64_t opcode;
    size_t place;

    if ((at->flow != FLOW_INDIRECT_CALL && at->flow != FLOW_INDIRECT_JUMP) || !at->is_rip_based)
        return NULL;
    opcode = at->address + at->zydis.raw.modrm.offset - 1u;
    place = partition_point(i, map->slot_use_count, map->slot_uses[i].opcode < opcode);
    if (place == map->slot_use_count || map->slot_uses[place].opcode != opcode)
        return NULL;
    return import_site_function(exits->patches->functions, &map->slot_uses[place]);
}

struct copy_instruction copy_exits_instruction(const struct copy_exits *exits,
                                               const struct instruction *at, const uint8_t *bytes)
{
    return (struct copy_instruction){
        .at = at,
        .bytes = bytes,
        .target = redirected(exits, at, at->is_rip_based ? at->operand : at->target),
        .import = import_of(exits, at),
    };
}

void copy_put_same(struct copy_writer *writer, const struct copy_instruction *source)
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
static void put_import(struct copy_writer *writer, const struct copy_instruction *source)
{
    const uint8_t opcode[] = {X86_ADDRESS_WIDTH,
                              source->at->flow == FLOW_INDIRECT_CALL ? X86_CALL : X86_JUMP};

    copy_put_relative(writer, opcode, sizeof(opcode),
                      writer->stubs->address + source->import->stub);
}

static void put_leaving(struct copy_writer *writer, const struct copy_instruction *source)
{
    if (source->import)
        put_import(writer, source);
    else if (source->at->flow == FLOW_CALL || source->at->flow == FLOW_INDIRECT_CALL ||
             source->at->flow == FLOW_INDIRECT_JUMP)
        copy_put_same(writer, source);
    else
        copy_put_relative(writer, "\xe9", 1, source->target);
}

static const struct function *copied(const struct copy_exits *exits,
                                     const struct function *function)
{
    const struct function_list *functions = exits->patches->functions;

    return function && copy_plan_has(exits->plan, (size_t)(function - functions->items)) ? function
                                                                                         : NULL;
}

/* mov r11, [slot] */
static void put_load_slot(struct copy_writer *writer, uint64_t slot)
{
    copy_put_relative(writer, "\x4c\x8b\x1d", 3, slot);
}

/* mov r11, with the operand of an indirect call or jump. */
static void put_load_operand(struct copy_writer *writer, const struct copy_instruction *source)
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
static const struct function *counted(const struct copy_exits *exits,
                                      const struct function *function)
{
    const struct function *callee = copied(exits, function);

    return callee && (exits->plan->counts_no_calls ||
                      frame_code_has_room(exits->frames, (uint32_t)exits->member))
               ? callee
               : NULL;
}

/* The slot that a call or jump goes through, by a stub of the linker's or by itself; 0: none. */
static uint64_t slot_of(const struct copy_exits *exits, const struct copy_instruction *source)
{
    const struct flow_source imports = {.code = exits->patches->code,
                                        .functions = exits->patches->functions};
    const struct instruction *at = source->at;

    if (at->flow == FLOW_INDIRECT_CALL || at->flow == FLOW_INDIRECT_JUMP)
        return at->is_rip_based ? source->target : 0;
    return source->target == at->target ? flow_stub_slot(&imports, &exits->decoder, at->target) : 0;
}

/* The copied function of this image that such a slot is bound to, unless another image has one of
   its name; or null. */
static const struct function *bound_to(const struct copy_exits *exits, uint64_t slot)
{
    const struct copy_plan *plan = exits->plan;
    const struct flow_source source = {.imports = plan->imports,
                                       .import_count = plan->import_count};
    const struct flow_import *import = slot ? flow_import_at(&source, slot) : NULL;

    return import && import->target
               ? counted(exits, function_list_at(exits->patches->functions, import->target))
               : NULL;
}

/* r11 can be what an indirect call or jump leads to: it is that already, or nobody reads it any
   more. What finds thread-local storage, which `call [rax]` may be, keeps it. */
static bool is_r11_free(const struct copy_instruction *source, uint16_t dead)
{
    const ZydisDecodedInstruction *zydis = &source->at->zydis;
    unsigned base = zydis->raw.modrm.rm | zydis->raw.rex.B << 3;

    return dead >> R11 & 1 || (zydis->raw.modrm.mod == 3 && base == R11);
}

/* Puts what a call or jump leads to into r11, if it goes by a pointer. */
static void put_pointer(struct copy_exits *exits, const struct copy_instruction *source,
                        struct frame_place *place)
{
    bool is_indirect =
        source->at->flow == FLOW_INDIRECT_CALL || source->at->flow == FLOW_INDIRECT_JUMP;
    uint64_t slot = slot_of(exits, source);
    const struct function *own = bound_to(exits, slot);
    const struct function *import = slot ? function_list_at(exits->patches->functions, slot) : NULL;

    if (source->import || (import && import->is_import) || (!is_indirect && !slot) ||
        (is_indirect && !is_r11_free(source, place->dead)) ||
        !frame_code_has_room(exits->frames, (uint32_t)exits->member))
        return;
    if (is_indirect)
        put_load_operand(exits->writer, source);
    else
        put_load_slot(exits->writer, slot);
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
static bool put_bound(struct copy_exits *exits, const struct copy_instruction *source,
                      uint16_t dead)
{
    bool is_indirect =
        source->at->flow == FLOW_INDIRECT_CALL || source->at->flow == FLOW_INDIRECT_JUMP;
    uint64_t slot = source->import ? 0 : slot_of(exits, source);
    const struct function *own = bound_to(exits, slot);

    if (!own || (is_indirect && !is_r11_free(source, dead)))
        return false;
    copy_put_relative(exits->writer, "\x4c\x8d\x1d", 3, own->address);
    copy_put_relative(exits->writer, "\x4c\x3b\x1d", 3, slot);
    copy_put_entry(exits->writer, "\x4c\x8d\x1d", 3, own->address);
    copy_put_relative(exits->writer, "\x4c\x0f\x45\x1d", 4, slot);
    return true;
}

static void set_instructions(const struct copy_exits *exits, struct frame_place *place)
{
    if (!exits->block)
        return;
    place->instructions = exits->block->pending;
    if (place->is_tail)
        place->instructions -= exits->returned;
    place->held = exits->block->held;
    place->counts = true;
}

/* What stands in front of a call, or of a jump that leaves. True: it is to go to r11. */
static bool put_site(struct copy_exits *exits, const struct copy_instruction *source,
                     const struct function *callee, bool is_tail)
{
    const struct flow_registers *registers = &exits->plan->registers;
    uint64_t address = source->at->address;
    struct frame_place place = {
        .slot = copy_slot_at(&exits->slots, address),
        .member = (uint32_t)exits->member,
        .original = address,
        .dead = source->at->flow == FLOW_CONDITION ? flow_registers_dead_taken(registers, address)
                                                   : flow_registers_dead(registers, address),
        .is_tail = is_tail,
        .is_out = !callee,
        .is_to_leaf = callee && callee->is_leaf,
    };

    set_instructions(exits, &place);
    if (exits->plan->counts_no_calls)
        return !callee && put_bound(exits, source, place.dead);
    if (!callee)
        put_pointer(exits, source, &place);
    frame_code_put_site(exits->frames, &place);
    return place.is_pointer || place.slot_bound;
}

void copy_exits_put_call(struct copy_exits *exits, const struct copy_instruction *source)
{
    const struct instruction *at = source->at;
    const struct function *callee = NULL;

    if (at->flow == FLOW_CALL)
        callee = counted(exits, function_list_at(exits->patches->functions, at->target));
    if (put_site(exits, source, callee, false))
        copy_put(exits->writer, "\x41\xff\xd3", 3); /* call r11 */
    else if (callee)
        copy_put_entry(exits->writer, "\xe8", 1, callee->address);
    else
        put_leaving(exits->writer, source);
    copy_note_site(exits->writer, at->address + at->length);
}

static void put_pointer_jump(struct copy_writer *writer)
{
    copy_put(writer, "\x41\xff\xe3", 3); /* jmp r11 */
}

void copy_exits_put_indirect_jump(struct copy_exits *exits, const struct copy_instruction *source)
{
    if (put_site(exits, source, NULL, true))
        put_pointer_jump(exits->writer);
    else
        put_leaving(exits->writer, source);
}

void copy_exits_put_jump(struct copy_exits *exits, const struct copy_instruction *source)
{
    const struct function *callee =
        counted(exits, copy_target_callee(exits->patches->functions, source->at->target));

    if (put_site(exits, source, callee, true))
        put_pointer_jump(exits->writer);
    else if (callee)
        copy_put_entry(exits->writer, "\xe9", 1, callee->address);
    else
        put_leaving(exits->writer, source);
}

/* Nothing is left to be counted behind it. */
void copy_exits_put_return(struct copy_exits *exits, uint64_t address)
{
    struct frame_place place = {
        .slot = {.base = RETURN_SLOT_RSP},
        .member = (uint32_t)exits->member,
        .original = address,
        .dead = flow_registers_dead(&exits->plan->registers, address),
        .is_tail = true,
        .is_out = true,
        .is_return = true,
    };

    set_instructions(exits, &place);
    if (place.instructions || place.held)
        frame_code_put_site(exits->frames, &place);
}
