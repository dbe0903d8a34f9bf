#include "rewriter/pe/pe_follow.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/code_discover.h"
#include "rewriter/code/code_tables.h"
#include "rewriter/code/decode.h"
#include "support/memory.h"
#include "support/sorted.h"

#define WORD      4
#define ALIGNMENT 16
#define REACH     129 /* of a branch of two bytes, from where it begins */

#define X86_INT3 0xcc
#define X86_NOP  0x90
#define X86_JMP  0xeb /* of two bytes */
#define X86_RET  0xc3
#define X86_RETN 0xc2 /* two bytes follow */

#define SIB_NO_BASE 5 /* with mod 0 */

struct extent {
    uint64_t start, end;
    bool flows_on; /* into what follows */
    bool is_sure;  /* it ends by a return, or by a jump whose target is known */
};

struct addresses {
    uint64_t *items;
    size_t count, room;
};

struct follow {
    struct pe_code *pe;
    ZydisDecoder decoder;
    struct address_set starts, relocated;
    struct address_set fresh,
        measured; /* starts since the last measuring began, and those before it */
    struct address_set called, pointed; /* of the starts: what tells of them */
    struct addresses waiting, candidates, jumped;
    struct extent *extents; /* ascending by start */
    size_t extent_count, extent_room;
};

static void put(struct addresses *list, uint64_t address)
{
    list->items = memory_grow(list->items, list->count, &list->room, sizeof(address));
    list->items[list->count++] = address;
}

static void add_start(struct follow *follow, uint64_t address)
{
    if (!code_range_at(&follow->pe->code, address) || address_set_has(&follow->starts, address))
        return;
    address_set_add(&follow->starts, address);
    address_set_add(&follow->fresh, address);
    put(&follow->waiting, address);
}

static bool is_32_bits(const struct follow *follow, uint64_t field)
{
    return follow->pe->relocated_count == 0 || address_set_has(&follow->relocated, field);
}

/* ---- one function */

struct walk {
    struct follow *follow;
    uint64_t start, limit; /* where the next one begins */
    uint64_t furthest;
    uint64_t table; /* the last one loaded from */
};

static void go_further(struct walk *walk, uint64_t target)
{
    if (target > walk->furthest && target < walk->limit)
        walk->furthest = target;
}

/* Entries that lead into the function, up to one that does not, or to other data. */
static void take_table(struct walk *walk, uint64_t table)
{
    struct pe_code *pe = walk->follow->pe;

    for (uint64_t at = table;; at += WORD) {
        const uint8_t *bytes = pe_at(pe->image, at, WORD);
        uint64_t target;

        if (!bytes || (at != table && address_set_has(&pe->map.inline_tables, at)))
            return;
        target = pe_word(pe->image, bytes);
        if (target < walk->start || target >= walk->limit)
            return;
        if (code_range_at(&pe->code, at) && !is_32_bits(walk->follow, at))
            return;
        address_set_add(&pe->map.jumps, target);
        go_further(walk, target);
    }
}

/* What an instruction reads among code is data; of what it takes the address may be a function. */
static void note_operands(struct walk *walk, const struct instruction *at)
{
    const ZydisDecodedInstruction *zydis = &at->zydis;
    struct follow *follow = walk->follow;
    uint64_t place = (uint64_t)zydis->raw.disp.value & UINT32_MAX;
    uint64_t number = zydis->raw.imm[0].value.u & UINT32_MAX;

    if (zydis->raw.disp.size == 32 && is_32_bits(follow, at->address + zydis->raw.disp.offset)) {
        if (at->is_lea)
            put(&follow->candidates, place);
        else
            address_set_add(&follow->pe->map.inline_tables, place);
    }
    if (zydis->raw.imm[0].size == 32 && !zydis->raw.imm[0].is_relative &&
        is_32_bits(follow, at->address + zydis->raw.imm[0].offset))
        put(&follow->candidates, number);
}

static bool is_array(const ZydisDecodedInstruction *zydis)
{
    return zydis->attributes & ZYDIS_ATTRIB_HAS_MODRM && zydis->raw.modrm.mod == 0 &&
           zydis->raw.modrm.rm == 4 && zydis->raw.sib.base == SIB_NO_BASE;
}

