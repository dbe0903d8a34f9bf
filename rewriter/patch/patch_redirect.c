#include "rewriter/patch/patch_redirect.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/decode.h"
#include "support/memory.h"

#define FIELD_SIZE 4 /* of a distance, or of an address as a number */
#define HIT_LIMIT  (1u << 20)

/* Bytes that would be a distance to a candidate. */
struct hit {
    uint64_t field, target;
};

struct search {
    struct patch_plan *plan;
    struct patch_ways *ways;
    struct address_set candidates, found;
    struct hit *hits; /* ascending within a range */
    size_t hit_count, hit_room;
    ZydisDecoder decoder;
    uint64_t decoded;      /* from where on, */
    struct instruction at; /* and as far as this one */
};

void patch_ways_init(struct patch_ways *ways, const struct code *code)
{
    *ways = (struct patch_ways){0};
    address_set_init(&ways->known, code);
    address_set_init(&ways->barred, code);
}

void patch_ways_free(struct patch_ways *ways)
{
    free(ways->known.words);
    free(ways->barred.words);
}

static bool is_candidate(const struct patch_ways *ways, const struct function *function)
{
    switch (function->reason) {
    case PATCH_TOO_SHORT:
    case PATCH_BRANCH_TARGET:
    case PATCH_LOOP_AT_ENTRY:
    case PATCH_CALL_IN_PATCH:
    case PATCH_UNMOVABLE:
        return !address_set_has(&ways->barred, function->address);
    default:
        return false;
    }
}

static bool collect_candidates(struct search *search)
{
    const struct function_list *functions = search->plan->functions;
    bool is_any = false;

    for (size_t i = 0; i < functions->count; i++)
        if (is_candidate(search->ways, &functions->items[i])) {
            address_set_add(&search->candidates, functions->items[i].address);
            is_any = true;
        }
    return is_any;
}

static uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* False if there are too many to be true. */
static bool collect_hits(struct search *search, const struct code_range *range)
{
    for (uint64_t i = 0; i + FIELD_SIZE <= range->size; i++) {
        uint64_t field = range->address + i;
        uint64_t target = field + FIELD_SIZE + (uint64_t)(int32_t)word_at(range->bytes + i);

        if (!address_set_has(&search->candidates, target))
            continue;
        if (search->hit_count >= HIT_LIMIT)
            return false;
        search->hits =
            memory_grow(search->hits, search->hit_count, &search->hit_room, sizeof(*search->hits));
        search->hits[search->hit_count++] = (struct hit){field, target};
    }
    return true;
}

static void bar(struct search *search, uint64_t address)
{
    address_set_add(&search->ways->barred, address);
}

static bool is_one_byte(const uint8_t *bytes, size_t size)
{
    size_t same = 0;

    while (same < size && bytes[same] == bytes[0])
        same++;
    return same == size;
}

/* Whether code, or nothing if `is_over` at the beginning, ends there with no more than padding. */
static bool ends_in_padding(struct search *search, uint64_t address, const uint8_t *bytes,
                            size_t size, bool is_over)
{
    struct instruction at;

    for (size_t offset = 0; offset < size; offset += at.length) {
        if (!instruction_decode(&search->decoder, address + offset, bytes + offset, size - offset,
                                &at))
            return false;
        is_over = at.flow == FLOW_END || at.flow == FLOW_JUMP || at.flow == FLOW_INDIRECT_JUMP ||
                  (is_over && instruction_is_padding(&at));
    }
    return is_over;
}

/* Whether what precedes a function is surely nothing that those who have its address read. */
static bool is_alone(struct search *search, const struct function *function)
{
    const struct function *before =
        function_list_owner(search->plan->functions, function->address - 1);
    const struct code_range *range = code_range_at(search->plan->code, function->address);
    uint64_t start = range->address;
    bool is_over = true;

    if (before && before->end > start) {
        if (before->end >= function->address && before->evidence & EVIDENCE_EXTENT)
            return true;
        is_over = before->evidence & EVIDENCE_EXTENT;
        start = is_over ? before->end : before->address;
    }
    return (is_over &&
            is_one_byte(range->bytes + (start - range->address), function->address - start)) ||
           ends_in_padding(search, start, range->bytes + (start - range->address),
                           function->address - start, is_over);
}

/* Signatures, hashes, tables and the like in front of a function; there are none before a stub. */
static void bar_preceded(struct search *search)
{
    const struct function_list *functions = search->plan->functions;

    for (size_t i = 0; i < functions->count; i++)
        if (address_set_has(&search->candidates, functions->items[i].address) &&
            !is_alone(search, &functions->items[i]))
            bar(search, functions->items[i].address);
}

/* Addresses as numbers, which count from `origin`. */
static void bar_numbers(struct search *search, const struct code_range *ranges, size_t count,
                        uint32_t origin)
{
    for (size_t i = 0; i < count; i++)
        for (uint64_t j = 0; j + FIELD_SIZE <= ranges[i].size; j++) {
            uint32_t address = origin + word_at(ranges[i].bytes + j);

            if (address_set_has(&search->candidates, address) &&
                ranges[i].address + j - search->ways->symbols >= search->ways->symbols_size)
                bar(search, address);
        }
}

