#include "rewriter/flow/flow_tables.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/sorted.h"

#define MOST_ENTRIES 65536
#define TORN_ENTRIES 64          /* that are looked at behind a table's end */
#define OTHER_WORK   (16u << 20) /* bytes of other members that are read for one function */

enum entry {
    ENTRY_WRONG, /* no table has it */
    ENTRY_OWN,   /* leads into the function */
    ENTRY_OTHER, /* into another member of the family */
    ENTRY_HOLE,  /* is never looked up */
};

void table_reader_init(struct table_reader *reader, const struct flow_source *source,
                       const struct flow_body *body, const struct function *function)
{
    const struct function_list *functions = source->functions;
    uint64_t end = body->address + body->size;
    size_t next = partition_point(i, functions->count, functions->items[i].address < end);

    *reader = (struct table_reader){
        .source = source, .body = body, .function = function, .behind = end, .work = OTHER_WORK};
    if (next < functions->count)
        reader->behind = functions->items[next].address;
}

void table_reader_free(struct table_reader *reader)
{
    flow_body_free(&reader->other);
    free(reader->data);
}

static int by_address(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

void table_reader_note(struct table_reader *reader, const struct flow_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        bool is_taken = step->kind == STEP_ADDRESS && step->index == NO_REGISTER;
        bool is_table = step->kind == STEP_JUMP_LOAD && step->index != NO_REGISTER;

        if ((!is_taken && !is_table) || step->base != NO_REGISTER)
            continue;
        reader->data = memory_grow(reader->data, reader->data_count, &reader->data_room,
                                   sizeof(*reader->data));
        reader->data[reader->data_count++] = (uint64_t)step->displacement;
    }
    if (reader->data_count)
        qsort(reader->data, reader->data_count, sizeof(*reader->data), by_address);
}

size_t flow_pointer_at(const struct flow_source *source, uint64_t slot)
{
    size_t at = partition_point(i, source->pointer_count, source->pointers[i].slot < slot);

    return at < source->pointer_count && source->pointers[at].slot == slot ? at
                                                                           : source->pointer_count;
}

/* 1 + the index of the function that a member belongs to. */
static size_t family_of(const struct flow_source *source, const struct function *member)
{
    if (member->reason == PATCH_FRAGMENT && member->owner)
        return member->owner;
    return (size_t)(member - source->functions->items) + 1;
}

/* Whether an instruction of another member of the family begins there. */
static bool look_in_family(struct table_reader *reader, uint64_t target)
{
    const struct flow_source *source = reader->source;
    const struct function *member = function_list_owner(source->functions, target);

    if (!member || target >= member->end || member == reader->function ||
        family_of(source, member) != family_of(source, reader->function))
        return false;
    if (reader->other.address != member->address) {
        flow_body_free(&reader->other);
        if (member->end - member->address > reader->work)
            return false;
        reader->work -= member->end - member->address;
        flow_body_read(&reader->other, source, member);
    }
    return reader->other.starts && flow_body_starts(&reader->other, target);
}

static enum entry judge(struct table_reader *reader, uint64_t target)
{
    const struct flow_body *body = reader->body;
    uint64_t padding = body->address + body->padding;

    if (target >= padding && target <= reader->behind && target >= body->address)
        return ENTRY_HOLE;
    if (flow_body_holds(body, target))
        return flow_body_starts(body, target) ? ENTRY_OWN : ENTRY_WRONG;
    if (look_in_family(reader, target))
        return ENTRY_OTHER;
    /* a member that has a name, so it counts as a function */
    return function_list_at(reader->source->functions, target) ? ENTRY_HOLE : ENTRY_WRONG;
}

static const uint8_t *bytes_at(const struct code *code, uint64_t address, size_t *room)
{
    const uint8_t *bytes = code_data_at(code, address, room);

    return bytes ? bytes : code_at(code, address, room);
}

static void add_target(struct table *table, const struct table_reader *reader, uint64_t target)
{
    table->targets = memory_grow(table->targets, table->target_count, &table->target_room,
                                 sizeof(*table->targets));
    table->targets[table->target_count++] = (uint32_t)(target - reader->body->address);
}

