/* One linear pass over the instructions of a function. */
#include "rewriter/code.h"

#include <string.h>

#define TABLES_PER_PASS 256 /* candidates remembered in a function */

#define X86_RSP 4
#define X86_RBP 5

#define X86_BND     0xf2
#define X86_NOTRACK 0x3e

struct sweep {
    const struct code *code;
    struct function *function; /* null in a gap */
    uint64_t start, end;
    struct code_map *map;
    ZydisDecoder decoder;
    uint64_t tables[TABLES_PER_PASS]; /* data whose address was taken */
    size_t table_count;
};

static void note_branch(struct sweep *sweep, uint64_t target, uint64_t source,
                        enum branch_kind kind, uint8_t length, bool is_near)
{
    bool is_inside = sweep->function && target >= sweep->start && target < sweep->end;

    address_set_add(&sweep->map->jumps, target);
    if (is_inside && target - sweep->start > PATCH_MAX_DISPLACED)
        return;
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
        if (sweep->function && at->target != at->address + at->length)
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

/* Addresses taken by lea, or, in code linked to a fixed address, as a 32-bit number. */
static void note_pointers(struct sweep *sweep, const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;

    code_inline_table_note(sweep->code, sweep->map, at, sweep->start, sweep->end);
    if (at->is_lea && at->is_rip_based) {
        address_set_add(&sweep->map->pointers, at->operand);
        if (sweep->table_count < TABLES_PER_PASS)
            sweep->tables[sweep->table_count++] = at->operand;
    } else if (sweep->code->has_absolute_code) {
        if (zydis->raw.imm[0].size == 32 && !zydis->raw.imm[0].is_relative)
            address_set_add(&sweep->map->pointers, zydis->raw.imm[0].value.u & UINT32_MAX);
        if (at->flow == FLOW_INDIRECT_JUMP && zydis->raw.disp.size == 32 && !at->is_rip_based &&
            sweep->table_count < TABLES_PER_PASS)
            sweep->tables[sweep->table_count++] = (uint64_t)zydis->raw.disp.value;
    }
}

/* [rsp + n] or [rbp + n] whose first byte lies in the slot of the return address. */
static bool touches(const ZydisDecodedInstruction *zydis, const struct return_slot *slot)
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
    return zydis->raw.disp.value >= slot->offset && zydis->raw.disp.value < slot->offset + 8;
}

static bool reads_return_address(const struct instruction *at, const struct return_slot *slot)
{
    ZydisMnemonic mnemonic = at->zydis.mnemonic;

    if (slot->base == RETURN_SLOT_UNKNOWN || mnemonic == ZYDIS_MNEMONIC_NOP)
        return false;
    if (mnemonic == ZYDIS_MNEMONIC_POP)
        return slot->base == RETURN_SLOT_RSP && slot->offset == 0;
    return touches(&at->zydis, slot);
}

static void run(struct sweep *sweep, const uint8_t *bytes)
{
    const struct code_unwind *unwind = &sweep->code->unwind;
    struct return_slot slot = {.until = 0};
    struct instruction at;
    uint64_t address = sweep->start;

    while (address < sweep->end && !address_set_has(&sweep->map->inline_tables, address)) {
        if (!instruction_decode(&sweep->decoder, address, bytes + (address - sweep->start),
                                sweep->end - address, &at)) {
            if (sweep->function && sweep->function->evidence & EVIDENCE_EXTENT &&
                !sweep->function->reason)
                sweep->function->reason = PATCH_UNDECODABLE;
            if (sweep->function)
                return;
            address++;
            continue;
        }
        note_flow(sweep, &at);
        note_pointers(sweep, &at);
        if (sweep->function && !sweep->function->reason) {
            if (address >= slot.until)
                slot = unwind->slot_at(unwind->context, address);
            if (reads_return_address(&at, &slot))
                sweep->function->reason = PATCH_RETURN_ADDRESS;
        }
        address += at.length;
    }
}

void code_sweep(const struct code *code, struct function *function, struct code_map *map)
{
    struct sweep sweep = {.code = code, .function = function, .map = map};
    size_t size;
    const uint8_t *bytes = code_at(code, function->address, &size);

    function->is_swept = true;
    if (!bytes)
        return;
    sweep.start = function->address;
    sweep.end = function->end - function->address < size ? function->end : sweep.start + size;
    if (!code_map_spend(map, (sweep.end - sweep.start) * CODE_BYTE_WORK))
        return;
    decoder_init(&sweep.decoder);
    code->unwind.begin(code->unwind.context, function);
    run(&sweep, bytes);
    for (size_t i = 0; function->has_indirect_jump && i < sweep.table_count; i++)
        code_map_add_table(map, (struct code_table){.address = sweep.tables[i],
                                                    .start = sweep.start,
                                                    .end = sweep.end,
                                                    .origin = sweep.tables[i]});
}

void code_sweep_gap(const struct code *code, uint64_t address, uint64_t end, struct code_map *map)
{
    struct sweep sweep = {.code = code, .start = address, .end = end, .map = map};
    size_t size;
    const uint8_t *bytes = code_at(code, address, &size);

    if (!bytes || size < end - address)
        return;
    decoder_init(&sweep.decoder);
    run(&sweep, bytes);
}
