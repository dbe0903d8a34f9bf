#include "rewriter/flow/flow_results.h"

#include "rewriter/code/decode_plain.h"
#include "rewriter/flow/flow_flags.h"
#include "rewriter/flow/flow_imports.h"
#include "support/memory.h"
#include "support/sorted.h"

#include <stdlib.h>

struct finding {
    struct flow_results *results;
    const struct flow_source *source;
    ZydisDecoder decoder;
    uint32_t *waiting; /* functions whose own callees are to be looked at */
    size_t waiting_count, waiting_room;
    bool has_pointer_call;
};

/* What is asked of a function's calls, and the flags that count. */
struct asking {
    struct finding *finding;
    const struct function *function;
    enum flow_flags_fate fate;
    enum flow_result result;
};

const char *flow_result_word(enum flow_result result)
{
    static const char *const words[FLOW_RESULTS] = {
        [RESULT_NONE] = "none",           [RESULT_CALLED] = "called",
        [RESULT_HANDED_ON] = "handed-on", [RESULT_STRANGER] = "stranger",
        [RESULT_POINTER] = "pointer",
    };

    return (unsigned)result < FLOW_RESULTS ? words[result] : "?";
}

static void mark(struct finding *finding, uint64_t target, enum flow_result result)
{
    const struct function_list *functions = finding->source->functions;
    const struct function *function = function_list_owner(functions, target);
    uint32_t place;

    if (!function || target >= function->end)
        return;
    place = (uint32_t)(function - functions->items);
    if (finding->results->items[place] != RESULT_NONE)
        return;
    finding->results->items[place] = (uint8_t)result;
    finding->waiting = memory_grow(finding->waiting, finding->waiting_count, &finding->waiting_room,
                                   sizeof *finding->waiting);
    finding->waiting[finding->waiting_count++] = place;
}

/* Decodes the next instruction, or passes over a byte that is none: data between code. */
static bool read_next(const struct finding *finding, const struct function *function,
                      const uint8_t *bytes, struct instruction *at)
{
    uint64_t address = at->address;
    size_t offset = address - function->address, room = function->end - address;

    at->length = 0;
    if (room >= PLAIN_ROOM)
        at->length = (uint8_t)plain_length(bytes + offset, 0);
    if (at->length)
        return false;
    if (room >= PLAIN_ROOM && plain_decode(address, bytes + offset, at))
        return true;
    if (instruction_decode(&finding->decoder, address, bytes + offset, room, at))
        return true;
    at->length = 1;
    return false;
}

static const uint8_t *bytes_of(const struct flow_source *source, const struct function *function)
{
    size_t room;
    const uint8_t *bytes = code_at(source->code, function->address, &room);

    if (function->is_import || function->end <= function->address)
        return NULL;
    return bytes && function->end - function->address <= room ? bytes : NULL;
}

/* Whether a branch of the function leads to an address, or behind what fills up the space there:
   then the call before it may not return, and the flags are that branch's. */
static bool is_joined(const struct asking *asking, uint64_t address)
{
    const struct function *function = asking->function;
    const uint8_t *bytes = bytes_of(asking->finding->source, function);
    struct instruction at = {.address = address};
    uint64_t end = address;

    for (; end < function->end; end += at.length)
        if (!instruction_decode(&asking->finding->decoder, end, bytes + (end - function->address),
                                function->end - end, &at) ||
            !instruction_is_padding(&at))
            break;
    for (at.address = function->address; at.address < function->end; at.address += at.length)
        if (read_next(asking->finding, function, bytes, &at) &&
            (at.flow == FLOW_JUMP || at.flow == FLOW_CONDITION || at.flow == FLOW_LOOP) &&
            at.target >= address && at.target <= end)
            return true;
    return false;
}

/* Called through a slot: what the loader may put there, if that is the image's own. Whether there
   is such an import at all. */
static bool mark_import(const struct asking *asking, uint64_t slot)
{
    const struct flow_pointer *import = flow_import_at(asking->finding->source, slot);

    if (import && import->target)
        mark(asking->finding, import->target, asking->result);
    return import != NULL;
}

static void note_call(const struct asking *asking, uint64_t address, uint64_t slot)
{
    struct flow_results *results = asking->finding->results;

    results->calls = memory_grow(results->calls, results->call_count, &results->call_room,
                                 sizeof *results->calls);
    results->calls[results->call_count++] = (struct flow_result_call){address, slot};
}

/* That a function which was marked returns what it has called by a pointer is believed of assembly.
 */
static bool may_hand_on(const struct asking *asking)
{
    return asking->result == RESULT_CALLED || !asking->function->unwind;
}

/* Where a call, or a jump that takes its place, may lead. */
static void mark_callee(const struct asking *asking, const struct instruction *at)
{
    bool is_direct = at->flow != FLOW_INDIRECT_CALL && at->flow != FLOW_INDIRECT_JUMP;
    uint64_t next = at->address + at->length, slot = 0;
    bool is_import;

    if (is_direct)
        slot = flow_stub_slot(asking->finding->source, &asking->finding->decoder, at->target);
    else if (at->is_rip_based)
        slot = at->operand;
    is_import = slot && mark_import(asking, slot);
    if (is_direct && !slot) {
        mark(asking->finding, at->target, asking->result);
    } else if (asking->result == RESULT_HANDED_ON || !is_joined(asking, next)) {
        note_call(asking, next, slot);
        asking->finding->has_pointer_call |= !is_import && may_hand_on(asking);
    }
}

