#include "rewriter/copy/copy_blocks.h"

#include <stdlib.h>

#include "rewriter/code/decode_plain.h"
#include "trace/image_manifest.h"

/* A block ends there. One with a system call is told of by a mark of its own: it may be long until
   what follows runs. */
static bool ends_block(const struct instruction *at, const uint8_t *bytes)
{
    return at->flow != FLOW_NEXT || (at->length == 2 && bytes[0] == 0x0f && bytes[1] == 0x05);
}

/* int3, or a nop of any length. */
static bool is_padding(const uint8_t *bytes, size_t length)
{
    while (length > 1 && (*bytes == 0x66 || *bytes == 0x2e)) {
        bytes++;
        length--;
    }
    return *bytes == 0x90 || *bytes == 0xcc || (length > 1 && bytes[0] == 0x0f && bytes[1] == 0x1f);
}

/* While leaders are looked for: those that more than one way leads to. */
struct search {
    struct copy_plan *plan;
    const struct flow_source *source;
    ZydisDecoder decoder;
    struct address_set shared;
};

static void add_leader(struct search *search, uint64_t address)
{
    if (address_set_has(&search->plan->leaders, address))
        address_set_add(&search->shared, address);
    address_set_add(&search->plan->leaders, address);
}

/* No branch leads there, or not it alone. */
static void add_leader_of_others(struct search *search, uint64_t address)
{
    address_set_add(&search->plan->leaders, address);
    address_set_add(&search->shared, address);
}

/* The instruction at at->address, if it may branch: of plain ones the length alone. False: none. */
static bool next_instruction(const struct search *search, const struct function *function,
                             const uint8_t *bytes, struct instruction *at)
{
    const uint8_t *here = bytes + (at->address - function->address);
    size_t left = function->end - at->address;
    size_t plain = left >= PLAIN_ROOM ? plain_length(here, 0) : 0;
    uint64_t address = at->address;

    if (!plain)
        return instruction_decode(&search->decoder, address, here, left, at);
    *at = (struct instruction){.address = address, .length = (uint8_t)plain, .flow = FLOW_NEXT};
    return true;
}

static bool is_branch(const struct instruction *at)
{
    return at->flow == FLOW_JUMP || at->flow == FLOW_CONDITION || at->flow == FLOW_LOOP;
}

static void find_leaders(struct search *search, const struct function *function)
{
    struct instruction at = {.address = function->address};
    size_t room;
    const uint8_t *bytes = code_at(search->source->code, function->address, &room);

    for (; at.address < function->end; at.address += at.length) {
        if (!next_instruction(search, function, bytes, &at))
            return;
        if (is_branch(&at) &&
            !at.skips_lock) /* that leads to what follows, and nothing comes between */
            add_leader(search, at.target);
    }
}

/* Nothing but this branch leads there, in the same function. */
static bool is_only_way(const struct search *search, const struct function *function,
                        const struct instruction *at)
{
    return at->target > function->address && at->target < function->end &&
           !address_set_has(&search->shared, at->target);
}

static bool is_told(const struct search *search, const struct function *function,
                    const struct instruction *at)
{
    if (at->skips_lock || !is_only_way(search, function, at))
        return false;
    return at->flow == FLOW_JUMP ||
           (at->flow == FLOW_CONDITION && at->target != at->address + at->length &&
            !address_set_has(&search->plan->leaders, at->address + at->length));
}

/* Leaders that the instruction before goes on to are shared. */
static void find_shared(struct search *search, const struct function *function)
{
    struct instruction at = {.address = function->address};
    bool goes_on = true;
    size_t room;
    const uint8_t *bytes = code_at(search->source->code, function->address, &room);

    for (; at.address < function->end; at.address += at.length) {
        if (goes_on && address_set_has(&search->plan->leaders, at.address))
            address_set_add(&search->shared, at.address);
        if (!next_instruction(search, function, bytes, &at))
            return;
        goes_on = at.flow != FLOW_JUMP && at.flow != FLOW_END && at.flow != FLOW_INDIRECT_JUMP;
    }
}

