/*
 * One linear pass over the instructions of a function.
 *
 * If neither symbols nor unwind information tell its end, a function is taken to reach to the next
 * known one, until another is found in between. The new function was decoded before, as a part of
 * the first: a jump that stayed inside that one may lead outside of this one. So the first sweep of
 * a place leaves a landmark, a bit, at each instruction whose meaning depends on where its function
 * begins and ends: jumps, and addresses taken. A later sweep may begin within an instruction that
 * was decoded. It decodes up to a landmark, and goes from one landmark to the next:
 *
 *      F found, swept       F----o--o-----o---o------o----- stop      o  landmark
 *      N found, swept                 N==>o   o      o                =  decoded
 *
 * Only the first sweep leaves landmarks, so those of two that are out of step never mix. That takes
 * one bit for each byte of code; chromium, without symbols, is decoded 1.2 times, not twice.
 *
 * Data within a function. Haskell's compiler puts a table before each place to return to:
 *
 *      F  code … jmp | table | code … jmp | table | code … jmp      one symbol, F's, for all of it
 *
 * A table may or may not decode. What does not decode is taken for one if code has ended before it;
 * decoding goes on at the next byte, and is in step with the code again after a few instructions.
 * So two things are not certain behind the first end of the code, and cost the hook where they
 * matter:
 *
 *      - branches into the first bytes may be overlooked: near a table, each byte that could begin
 *        one is taken for one;
 *      - a short branch to the entry may be a table's bytes, which must not be changed.
 *
 * Calls behind a table are no evidence of functions: a table's bytes may look like one.
 */
#include "rewriter/code/code_sweep.h"

#include <string.h>

#include "rewriter/code/code_leaf.h"
#include "rewriter/code/code_tables.h"
#include "rewriter/code/decode_plain.h"

#define TABLES_PER_PASS 256 /* candidates remembered in a function */

#define OUT_OF_STEP 32 /* bytes after which decoding is in step with the code */

#define SKIP_RATE 16 /* bytes passed over for a unit of work */

#define X86_RSP 4
#define X86_RBP 5

#define X86_BND     0xf2
#define X86_NOTRACK 0x3e

struct sweep {
    const struct code *code;
    struct function *function; /* null in a gap */
    uint64_t start, end;
    struct code_map *map;
    const struct swept *before; /* who has been here; null if that is of no use */
    bool is_first;              /* to be here: leaves landmarks */
    bool is_in_step;            /* with who has been here */
    uint64_t skipped;           /* bytes, from landmark to landmark */
    uint64_t code_end;          /* behind the last that does not go on to what follows; 0: none */
    uint64_t first_code_end;
    bool has_data;          /* between code */
    bool has_doubtful_loop; /* a short branch to the entry from behind the first end */
    ZydisDecoder decoder;
    uint64_t tables[TABLES_PER_PASS];  /* data whose address was taken, or entries loaded */
    bool is_from_got[TABLES_PER_PASS]; /* their entries count from code->got */
    size_t table_count;
};

/* Whether a jump within a function is of no interest to others, nor to its start. */
static bool is_internal(uint64_t target, uint64_t start, uint64_t end)
{
    return target >= start && target < end && target - start > PATCH_MAX_DISPLACED;
}

static void note_branch(struct sweep *sweep, uint64_t target, uint64_t source,
                        enum branch_kind kind, uint8_t length, bool is_near)
{
    const struct swept *before = sweep->is_in_step ? sweep->before : NULL;

    address_set_add(&sweep->map->jumps, target);
    if (target == sweep->start && sweep->first_code_end && !is_near)
        sweep->has_doubtful_loop = true;
    if (sweep->function && is_internal(target, sweep->start, sweep->end))
        return;
    if (before && !is_internal(target, before->start, before->end))
        return; /* was noted */
    code_map_add(sweep->map, (struct branch){.target = target,
                                             .source = source,
                                             .kind = (uint8_t)kind,
                                             .length = length,
                                             .is_near = is_near});
}

/* A branch through memory at a distance, with no prefix but one that means nothing to it. */
static void note_slot_use(struct sweep *sweep, const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    uint8_t prefix = zydis->raw.prefix_count ? zydis->raw.prefixes[0].value : 0;
    bool is_plain = zydis->raw.prefix_count == 0 ||
                    (zydis->raw.prefix_count == 1 && (prefix == X86_BND || prefix == X86_NOTRACK));

    if (!at->is_rip_based || !is_plain)
        return;
    code_map_add_slot_use(sweep->map,
                          (struct slot_use){.slot = at->operand,
                                            .instruction = at->address,
                                            .opcode = at->address + zydis->raw.modrm.offset - 1u,
                                            .is_call = at->flow == FLOW_INDIRECT_CALL});
}