static void note_flow(struct walk *walk, const struct instruction *at)
{
    struct code_table table = code_table_loaded(&walk->follow->pe->code, at);

    if (table.address)
        walk->table = table.address;
    switch (at->flow) {
    case FLOW_CALL:
        if (at->target == at->address + at->length)
            break;
        address_set_add(&walk->follow->called, at->target);
        add_start(walk->follow, at->target);
        break;
    case FLOW_JUMP:
        if (at->target < walk->start || at->target >= walk->limit)
            put(&walk->follow->jumped, at->target);
        go_further(walk, at->target);
        break;
    case FLOW_CONDITION:
    case FLOW_LOOP:
        go_further(walk, at->target);
        break;
    case FLOW_INDIRECT_JUMP:
        if (is_array(&at->zydis))
            take_table(walk, (uint64_t)at->zydis.raw.disp.value & UINT32_MAX);
        else if (at->zydis.raw.modrm.mod == 3 && walk->table)
            take_table(walk, walk->table);
        break;
    default:
        break;
    }
}

/* Whether control does not go on behind the instruction, nor comes back to there. */
static bool is_end(const struct walk *walk, const struct instruction *at, const uint8_t *next,
                   size_t size)
{
    if (at->flow != FLOW_END && at->flow != FLOW_JUMP && at->flow != FLOW_INDIRECT_JUMP)
        return false;
    if (at->address + at->length > walk->furthest)
        return true;
    return at->flow == FLOW_JUMP && at->target == walk->furthest && size && *next == X86_INT3;
}

static bool is_data(const struct follow *follow, uint64_t address)
{
    return address_set_has(&follow->pe->map.inline_tables, address) ||
           address_set_has(&follow->relocated, address);
}

static struct extent follow_one(struct follow *follow, uint64_t start)
{
    const struct code_range *range = code_range_at(&follow->pe->code, start);
    uint64_t range_end = range->address + range->size;
    struct walk walk = {.follow = follow, .start = start, .furthest = start};
    struct extent extent = {.start = start, .end = start};
    struct instruction at = {.flow = FLOW_NEXT};
    uint64_t code_end = start; /* without what fills up behind it */
    uint8_t last = FLOW_NEXT;  /* flow of what is before that */

    walk.limit = address_set_next(&follow->starts, start + 1, range_end);
    while (extent.end < walk.limit && (extent.end == start || !is_data(follow, extent.end))) {
        const uint8_t *bytes = range->bytes + (extent.end - range->address);
        size_t size = walk.limit - extent.end;

        if (*bytes == X86_INT3 &&
            extent.end > walk.furthest) /* behind a call that does not return */
            return extent;
        if (!code_map_spend_work(&follow->pe->map, CODE_BYTE_WORK) ||
            !instruction_decode(&follow->decoder, extent.end, bytes, size, &at))
            return extent;
        extent.end += at.length;
        note_operands(&walk, &at);
        note_flow(&walk, &at);
        if (is_end(&walk, &at, bytes + at.length, size - at.length)) {
            extent.is_sure = at.flow != FLOW_INDIRECT_JUMP;
            return extent;
        }
        if (instruction_is_padding(&at))
            continue;
        code_end = extent.end;
        last = at.flow;
    }
    extent.flows_on = extent.end == walk.limit && walk.limit < range_end &&
                      (last == FLOW_NEXT || last == FLOW_CONDITION || walk.furthest >= code_end);
    if (!extent.flows_on && code_end > start) /* a call that does not return */
        extent.end = code_end;
    return extent;
}

static void follow_waiting(struct follow *follow)
{
    for (size_t i = 0; i < follow->waiting.count; i++)
        follow_one(follow, follow->waiting.items[i]);
    follow->waiting.count = 0;
}

/* ---- all of them */

static bool has_frame(const uint8_t *bytes, size_t size)
{
    size_t skip = size >= 2 && memcmp(bytes, "\x8b\xff", 2) == 0 ? 2 : 0;

    return size >= skip + 3 && (memcmp(bytes + skip, "\x55\x8b\xec", 3) == 0 ||
                                memcmp(bytes + skip, "\x55\x89\xe5", 3) == 0);
}

static const struct extent *extent_below(const struct follow *follow, uint64_t address)
{
    size_t behind = partition_point(i, follow->extent_count, follow->extents[i].start <= address);

    return behind ? &follow->extents[behind - 1] : NULL;
}

static bool is_inside(const struct follow *follow, uint64_t address)
{
    const struct extent *extent = extent_below(follow, address);

    return extent && address < extent->end;
}

/* Whether a short branch that may stand before it leads there: then it is the part of a function
   that needs a frame. */
