#include "rewriter/flow/flow.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/flow/flow_walk.h"
#include "support/memory.h"
#include "support/sorted.h"

const char *flow_doubt_word(enum flow_doubt doubt)
{
    static const char *const words[FLOW_DOUBTS] = {
        [FLOW_CERTAIN] = "certain",
        [FLOW_UNDECODABLE] = "undecodable",
        [FLOW_MISALIGNED] = "misaligned-branch",
        [FLOW_OPEN_END] = "open-end",
        [FLOW_UNKNOWN_JUMP] = "unknown-jump",
        [FLOW_LABEL] = "label",
        [FLOW_ENTERED] = "entered",
        [FLOW_UNMOVABLE] = "unmovable",
        [FLOW_FLAGS] = "flags",
        [FLOW_STACK] = "stack",
        [FLOW_FRAMES] = "frames",
        [FLOW_NO_ROOM] = "no-room",
        [FLOW_TIMED] = "timed",
        [FLOW_FAMILY] = "family",
    };

    return (unsigned)doubt < FLOW_DOUBTS ? words[doubt] : "?";
}

/* Offsets in a function, ascending and each once after offsets_settle. */
struct offsets {
    uint32_t *items;
    size_t count, room;
};

static void offsets_add(struct offsets *offsets, uint64_t offset)
{
    offsets->items =
        memory_grow(offsets->items, offsets->count, &offsets->room, sizeof(*offsets->items));
    offsets->items[offsets->count++] = (uint32_t)offset;
}