static void note_flow(struct sweep *sweep, const struct instruction *at)
{
    switch (at->flow) {
    case FLOW_JUMP:
        note_branch(sweep, at->target, at->address, BRANCH_JUMP, at->length, at->is_near);
        break;
    case FLOW_CONDITION:
    case FLOW_LOOP:
        note_branch(sweep, at->target, at->address, BRANCH_CONDITION, at->length, at->is_near);
        break;
    case FLOW_CALL:
        /* A call of what follows it is a way to read rip. */
        if (sweep->function && !sweep->has_data && at->target != at->address + at->length)
            address_set_add(&sweep->map->calls, at->target);
        break;
    case FLOW_INDIRECT_JUMP:
        if (sweep->function)
            sweep->function->has_indirect_jump = true;
        note_slot_use(sweep, at);
        break;
    case FLOW_INDIRECT_CALL:
        note_slot_use(sweep, at);
        break;
    default:
        break;
    }
}

static void remember_table(struct sweep *sweep, uint64_t address, bool is_from_got)
{
    if (!address || sweep->table_count >= TABLES_PER_PASS)
        return;
    sweep->is_from_got[sweep->table_count] = is_from_got;
    sweep->tables[sweep->table_count++] = address;
}

/* What lea takes, in PIC code of 32 bits, if its register holds the address of the global offset
   table; 0 if it takes nothing so. */
static uint64_t from_got(const struct code *code, const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;

    if (!code->got || !at->is_lea || zydis->raw.modrm.mod != 2 || zydis->raw.modrm.rm == X86_RSP)
        return 0;
    return (code->got + (uint64_t)zydis->raw.disp.value) & code_address_mask(code);
}

/* Addresses taken by lea, or, in code linked to a fixed address, as a 32-bit number; and tables. */
static void note_pointers(struct sweep *sweep, const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    struct code_table table = code_table_loaded(sweep->code, at);

    remember_table(sweep, table.address, table.origin != table.address);
    if (sweep->code->got)
        address_set_add(&sweep->map->pointers, from_got(sweep->code, at));
    if (at->is_lea && at->is_rip_based) {
        address_set_add(&sweep->map->pointers, at->operand);
        remember_table(sweep, at->operand, false);
    } else if (sweep->code->has_absolute_code) {
        if (zydis->raw.imm[0].size == 32 && !zydis->raw.imm[0].is_relative)
            address_set_add(&sweep->map->pointers, zydis->raw.imm[0].value.u & UINT32_MAX);
        table.address = (uint64_t)zydis->raw.disp.value & code_address_mask(sweep->code);
        if (at->flow == FLOW_INDIRECT_JUMP && zydis->raw.disp.size == 32 && !at->is_rip_based)
            remember_table(sweep, table.address, false);
    }
}