static bool is_branched_to(const struct follow *follow, const struct code_range *range,
                           uint64_t address)
{
    const struct extent *extent = extent_below(follow, address);
    uint64_t offset = address - range->address, from = offset > REACH ? offset - REACH : 0;

    if (extent && extent->end > range->address + from)
        from = extent->end < address ? extent->end - range->address : offset;
    for (uint64_t at = from; at + 2 <= offset; at++)
        if ((range->bytes[at] >> 4 == 7 || range->bytes[at] == X86_JMP) &&
            at + 2 + range->bytes[at + 1] == offset)
            return true;
    return false;
}

/* Whether a function is known to end right before it. */
static bool is_next(const struct follow *follow, uint64_t address)
{
    const struct extent *extent = extent_below(follow, address);

    return extent && extent->end == address && extent->is_sure;
}

static bool is_function(const struct follow *follow, uint64_t address)
{
    const struct code_range *range = code_range_at(&follow->pe->code, address);
    uint64_t offset = range ? address - range->address : 0;

    if (!range || is_inside(follow, address) || is_data(follow, address))
        return false;
    if (is_branched_to(follow, range, address))
        return false;
    if (has_frame(range->bytes + offset, range->size - offset))
        return true;
    return offset && range->bytes[offset] != X86_INT3 &&
           (is_next(follow, address) ||
            (address % ALIGNMENT == 0 && range->bytes[offset - 1] == X86_INT3)) &&
           code_is_decodable(&follow->pe->code, address);
}

/* How far a function goes; it is followed anew if another was found to begin in it, or right behind
 * it. */
static struct extent measured(struct follow *follow, const struct extent *before, uint64_t start)
{
    if (!before || before->start != start ||
        address_set_next(&follow->measured, start + 1, before->end + 1) <= before->end)
        return follow_one(follow, start);
    return *before;
}

/* Of all of them, now that it is known where others begin. */
static void measure(struct follow *follow)
{
    const struct code *code = &follow->pe->code;
    const struct code_range *last = &code->ranges[code->range_count - 1];
    struct extent *before = follow->extents;
    struct address_set fresh = follow->fresh;
    uint64_t end = last->address + last->size;
    size_t next = 0, count = follow->extent_count;

    follow->extents = NULL;
    follow->extent_count = follow->extent_room = 0;
    memset(follow->measured.words, 0,
           (follow->measured.size + 63) / 64 * sizeof(*follow->measured.words));
    follow->fresh = follow->measured;
    follow->measured = fresh;
    for (uint64_t at = address_set_next(&follow->starts, 0, end); at < end;
         at = address_set_next(&follow->starts, at + 1, end)) {
        struct extent extent;

        while (next < count && before[next].start < at)
            next++;
        extent = measured(follow, next < count ? &before[next] : NULL, at);
        follow->extents = memory_grow(follow->extents, follow->extent_count, &follow->extent_room,
                                      sizeof(extent));
        follow->extents[follow->extent_count++] = extent;
    }
    free(before);
    follow_waiting(follow);
}

/* Words of data that are, or look like, addresses. */
static void add_words(struct follow *follow)
{
    struct pe_code *pe = follow->pe;

    for (size_t i = 0; i < pe->relocated_count; i++) {
        const uint8_t *bytes = pe_at_rva(pe->image, pe->relocated[i], WORD);

        if (bytes && !code_range_at(&pe->code, pe->image->base + pe->relocated[i]))
            put(&follow->candidates, pe_word(pe->image, bytes));
    }
    for (size_t i = 0; pe->relocated_count == 0 && i < pe->code.data_count; i++)
        for (uint64_t at = 0; at + WORD <= pe->code.data[i].size; at += WORD)
            put(&follow->candidates, pe_word(pe->image, pe->code.data[i].bytes + at));
}

/* What is none may turn out to be one once it is known where the function before it ends. */
static bool take_candidates(struct follow *follow)
{
    size_t count = follow->candidates.count;

    follow->candidates.count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = follow->candidates.items[i];

        if (is_function(follow, address)) {
            address_set_add(&follow->pointed, address);
            add_start(follow, address);
        } else if (code_range_at(&follow->pe->code, address) && !is_inside(follow, address)) {
            follow->candidates.items[follow->candidates.count++] = address;
        }
    }
    return follow->waiting.count;
}