static void find_told(struct search *search, const struct function *function)
{
    struct instruction at = {.address = function->address};
    uint64_t block = at.address;
    size_t room;
    const uint8_t *bytes = code_at(search->source->code, function->address, &room);

    for (; at.address < function->end; at.address += at.length) {
        if (address_set_has(&search->plan->leaders, at.address))
            block = at.address;
        if (!next_instruction(search, function, bytes, &at))
            return;
        if (ends_block(&at, bytes + (at.address - function->address))) {
            if (is_branch(&at) && is_told(search, function, &at))
                address_set_add(&search->plan->told, block);
            block = at.address + at.length;
        }
    }
}

static void find_in_members(struct search *search,
                            void (*find)(struct search *search, const struct function *function))
{
    for (size_t i = 0; i < search->plan->count; i++)
        if (copy_plan_has(search->plan, i))
            find(search, &search->source->functions->items[i]);
}

void copy_blocks_find(struct copy_plan *plan, const struct flow_source *source)
{
    struct search search = {.plan = plan, .source = source};

    decoder_init(&search.decoder);
    address_set_init(&plan->leaders, source->code);
    address_set_init(&plan->told, source->code);
    address_set_init(&search.shared, source->code);
    find_in_members(&search, find_leaders);
    for (size_t i = 0; i < plan->word_count; i++)
        add_leader_of_others(&search, plan->words[i].target);
    for (size_t i = 0; i < plan->trampoline_count; i++)
        add_leader_of_others(&search, plan->trampolines[i].address);
    for (size_t i = 0; i < source->pad_count; i++)
        add_leader_of_others(&search, source->pads[i]);
    find_in_members(&search, find_shared);
    find_in_members(&search, find_told);
    free(search.shared.words);
}

static struct copy_block *last_block(const struct copy_blocks *blocks)
{
    return &blocks->writer->set->blocks[blocks->writer->set->block_count - 1];
}

void copy_blocks_end(struct copy_blocks *blocks, uint64_t address)
{
    if (blocks->is_open)
        last_block(blocks)->size =
            blocks->is_fill ? 0 : (uint32_t)(address - last_block(blocks)->original);
    blocks->is_open = false;
}

static void begin(struct copy_blocks *blocks, uint64_t address)
{
    struct copy_writer *writer = blocks->writer;
    uint64_t from = copy_here(writer);
    size_t number = copy_set_add_block(writer->set, address);

    blocks->is_open = true;
    if (address_set_has(&blocks->plan->told, address))
        return;
    /* The operand counts from the instruction's end, one byte behind it. */
    copy_put_with_word(writer, "\xc6\x05", 2,
                       IMAGE_HOOK_PAGE + image_cover_place((uint32_t)number) - 1);
    copy_put(writer, "\x01", 1);
    copy_set_add_stretch(writer->set, from, copy_here(writer));
}

void copy_blocks_before(struct copy_blocks *blocks, uint64_t address)
{
    bool is_leader = address_set_has(&blocks->plan->leaders, address);

    if (!blocks->plan->marks_blocks || blocks->skips_lock || (!blocks->begins && !is_leader))
        return;
    copy_blocks_end(blocks, address);
    begin(blocks, address);
    blocks->is_fill = !is_leader;
    blocks->begins = false;
}

void copy_blocks_behind(struct copy_blocks *blocks, const struct instruction *at,
                        const uint8_t *bytes)
{
    blocks->is_fill = blocks->is_fill && is_padding(bytes, at->length);
    blocks->begins = ends_block(at, bytes);
    if (blocks->begins && blocks->is_open &&
        address_set_has(&blocks->plan->told, last_block(blocks)->original)) {
        last_block(blocks)->told_by = at->target;
        last_block(blocks)->or_next = at->flow == FLOW_CONDITION;
    }
    blocks->skips_lock = at->skips_lock;
}