static int by_offset(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static void offsets_settle(struct offsets *offsets)
{
    size_t kept = 0;

    if (offsets->count)
        qsort(offsets->items, offsets->count, sizeof(*offsets->items), by_offset);
    for (size_t i = 0; i < offsets->count; i++)
        if (kept == 0 || offsets->items[kept - 1] != offsets->items[i])
            offsets->items[kept++] = offsets->items[i];
    offsets->count = kept;
}

static bool offsets_hold(const struct offsets *offsets, uint32_t offset)
{
    size_t at = partition_point(i, offsets->count, offsets->items[i] < offset);

    return at < offsets->count && offsets->items[at] == offset;
}

/* What is being found out about a function. */
struct reading {
    const struct flow_source *source;
    const struct function *function;
    struct flow_body body;
    struct offsets pads;   /* where it is entered, but at its first byte and by its own branches */
    struct offsets words;  /* to which words of data lead */
    struct offsets labels; /* these, and of which code takes the address */
    struct flow_walk walk;
};

/* Landing pads, and where other members of the family jump to. */
static enum flow_doubt find_pads(struct reading *reading)
{
    const struct flow_source *source = reading->source;
    const struct code_map *map = source->map;
    const struct flow_body *body = &reading->body;
    uint64_t end = body->address + body->size;
    size_t pad = partition_point(i, source->pad_count, source->pads[i] < body->address);

    for (; pad < source->pad_count && source->pads[pad] < end; pad++) {
        if (!flow_body_starts(body, source->pads[pad]))
            return FLOW_MISALIGNED;
        offsets_add(&reading->pads, source->pads[pad] - body->address);
    }
    for (size_t i = code_map_branches_from(map, body->address + 1);
         i < map->branch_count && map->branches[i].target < end; i++)
        if (!flow_body_holds(body, map->branches[i].source) &&
            flow_body_starts(body, map->branches[i].target))
            offsets_add(&reading->pads, map->branches[i].target - body->address);
    offsets_settle(&reading->pads);
    return FLOW_CERTAIN;
}

/* Numbers that only look like addresses seldom lead to where an instruction begins. */
static enum flow_doubt add_label(struct reading *reading, struct offsets *labels, uint64_t address)
{
    if (flow_body_starts(&reading->body, address))
        offsets_add(labels, address - reading->body.address);
    else if (!reading->source->code->has_absolute_code)
        return FLOW_LABEL;
    return FLOW_CERTAIN;
}

/* Whether a word of data or code has the address of the first byte. */
static bool is_pointed_at(const struct reading *reading)
{
    const struct flow_source *source = reading->source;
    uint64_t address = reading->body.address;
    size_t at = partition_point(i, source->pointer_count,
                                source->pointers[source->by_target[i]].target < address);

    return address_set_has(&source->map->pointers, address) ||
           (at < source->pointer_count &&
            source->pointers[source->by_target[at]].target == address);
}

/* The first of by_target that leads behind the function's first byte. */
static size_t first_word(const struct reading *reading)
{
    const struct flow_source *source = reading->source;

    return partition_point(i, source->pointer_count,
                           source->pointers[source->by_target[i]].target <= reading->body.address);
}

static enum flow_doubt find_labels(struct reading *reading)
{
    const struct flow_source *source = reading->source;
    const struct address_set *taken = &source->map->pointers;
    const struct flow_body *body = &reading->body;
    uint64_t end = body->address + body->size, target;
    enum flow_doubt doubt = FLOW_CERTAIN;

    for (size_t i = first_word(reading); i < source->pointer_count && !doubt; i++) {
        target = source->pointers[source->by_target[i]].target;
        if (target >= end)
            break;
        doubt = add_label(reading, &reading->words, target);
    }
    offsets_settle(&reading->words);
    for (size_t i = 0; i < reading->words.count; i++)
        offsets_add(&reading->labels, reading->words.items[i]);
    for (size_t i = 0; i < body->taken_count && !doubt; i++)
        doubt = add_label(reading, &reading->labels, body->address + body->taken[i]);
    for (uint64_t at = address_set_next(taken, body->address + 1, end); at < end && !doubt;
         at = address_set_next(taken, at + 1, end))
        doubt = add_label(reading, &reading->labels, at);
    offsets_settle(&reading->labels);
    return doubt;
}

/* ---- what comes of it */

static bool is_in_table(const struct flow *flow, uint64_t slot)
{
    for (size_t i = 0; i < flow->table_count; i++) {
        const struct flow_table *table = &flow->tables[i];

        if (table->entry_size == 8 && slot - table->address < table->count * 8ull &&
            (slot - table->address) % 8 == 0)
            return true;
    }
    return false;
}

static bool is_origin(const struct flow *flow, uint64_t address)
{
    for (size_t i = 0; i < flow->table_count; i++)
        if (flow->tables[i].entry_size == 4 && flow->tables[i].origin == address)
            return true;
    return false;
}

static void add_flow_label(struct flow *flow, uint64_t address)
{
    flow->labels =
        memory_grow(flow->labels, flow->label_count, &flow->label_room, sizeof(*flow->labels));
    flow->labels[flow->label_count++] = address;
}

/* No patch leads from there to the copy. */
static void add_first_label(struct flow *flow, uint64_t address)
{
    add_flow_label(flow, address);
    memmove(flow->labels + 1, flow->labels, (flow->label_count - 1) * sizeof(*flow->labels));
    flow->labels[0] = address;
}

static int by_address(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static void settle_labels(struct flow *flow)
{
    size_t kept = 0;

    if (flow->label_count)
        qsort(flow->labels, flow->label_count, sizeof(*flow->labels), by_address);
    for (size_t i = 0; i < flow->label_count; i++)
        if (kept == 0 || flow->labels[kept - 1] != flow->labels[i])
            flow->labels[kept++] = flow->labels[i];
    flow->label_count = kept;
}

/* Adds labels that tables do not account for. */
static void add_labels(struct flow *flow, const struct reading *reading)
{
    const struct flow_source *source = reading->source;
    const struct flow_body *body = &reading->body;

    if (reading->words.count)
        for (size_t i = first_word(reading); i < source->pointer_count; i++) {
            const struct flow_pointer *pointer = &source->pointers[source->by_target[i]];

            if (!flow_body_holds(body, pointer->target))
                break;
            if (flow_body_starts(body, pointer->target) && !is_in_table(flow, pointer->slot))
                add_flow_label(flow, pointer->target);
        }
    for (size_t i = 0; i < reading->labels.count; i++) {
        uint32_t offset = reading->labels.items[i];

        if (!offsets_hold(&reading->words, offset) && !is_origin(flow, body->address + offset))
            add_flow_label(flow, body->address + offset);
    }
    settle_labels(flow);
}

/*
 * A limit is proof only if no other table begins below it: it may be one that a comparison far away
 * has set, while the compiler knew better and left its own comparison out. Then the table is
 * shorter, and another one's entries follow, which now and then lead to an instruction, too.
 */
static void add_table(struct flow *flow, const struct reading *reading, const struct jump *jump)
{
    const struct table *from = &reading->walk.tables[jump->table];
    bool is_absolute = reading->source->code->has_absolute_code;
    struct flow_table table = {.jump = reading->body.address + jump->offset,
                               .address = from->address,
                               .origin = from->origin,
                               .count = from->count,
                               .entry_size = from->entry_size};

    if (from->entry_size == 8)
        table.is_bounded = !is_absolute || from->is_complete;
    else
        table.is_bounded =
            from->is_complete && !from->is_by_type && from->count <= from->before_next;
    flow->tables = memory_grow(flow->tables, flow->table_count, &flow->table_room, sizeof(table));
    flow->tables[flow->table_count++] = table;
}

static int by_table(const void *left, const void *right)
{
    const struct flow_table *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->jump < b->jump ? -1 : a->jump > b->jump;
}

static uint64_t table_end(const struct flow_table *table)
{
    return table->address + (uint64_t)table->count * table->entry_size;
}

static bool is_read_alike(const struct flow_table *a, const struct flow_table *b)
{
    return a->entry_size == b->entry_size && a->origin == b->origin &&
           (a->address - b->address) % a->entry_size == 0;
}

/* No two proven tables may say something else of the same bytes. */
static void check_overlaps(struct flow *flow)
{
    struct flow_table *last = NULL; /* the proven one that ends last */

    for (size_t i = 0; i < flow->table_count; i++) {
        struct flow_table *table = &flow->tables[i];

        if (!table->is_bounded)
            continue;
        if (last && table->address < table_end(last) && !is_read_alike(last, table))
            last->is_bounded = table->is_bounded = false;
        if (!last || table_end(table) > table_end(last))
            last = table;
    }
}

/* What was read as far as it fits ends where a table that is proven begins. */
static void cut_at_bounded(struct flow *flow)
{
    const struct flow_table *next = NULL; /* that is proven */

    for (size_t i = flow->table_count; i-- > 0;) {
        struct flow_table *table = &flow->tables[i];

        if (table->is_bounded)
            next = table;
        else if (next && next->address < table_end(table) && next->address > table->address &&
                 !is_read_alike(next, table))
            table->count = (uint32_t)((next->address - table->address) / table->entry_size);
    }
}

/* Each table once, with the first jump by it. */
static void add_tables(struct flow *flow, const struct reading *reading)
{
    const struct flow_walk *walk = &reading->walk;
    bool *is_added = memory_zeroed(walk->table_count + 1, sizeof(*is_added));

    for (size_t i = 0; i < walk->jump_count; i++)
        if (walk->jumps[i].kind == JUMP_TABLE && !is_added[walk->jumps[i].table]) {
            is_added[walk->jumps[i].table] = true;
            add_table(flow, reading, &walk->jumps[i]);
        }
    free(is_added);
    if (flow->table_count)
        qsort(flow->tables, flow->table_count, sizeof(*flow->tables), by_table);
    check_overlaps(flow);
    cut_at_bounded(flow);
}

/* Whether a jump may lead to a label; FLOW_UNKNOWN_JUMP if one may lead anywhere. */
static enum flow_doubt judge_jumps(const struct reading *reading, bool *may_reach_labels)
{
    const struct flow_walk *walk = &reading->walk;

    for (size_t i = 0; i < walk->jump_count; i++) {
        const struct jump *jump = &walk->jumps[i];

        if (jump->kind == JUMP_UNKNOWN || (jump->kind == JUMP_POINTER && !reading->labels.count))
            return FLOW_UNKNOWN_JUMP;
        *may_reach_labels |= jump->kind == JUMP_POINTER;
        *may_reach_labels |= jump->kind == JUMP_TABLE && walk->tables[jump->table].entry_size == 8;
    }
    return FLOW_CERTAIN;
}

static bool is_any_unknown(const struct flow_walk *walk)
{
    for (size_t i = 0; i < walk->jump_count; i++)
        if (walk->jumps[i].kind == JUMP_UNKNOWN)
            return true;
    return false;
}

static enum flow_doubt follow_jumps(struct reading *reading)
{
    struct flow_entries entries = {.pads = reading->pads.items,
                                   .pad_count = reading->pads.count,
                                   .labels = reading->labels.items,
                                   .label_count = reading->labels.count};
    struct table_reader reader;
    bool is_done;

    table_reader_init(&reader, reading->source, &reading->body, reading->function);
    is_done = flow_walk(&reading->walk, &reader, &entries, FLOW_ALL_CALLS_RETURN);
    table_reader_free(&reader);
    if (is_done && is_any_unknown(&reading->walk)) {
        flow_walk_free(&reading->walk);
        table_reader_init(&reader, reading->source, &reading->body, reading->function);
        is_done = flow_walk(&reading->walk, &reader, &entries, FLOW_SOME_NEVER_RETURN);
        table_reader_free(&reader);
    }
    return is_done ? FLOW_CERTAIN : FLOW_UNKNOWN_JUMP;
}

static enum flow_doubt read_all(struct flow *flow, struct reading *reading)
{
    bool may_reach_labels = reading->source->code->has_absolute_code;
    enum flow_doubt doubt = flow_body_read(&reading->body, reading->source, reading->function);

    if (!doubt)
        doubt = find_pads(reading);
    if (!doubt)
        doubt = find_labels(reading);
    if (!doubt && reading->body.has_jump)
        doubt = follow_jumps(reading);
    if (!doubt)
        doubt = judge_jumps(reading, &may_reach_labels);
    if (doubt)
        return doubt;
    add_tables(flow, reading);
    add_labels(flow, reading);
    if (flow->label_count && !may_reach_labels)
        return FLOW_LABEL;
    if (reading->function->reason == PATCH_FRAGMENT && is_pointed_at(reading))
        add_first_label(flow, reading->body.address);
    return FLOW_CERTAIN;
}

void flow_read(struct flow *flow, const struct flow_source *source, const struct function *function)
{
    struct reading reading = {.source = source, .function = function};
    enum flow_doubt doubt;

    *flow = (struct flow){0};
    doubt = read_all(flow, &reading);
    if (doubt)
        flow_free(flow);
    flow->doubt = doubt;
    flow_walk_free(&reading.walk);
    flow_body_free(&reading.body);
    free(reading.pads.items);
    free(reading.words.items);
    free(reading.labels.items);
}

void flow_free(struct flow *flow)
{
    free(flow->tables);
    free(flow->labels);
    *flow = (struct flow){0};
}

static uint64_t distance_target(const struct code *code, const struct flow_table *table,
                                uint64_t address)
{
    size_t room;
    const uint8_t *bytes = code_data_at(code, address, &room);
    int32_t distance;

    if (!bytes)
        bytes = code_at(code, address, &room);
    if (!bytes || room < sizeof(distance))
        return 0;
    memcpy(&distance, bytes, sizeof(distance));
    return table->origin + (uint64_t)(int64_t)distance;
}

uint64_t flow_table_target(const struct flow_source *source, const struct flow_table *table,
                           uint32_t entry)
{
    uint64_t address = table->address + (uint64_t)entry * table->entry_size;
    size_t at;

    if (entry >= table->count)
        return 0;
    if (table->entry_size == 4)
        return distance_target(source->code, table, address);
    at = flow_pointer_at(source, address);
    return at < source->pointer_count ? source->pointers[at].target : 0;
}