/* What is jumped to from elsewhere is a function or a part of one: pe_stack.h tells which. */
static bool take_jumped(struct follow *follow)
{
    size_t count = follow->jumped.count;

    follow->jumped.count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = follow->jumped.items[i];

        if (address % ALIGNMENT == 0 && !is_inside(follow, address) && !is_data(follow, address) &&
            code_is_decodable(&follow->pe->code, address))
            add_start(follow, address);
    }
    return follow->waiting.count;
}

static bool is_behind_end(const struct code_range *range, uint64_t offset)
{
    const uint8_t *at = range->bytes + offset;

    return offset == 0 || at[-1] == X86_INT3 || at[-1] == X86_NOP || at[-1] == X86_RET ||
           (offset >= 3 && at[-3] == X86_RETN);
}

static bool take_gaps(struct follow *follow)
{
    const struct code *code = &follow->pe->code;

    for (size_t i = 0; i < code->range_count; i++) {
        const struct code_range *range = &code->ranges[i];

        for (uint64_t at = 0; at < range->size; at++) {
            const struct extent *extent = extent_below(follow, range->address + at);

            if (extent && extent->end > range->address + at)
                at = extent->end - range->address;
            if (at < range->size && has_frame(range->bytes + at, range->size - at) &&
                is_behind_end(range, at) && !is_branched_to(follow, range, range->address + at)) {
                address_set_add(&follow->pointed, range->address + at);
                add_start(follow, range->address + at);
            }
        }
    }
    return follow->waiting.count;
}

static void note_relocated(struct follow *follow)
{
    const struct pe_code *pe = follow->pe;

    for (size_t i = 0; i < pe->relocated_count; i++)
        address_set_add(&follow->relocated, pe->image->base + pe->relocated[i]);
}

static uint8_t evidence_of(const struct follow *follow, const struct extent *extent)
{
    return (address_set_has(&follow->called, extent->start) ? EVIDENCE_CALL : 0) |
           (address_set_has(&follow->pointed, extent->start) ? EVIDENCE_POINTER : 0);
}

/* A function that is known by a call alone, and that what stands before goes on to, has no return
   address there then. */
static void settle(struct follow *follow)
{
    struct function_list *functions = &follow->pe->functions;

    for (size_t i = 0; i < follow->extent_count; i++)
        if (!function_list_at(functions, follow->extents[i].start))
            pe_code_add(follow->pe, follow->extents[i].start, 0,
                        (struct function){.evidence = evidence_of(follow, &follow->extents[i])});
    function_list_settle(functions);
    for (size_t i = 0; i < follow->extent_count; i++) {
        const struct extent *extent = &follow->extents[i];
        struct function *function = function_list_at(functions, extent->start);

        if (!function || extent->end == extent->start)
            continue;
        function->end = extent->end;
        function->evidence |= EVIDENCE_EXTENT;
        if (i && extent[-1].flows_on && extent[-1].end == extent->start && !function->reason &&
            !(function->evidence & (EVIDENCE_SYMBOL | EVIDENCE_ENTRY)))
            function->reason = PATCH_INSIDE_FUNCTION;
    }
}

void pe_follow(struct pe_code *pe)
{
    struct follow follow = {.pe = pe};
    bool is_more = true;

    decoder_init(&follow.decoder, pe->code.processor);
    address_set_init(&follow.starts, &pe->code);
    address_set_init(&follow.relocated, &pe->code);
    address_set_init(&follow.fresh, &pe->code);
    address_set_init(&follow.measured, &pe->code);
    address_set_init(&follow.called, &pe->code);
    address_set_init(&follow.pointed, &pe->code);
    note_relocated(&follow);
    function_list_settle(&pe->functions);
    for (size_t i = 0; i < pe->functions.count; i++)
        add_start(&follow, pe->functions.items[i].address);
    follow_waiting(&follow);
    add_words(&follow);
    while (is_more) {
        size_t known;

        do {
            known = follow.extent_count;
            measure(&follow);
        } while (follow.extent_count > known);
        is_more = !pe->map.is_exhausted &&
                  (take_candidates(&follow) || take_jumped(&follow) || take_gaps(&follow));
        follow_waiting(&follow);
    }
    settle(&follow);
    free(follow.starts.words);
    free(follow.relocated.words);
    free(follow.fresh.words);
    free(follow.measured.words);
    free(follow.called.words);
    free(follow.pointed.words);
    free(follow.jumped.items);
    free(follow.waiting.items);
    free(follow.candidates.items);
    free(follow.extents);
}