/* Decodes from `start` on up to the instruction of which an address is part; false if none is. */
static bool decode_to(struct search *search, uint64_t start, uint64_t end, uint64_t address)
{
    if (search->decoded != start || search->at.address > address)
        search->at = (struct instruction){.address = start};
    search->decoded = start;
    while (search->at.address + search->at.length <= address) {
        uint64_t next = search->at.address + search->at.length;
        size_t size;
        const uint8_t *bytes = code_at(search->plan->code, next, &size);

        if (next >= end || !bytes)
            return false;
        size = end - next < size ? end - next : size;
        if (!instruction_decode(&search->decoder, next, bytes, size, &search->at)) {
            search->decoded = UINT64_MAX;
            return false;
        }
    }
    return true;
}

static bool is_field(const struct instruction *at, uint64_t field)
{
    return at->address + at->length == field + FIELD_SIZE;
}

static void add_redirect(struct search *search, const struct hit *hit)
{
    struct patch_plan *plan = search->plan;
    const struct function *function = function_list_at(plan->functions, hit->target);

    plan->redirects = memory_grow(plan->redirects, plan->redirect_count, &plan->redirect_room,
                                  sizeof(*plan->redirects));
    plan->redirects[plan->redirect_count++] = (struct redirect){
        .instruction = search->at.address,
        .field = hit->field,
        .function = (uint32_t)(function - plan->functions->items),
    };
    address_set_add(&search->found, hit->target);
}

/* Between functions, where padding has bytes that look like a distance, too. */
static void resolve_in_gap(struct search *search, const struct function *before,
                           const struct hit *hit)
{
    const struct code_range *range = code_range_at(search->plan->code, hit->field);
    uint64_t start = range->address, end = range->address + range->size;

    if (before && before->end > start)
        start = before->end;
    if (!decode_to(search, start, end, hit->field) || search->at.target == hit->target ||
        (search->at.is_rip_based && search->at.operand == hit->target))
        bar(search, hit->target);
}

/* What a hit is: a reference, which is sent elsewhere or bars its target, or a coincidence. */
static void resolve(struct search *search, const struct hit *hit)
{
    const struct function *owner = function_list_owner(search->plan->functions, hit->field);
    const struct function *target = function_list_at(search->plan->functions, hit->target);
    const struct instruction *at = &search->at;

    if (!owner || hit->field >= owner->end) {
        resolve_in_gap(search, owner, hit);
    } else if (!decode_to(search, owner->address, owner->end, hit->field)) {
        bar(search, hit->target);
    } else if (at->is_near && is_field(at, hit->field) && at->target == hit->target) {
        if (at->flow == FLOW_CALL || !patch_plan_is_own(search->plan, target, at->address))
            add_redirect(search, hit);
    } else if (at->is_rip_based && at->operand == hit->target) {
        if (at->is_lea && is_field(at, hit->field))
            add_redirect(search, hit);
        else
            bar(search, hit->target);
    }
}

/* Branches that have no room for the distance to a stub, and entries of what may be jump tables. */
static void bar_branches(struct search *search)
{
    const struct code_map *map = search->plan->map;

    for (size_t i = 0; i < map->branch_count; i++) {
        const struct branch *branch = &map->branches[i];

        if (address_set_has(&search->candidates, branch->target) && !branch->is_near &&
            !patch_plan_is_own(search->plan,
                               function_list_at(search->plan->functions, branch->target),
                               branch->source))
            bar(search, branch->target);
    }
}

static void settle(struct search *search)
{
    struct patch_plan *plan = search->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->functions->count; i++) {
        struct function *function = &plan->functions->items[i];

        if (!is_candidate(search->ways, function) ||
            !(address_set_has(&search->found, function->address) ||
              address_set_has(&search->ways->known, function->address)))
            continue;
        function->reason = PATCH_REDIRECTED;
        function->patch_offset = function->displaced = function->patch_size = 0;
        function->hole = 0;
    }
    for (size_t i = 0; i < plan->redirect_count; i++)
        if (plan->functions->items[plan->redirects[i].function].reason == PATCH_REDIRECTED)
            plan->redirects[kept++] = plan->redirects[i];
    plan->redirect_count = kept;
}

static bool search_all(struct search *search)
{
    const struct code *code = search->plan->code;

    for (size_t i = 0; i < code->range_count; i++)
        if (!collect_hits(search, &code->ranges[i]))
            return false;
    for (size_t i = 0; i < search->hit_count; i++)
        resolve(search, &search->hits[i]);
    bar_branches(search);
    bar_preceded(search);
    if (code->has_absolute_code) {
        bar_numbers(search, code->ranges, code->range_count, 0);
        bar_numbers(search, code->data, code->data_count, 0);
    }
    if (code->got) {
        bar_numbers(search, code->ranges, code->range_count, (uint32_t)code->got);
        bar_numbers(search, code->data, code->data_count, (uint32_t)code->got);
    }
    return true;
}

void patch_redirect(struct patch_plan *plan, struct patch_ways *ways)
{
    struct search search = {.plan = plan, .ways = ways};

    search.decoded = UINT64_MAX;
    decoder_init(&search.decoder, plan->code->processor);
    address_set_init(&search.candidates, plan->code);
    address_set_init(&search.found, plan->code);
    if (collect_candidates(&search) && search_all(&search))
        settle(&search);
    else
        plan->redirect_count = 0;
    free(search.hits);
    free(search.candidates.words);
    free(search.found.words);
}

const struct function *patch_redirect_displacer(const struct patch_plan *plan,
                                                const struct redirect *redirect)
{
    const struct function *function = function_list_below(plan->functions, redirect->instruction);

    if (!function || !patch_reason_is_hooked(function->reason) || function->is_import ||
        redirect->instruction - function->address - function->patch_offset >= function->displaced)
        return NULL;
    return function;
}