/* [rsp + n] or [rbp + n] whose first byte lies in the slot of the return address. */
static bool is_in_slot(const ZydisDecodedInstruction *zydis, const struct return_slot *slot,
                       int64_t slot_size)
{
    unsigned mod = zydis->raw.modrm.mod, rm = zydis->raw.modrm.rm;
    bool is_rsp, is_rbp, is_extended;

    if (!(zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM) || mod == 3)
        return false;
    is_extended = zydis->raw.rex.B;
    if (zydis->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        is_extended = false; /* vector instructions: rather too many than too few */
    is_rsp = rm == X86_RSP && zydis->raw.sib.base == X86_RSP && zydis->raw.sib.index == X86_RSP;
    is_rbp = rm == X86_RBP && mod != 0;
    if (is_extended || (slot->base == RETURN_SLOT_RSP ? !is_rsp : !is_rbp))
        return false;
    return zydis->raw.disp.value >= slot->offset &&
           zydis->raw.disp.value < slot->offset + slot_size;
}

static bool is_return_address_read(const struct instruction *at, const struct return_slot *slot,
                                   int64_t slot_size)
{
    ZydisMnemonic mnemonic = at->zydis.mnemonic;

    if (slot->base == RETURN_SLOT_UNKNOWN || mnemonic == ZYDIS_MNEMONIC_NOP)
        return false;
    if (mnemonic == ZYDIS_MNEMONIC_POP)
        return slot->base == RETURN_SLOT_RSP && slot->offset == 0;
    return is_in_slot(&at->zydis, slot, slot_size);
}

/* Whether what an instruction means depends on its function. */
static bool is_landmark(const struct code *code, const struct instruction *at)
{
    return at->flow == FLOW_JUMP || at->flow == FLOW_CONDITION || at->flow == FLOW_LOOP ||
           at->flow == FLOW_INDIRECT_JUMP || (at->is_lea && at->is_rip_based) ||
           code_table_loaded(code, at).address;
}

/*
 * Asks where the return address is, if it is time to. Returns whether nothing that follows can read
 * it, or it does not matter any more.
 */
static bool settle_slot(const struct sweep *sweep, struct return_slot *slot, uint64_t address)
{
    const struct code_unwind *unwind = &sweep->code->unwind;

    if (sweep->function && !sweep->function->reason && address >= slot->until)
        *slot = unwind->slot_at(unwind->context, address);
    return !sweep->function || sweep->function->reason ||
           (slot->base == RETURN_SLOT_UNKNOWN && slot->until == UINT64_MAX);
}

/* Where to decode next. */
static uint64_t skip(struct sweep *sweep, uint64_t address)
{
    uint64_t stop, next;

    if (!sweep->before)
        return address;
    if (address >= sweep->before->stop) {
        sweep->before = NULL;
        return address;
    }
    if (!sweep->is_in_step)
        sweep->is_in_step = address_set_has(&sweep->map->landmarks, address);
    if (!sweep->is_in_step)
        return address;
    stop = sweep->before->stop < sweep->end ? sweep->before->stop : sweep->end;
    next = address_set_next(&sweep->map->landmarks, address, stop);
    sweep->skipped += next - address;
    return next;
}

/* What can make an instruction one to look at. */
static unsigned minds_of(const struct code *code)
{
    return (code->has_absolute_code ? PLAIN_MIND_NUMBER : 0u) |
           (code->table_origin ? PLAIN_MIND_ARRAY : 0u);
}

static bool is_inline_table(const struct sweep *sweep, uint64_t address)
{
    return sweep->code->table_origin && address_set_has(&sweep->map->inline_tables, address);
}

/* `zydis` is not set for a plain instruction. */
static void note(struct sweep *sweep, const struct instruction *at, bool is_plain)
{
    note_flow(sweep, at);
    if (!is_plain || at->is_lea)
        note_pointers(sweep, at);
    if (!is_plain)
        code_inline_table_note(sweep->code, sweep->map, at, sweep->start, sweep->end);
    if (sweep->is_first && is_landmark(sweep->code, at))
        address_set_add(&sweep->map->landmarks, at->address);
    if (at->flow == FLOW_JUMP || at->flow == FLOW_INDIRECT_JUMP || at->flow == FLOW_END) {
        sweep->code_end = at->address + at->length;
        if (!sweep->first_code_end)
            sweep->first_code_end = sweep->code_end;
    }
}

/* The target of what begins with these bytes, if it is a direct branch; else 0. */
static uint64_t branch_target(uint64_t address, const uint8_t *bytes, uint64_t size)
{
    bool is_short =
        bytes[0] == 0xeb || bytes[0] >> 4 == 7 || (bytes[0] >= 0xe0 && bytes[0] <= 0xe3);
    uint64_t opcode = bytes[0] == 0x0f && size > 1 && bytes[1] >> 4 == 8 ? 2 : 1;
    int32_t distance;

    if (is_short && size >= 2)
        return address + 2 + (uint64_t)(int8_t)bytes[1];
    if ((opcode == 1 && bytes[0] != 0xe9) || size < opcode + 4)
        return 0;
    memcpy(&distance, bytes + opcode, sizeof(distance));
    return address + opcode + 4 + (uint64_t)(int64_t)distance;
}

/* Notes what may branch into a function's first bytes, from the end of code to where decoding is in
   step again. */
static void note_doubtful_branches(struct sweep *sweep, uint64_t failed, const uint8_t *bytes)
{
    uint64_t until = failed + OUT_OF_STEP < sweep->end ? failed + OUT_OF_STEP : sweep->end;

    for (uint64_t at = sweep->code_end; at < until; at++) {
        uint64_t target = branch_target(at, bytes + (at - sweep->start), sweep->end - at);

        if (target > sweep->start && target - sweep->start <= PATCH_MAX_DISPLACED)
            note_branch(sweep, target, at, BRANCH_CONDITION, 0, false);
        else if (target == sweep->start && target + INT8_MAX > at)
            sweep->has_doubtful_loop = true;
    }
}

/* What does not decode, behind an end of code that leaves room for a patch. */
static bool is_data(const struct sweep *sweep)
{
    return sweep->first_code_end && sweep->first_code_end - sweep->start >= PATCH_JUMP_SIZE;
}

/* Bytes of an instruction that takes no full decoding, which is noted; 0 if it does. */
static size_t pass_plain(struct sweep *sweep, uint64_t address, const uint8_t *bytes,
                         const struct return_slot *slot)
{
    const struct processor *processor = sweep->code->processor;
    struct instruction at;
    size_t length;

    if (sweep->end - address < PLAIN_ROOM)
        return 0;
    length = processor->plain_length(bytes, minds_of(sweep->code));
    if (length) {
        if (slot && slot->base != RETURN_SLOT_UNKNOWN &&
            processor->plain_is_at_slot(bytes, slot->base == RETURN_SLOT_RBP, slot->offset))
            sweep->function->reason = PATCH_RETURN_ADDRESS;
        return length;
    }
    if (!processor->plain_decode(address, bytes, &at))
        return 0;
    note(sweep, &at, true);
    return at.length;
}

/* Decodes and notes an instruction; returns its length, or 0. */
static size_t pass(struct sweep *sweep, uint64_t address, const uint8_t *bytes,
                   const struct return_slot *slot)
{
    struct instruction at;

    if (!instruction_decode(&sweep->decoder, address, bytes, sweep->end - address, &at))
        return 0;
    note(sweep, &at, false);
    if (sweep->function && !sweep->function->reason &&
        is_return_address_read(&at, slot, sweep->code->processor->pointer_size))
        sweep->function->reason = PATCH_RETURN_ADDRESS;
    return at.length;
}

/* Returns where the sweep ends: in a function, before what does not decode; else at the end. */
static uint64_t run(struct sweep *sweep, const uint8_t *bytes)
{
    struct return_slot slot = {.until = 0};
    uint64_t address = sweep->start;

    while (address < sweep->end && !is_inline_table(sweep, address)) {
        const uint8_t *here = bytes + (address - sweep->start);
        bool is_done = settle_slot(sweep, &slot, address);
        uint64_t next = is_done ? skip(sweep, address) : address;
        size_t length;

        if (next != address) {
            address = next;
            continue;
        }
        length = pass_plain(sweep, address, here, is_done ? NULL : &slot);
        if (!length)
            length = pass(sweep, address, here, &slot);
        if (!length && sweep->function && sweep->function->evidence & EVIDENCE_EXTENT &&
            !sweep->function->reason) {
            if (!is_data(sweep)) {
                sweep->function->reason = PATCH_UNDECODABLE;
                return address;
            }
            note_doubtful_branches(sweep, address, bytes);
            sweep->has_data = true;
        } else if (!length && sweep->function) {
            return address;
        }
        address += length ? length : 1;
    }
    return address;
}

/*
 * Remembers it if something may be found in it: not in one whose extent is known. Nor where there
 * may be tables among the code, which end a sweep once they are known.
 */
static void sweep_extent(struct sweep *sweep, const uint8_t *bytes)
{
    bool is_final = sweep->function->evidence & EVIDENCE_EXTENT || sweep->code->table_origin;
    uint64_t stop;

    if (!is_final)
        sweep->before = code_map_swept_at(sweep->map, sweep->start);
    sweep->is_first = !is_final && !sweep->before;
    stop = run(sweep, bytes);
    if (sweep->has_data && sweep->has_doubtful_loop && !sweep->function->reason)
        sweep->function->reason = PATCH_UNDECODABLE;
    if (sweep->is_first && stop > sweep->start)
        code_map_add_swept(sweep->map,
                           (struct swept){.start = sweep->start, .stop = stop, .end = sweep->end});
    sweep->function->is_leaf =
        sweep->function->evidence & EVIDENCE_EXTENT && stop == sweep->end &&
        code_is_leaf(sweep->code->processor, sweep->start, sweep->end, bytes);
    code_map_spend_work(sweep->map, (stop - sweep->start - sweep->skipped) * CODE_BYTE_WORK +
                                        sweep->skipped / SKIP_RATE);
}

void code_sweep(const struct code *code, struct function *function, struct code_map *map)
{
    struct sweep sweep = {.code = code, .function = function, .map = map};
    size_t size;
    const uint8_t *bytes = code_at(code, function->address, &size);

    function->is_swept = true;
    if (!bytes || map->is_exhausted)
        return;
    sweep.start = function->address;
    sweep.end = function->end - function->address < size ? function->end : sweep.start + size;
    if (!function->reason && code->processor->is_pc_thunk &&
        code->processor->is_pc_thunk(bytes, sweep.end - sweep.start))
        function->reason = PATCH_RETURN_ADDRESS;
    decoder_init(&sweep.decoder, code->processor);
    code->unwind.begin(code->unwind.context, function);
    sweep_extent(&sweep, bytes);
    for (size_t i = 0; function->has_indirect_jump && i < sweep.table_count; i++)
        code_map_add_table(
            map, (struct code_table){.address = sweep.tables[i],
                                     .start = sweep.start,
                                     .end = sweep.end,
                                     .origin = sweep.is_from_got[i] ? code->got : sweep.tables[i]});
}

void code_sweep_gap(const struct code *code, uint64_t address, uint64_t end, struct code_map *map)
{
    struct sweep sweep = {.code = code, .start = address, .end = end, .map = map};
    size_t size;
    const uint8_t *bytes = code_at(code, address, &size);

    if (!bytes || size < end - address)
        return;
    decoder_init(&sweep.decoder, code->processor);
    run(&sweep, bytes);
}