static bool read_distance(const struct table *table, const struct table_reader *reader,
                          uint32_t entry, uint64_t *target)
{
    size_t room;
    const uint8_t *bytes =
        bytes_at(reader->source->code, table->address + (uint64_t)entry * 4, &room);
    int32_t distance;

    if (!bytes || room < sizeof(distance))
        return false;
    memcpy(&distance, bytes, sizeof(distance));
    *target = table->origin + (uint64_t)(int64_t)distance;
    return true;
}

/* Whether entries behind one that fits nowhere lead into the function again: then it is not clear
   where the table ends. */
static bool look_for_tear(const struct table *table, struct table_reader *reader, uint32_t most)
{
    uint64_t target;

    for (uint32_t i = table->count + 1; i < most && i < table->count + TORN_ENTRIES; i++)
        if (read_distance(table, reader, i, &target) && judge(reader, target) == ENTRY_OWN)
            return true;
    return false;
}

/* Distances: the first that fits nowhere is not the table's any more. */
static void read_distances(struct table *table, struct table_reader *reader, uint32_t most)
{
    uint64_t target;

    for (; table->count < most && read_distance(table, reader, table->count, &target);
         table->count++) {
        enum entry entry = judge(reader, target);

        if (entry == ENTRY_WRONG)
            break;
        if (entry == ENTRY_OWN)
            add_target(table, reader, target);
        table->leads_out |= entry == ENTRY_OTHER;
    }
    most = most < table->before_next ? most : table->before_next;
    table->is_torn = look_for_tear(table, reader, most);
}

/* Addresses. Where a comparison limits the index, a word that is no address of code is not looked
   up; else it is behind the table. */
static void read_addresses(struct table *table, struct table_reader *reader, uint32_t most)
{
    const struct flow_source *source = reader->source;
    size_t at =
        partition_point(i, source->pointer_count, source->pointers[i].slot < table->address);

    for (; table->count < most; table->count++) {
        uint64_t slot = table->address + (uint64_t)table->count * 8;
        bool is_address;
        enum entry entry = ENTRY_HOLE;

        while (at < source->pointer_count && source->pointers[at].slot < slot)
            at++;
        is_address = at < source->pointer_count && source->pointers[at].slot == slot;
        if (is_address)
            entry = judge(reader, source->pointers[at].target);
        if (entry == ENTRY_WRONG ||
            (!is_address && (table->limit == NO_LIMIT || table->is_by_type)))
            break;
        if (entry == ENTRY_OWN)
            add_target(table, reader, source->pointers[at].target);
        table->leads_out |= entry == ENTRY_OTHER;
    }
}

static int by_offset(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static void settle(struct table *table)
{
    size_t kept = 0;

    if (table->target_count)
        qsort(table->targets, table->target_count, sizeof(*table->targets), by_offset);
    for (size_t i = 0; i < table->target_count; i++)
        if (kept == 0 || table->targets[kept - 1] != table->targets[i])
            table->targets[kept++] = table->targets[i];
    table->target_count = kept;
}

/*
 * How many entries there may be before the address of other data that is taken where there are
 * indirect jumps: most often another table. No compiler takes that of a table's middle.
 */
static uint32_t entries_before_next(const struct table *table, const struct table_reader *reader)
{
    const struct code_map *map = reader->source->map;
    size_t next = partition_point(i, map->table_count, map->tables[i].address <= table->address);
    size_t own = partition_point(i, reader->data_count, reader->data[i] <= table->address);
    uint64_t end = UINT64_MAX, count;

    if (next < map->table_count)
        end = map->tables[next].address;
    if (own < reader->data_count && reader->data[own] < end)
        end = reader->data[own];
    count = (end - table->address) / table->entry_size;
    return count < MOST_ENTRIES ? (uint32_t)count : MOST_ENTRIES;
}

void table_read(struct table *table, struct table_reader *reader)
{
    uint32_t most = MOST_ENTRIES;

    table->before_next = entries_before_next(table, reader);
    if (table->limit == NO_LIMIT || table->is_by_type)
        most = table->before_next;
    if (table->limit < most)
        most = table->limit + 1;
    table->is_read = true;
    table->count = 0;
    table->target_count = 0;
    table->leads_out = table->is_torn = false;
    if (table->entry_size == 4)
        read_distances(table, reader, most);
    else
        read_addresses(table, reader, most);
    settle(table);
    table->is_complete = table->limit != NO_LIMIT && table->count == (uint64_t)table->limit + 1;
}

void table_free(struct table *table)
{
    free(table->targets);
    *table = (struct table){0};
}