static void ask(const struct asking *asking)
{
    const struct function *function = asking->function;
    const struct finding *finding = asking->finding;
    const uint8_t *bytes = bytes_of(finding->source, function);
    struct instruction at = {.address = function->address};

    for (; bytes && at.address < function->end; at.address += at.length) {
        if (!read_next(finding, function, bytes, &at))
            continue;
        if (at.flow == FLOW_CALL || at.flow == FLOW_INDIRECT_CALL) {
            if (flow_flags_fate(finding->source, at.address + at.length) == asking->fate)
                mark_callee(asking, &at);
        } else if (asking->fate == FLAGS_RETURNED &&
                   (at.flow == FLOW_JUMP || at.flow == FLOW_CONDITION) &&
                   at.target - function->address >= function->end - function->address) {
            mark_callee(asking, &at);
        }
    }
}

/* What those return that were marked. */
static void hand_on(struct finding *finding)
{
    while (finding->waiting_count) {
        uint32_t place = finding->waiting[--finding->waiting_count];

        ask(&(struct asking){.finding = finding,
                             .function = &finding->source->functions->items[place],
                             .fate = FLAGS_RETURNED,
                             .result = RESULT_HANDED_ON});
    }
}

static bool is_stack_pointer(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == ZYDIS_REGISTER_RSP;
}

/* Whether an instruction sets flags that a caller could mean: not by the way, as where a stack
   frame is given back or a register is cleared. */
static bool is_meant(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operands)
{
    bool is_clear =
        (zydis->mnemonic == ZYDIS_MNEMONIC_XOR || zydis->mnemonic == ZYDIS_MNEMONIC_SUB) &&
        operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        operands[0].reg.value == operands[1].reg.value;

    return !is_clear && !is_stack_pointer(&operands[0]);
}

/* Whether the last instruction before a `ret` that writes flags may have been meant to, and nothing
   has looked at them since. */
static bool ends_in_flags(const struct flow_source *source, const struct function *function)
{
    const uint8_t *bytes = bytes_of(source, function);
    bool is_set = false;
    ZydisDecodedInstruction zydis = {0};
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (uint64_t at = function->address; bytes && at < function->end; at += zydis.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes + (at - function->address),
                                                 function->end - at, &zydis, operands))) {
            zydis.length = 1;
            is_set = false;
        } else if (zydis.meta.category == ZYDIS_CATEGORY_RET) {
            if (is_set)
                return true;
        } else if (zydis.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) {
            is_set = false;
        } else if (zydis.cpu_flags && (zydis.cpu_flags->modified | zydis.cpu_flags->set_0) &
                                          (ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_CF)) {
            is_set = is_meant(&zydis, operands);
        }
    }
    return false;
}

/* Whether its address is in data, taken by code or known by a symbol. */
static bool is_known_to_others(const struct flow_source *source, const struct function *function)
{
    uint64_t address = function->address;
    size_t place = partition_point(i, source->pointer_count,
                                   source->pointers[source->by_target[i]].target < address);

    return address_set_has(&source->map->pointers, address) ||
           (place < source->pointer_count &&
            source->pointers[source->by_target[place]].target == address);
}

/*
 * Who calls by a pointer, or from another image, is not known. So it goes by what a function is.
 * What compilers make has a frame description (FDE); assembly has none, most often.
 */
static void mark_strangers(struct finding *finding)
{
    const struct flow_source *source = finding->source;
    bool has_pointer_call = finding->has_pointer_call;

    for (size_t i = 0; i < source->functions->count; i++) {
        const struct function *function = &source->functions->items[i];

        if ((function->unwind && !has_pointer_call) || function->reason == PATCH_PLT ||
            function->is_import || !is_known_to_others(source, function))
            continue;
        if (has_pointer_call && (!function->unwind || ends_in_flags(source, function)))
            mark(finding, function->address, RESULT_POINTER);
        else if (!has_pointer_call && ends_in_flags(source, function))
            mark(finding, function->address, RESULT_STRANGER);
    }
}

void flow_results_find(struct flow_results *results, const struct flow_source *source)
{
    struct finding finding = {.results = results, .source = source};

    decoder_init(&finding.decoder);
    *results = (struct flow_results){0};
    results->items = memory_zeroed(source->functions->count, sizeof *results->items);
    for (size_t i = 0; i < source->functions->count; i++)
        if (source->functions->items[i].reason != PATCH_INSIDE_FUNCTION)
            ask(&(struct asking){.finding = &finding,
                                 .function = &source->functions->items[i],
                                 .fate = FLAGS_READ,
                                 .result = RESULT_CALLED});
    hand_on(&finding);
    mark_strangers(&finding);
    hand_on(&finding);
    free(finding.waiting);
}

void flow_results_free(struct flow_results *results)
{
    free(results->items);
    free(results->calls);
    *results = (struct flow_results){0};
}
