#include "rewriter/code/code.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/sorted.h"

/* A unit is about a nanosecond; a byte swept is CODE_BYTE_WORK of them. */
#define WORK_BASE (64u << 20)
#define WORK_RATE (4 * CODE_BYTE_WORK)

static const struct code_range *range_at(const struct code_range *ranges, size_t count,
                                         uint64_t address)
{
    size_t behind = partition_point(i, count, ranges[i].address <= address);
    const struct code_range *range = behind ? &ranges[behind - 1] : NULL;

    return range && address - range->address < range->size ? range : NULL;
}

static const uint8_t *bytes_at(const struct code_range *range, uint64_t address, size_t *size)
{
    if (!range)
        return NULL;
    *size = range->size - (address - range->address);
    return range->bytes + (address - range->address);
}

void code_add_range(struct code *code, struct code_range range, bool is_executable)
{
    if (is_executable) {
        code->ranges =
            memory_grow(code->ranges, code->range_count, &code->range_room, sizeof(range));
        code->ranges[code->range_count++] = range;
    } else {
        code->data = memory_grow(code->data, code->data_count, &code->data_room, sizeof(range));
        code->data[code->data_count++] = range;
    }
}

void code_add_function(const struct code *code, struct function_list *list, uint64_t address,
                       uint64_t size, struct function function)
{
    const struct code_range *range = code_range_at(code, address);
    uint64_t room;

    if (!range)
        return;
    room = range->size - (address - range->address);
    function.address = address;
    function.end = address + (size && size < room ? size : room);
    if (size)
        function.evidence |= EVIDENCE_EXTENT;
    function_list_add(list, function);
}

const struct code_range *code_range_at(const struct code *code, uint64_t address)
{
    return range_at(code->ranges, code->range_count, address);
}

const uint8_t *code_at(const struct code *code, uint64_t address, size_t *size)
{
    return bytes_at(code_range_at(code, address), address, size);
}

const uint8_t *code_data_at(const struct code *code, uint64_t address, size_t *size)
{
    return bytes_at(range_at(code->data, code->data_count, address), address, size);
}

uint64_t code_pointer_at(const struct code *code, const uint8_t *bytes)
{
    uint64_t pointer = 0;

    memcpy(&pointer, bytes, code->processor->pointer_size);
    return pointer;
}

void address_set_init(struct address_set *set, const struct code *code)
{
    const struct code_range *last = &code->ranges[code->range_count - 1];

    *set = (struct address_set){.base = code->ranges[0].address};
    set->size = last->address + last->size - set->base;
    set->words = memory_zeroed(set->size / 64 + 1, sizeof(*set->words));
}

uint64_t address_set_next(const struct address_set *set, uint64_t address, uint64_t end)
{
    uint64_t at = address > set->base ? address - set->base : 0, word, limit = end - set->base;

    if (end <= set->base)
        return end;
    limit = limit < set->size ? limit : set->size;
    for (uint64_t i = at / 64; at < limit; at = ++i * 64) {
        word = set->words[i] >> at % 64;
        if (word) {
            at += (uint64_t)__builtin_ctzll(word);
            return at < limit ? set->base + at : end;
        }
    }
    return end;
}

void code_map_init(struct code_map *map, const struct code *code)
{
    *map = (struct code_map){0};
    address_set_init(&map->calls, code);
    address_set_init(&map->jumps, code);
    address_set_init(&map->pointers, code);
    address_set_init(&map->landmarks, code);
    address_set_init(&map->inline_tables, code);
    map->work_left = WORK_BASE;
    for (size_t i = 0; i < code->range_count; i++)
        map->work_left += code->ranges[i].size * WORK_RATE;
}

bool code_map_spend_work(struct code_map *map, uint64_t work)
{
    if (work > map->work_left)
        map->is_exhausted = true;
    else
        map->work_left -= work;
    return !map->is_exhausted;
}

void code_map_free(struct code_map *map)
{
    free(map->calls.words);
    free(map->jumps.words);
    free(map->pointers.words);
    free(map->landmarks.words);
    free(map->swept);
    free(map->inline_tables.words);
    free(map->branches);
    free(map->tables);
    free(map->slot_uses);
    free(map->relocated);
    *map = (struct code_map){0};
}

void code_map_add(struct code_map *map, struct branch branch)
{
    map->branches =
        memory_grow(map->branches, map->branch_count, &map->branch_room, sizeof(branch));
    map->branches[map->branch_count++] = branch;
}

void code_map_add_table(struct code_map *map, struct code_table table)
{
    map->tables = memory_grow(map->tables, map->table_count, &map->table_room, sizeof(table));
    map->tables[map->table_count++] = table;
}

void code_map_add_slot_use(struct code_map *map, struct slot_use use)
{
    map->slot_uses =
        memory_grow(map->slot_uses, map->slot_use_count, &map->slot_use_room, sizeof(use));
    map->slot_uses[map->slot_use_count++] = use;
}

void code_map_add_relocated(struct code_map *map, const struct code *code, uint64_t address)
{
    if (!code_range_at(code, address))
        return;
    map->relocated = memory_grow(map->relocated, map->relocated_count, &map->relocated_room,
                                 sizeof(*map->relocated));
    map->relocated[map->relocated_count++] = address;
}

size_t code_map_relocated_from(const struct code_map *map, uint64_t address, uint64_t word_size)
{
    return partition_point(i, map->relocated_count, map->relocated[i] + word_size <= address);
}

bool code_map_is_relocated(const struct code_map *map, uint64_t address, uint64_t end,
                           uint64_t word_size)
{
    size_t next = code_map_relocated_from(map, address, word_size);

    return next < map->relocated_count && map->relocated[next] < end;
}

const struct swept *code_map_swept_at(const struct code_map *map, uint64_t address)
{
    size_t behind = partition_point(i, map->swept_before, map->swept[i].start <= address);
    const struct swept *swept = behind ? &map->swept[behind - 1] : NULL;

    return swept && address < swept->stop ? swept : NULL;
}

void code_map_add_swept(struct code_map *map, struct swept swept)
{
    map->swept = memory_grow(map->swept, map->swept_count, &map->swept_room, sizeof(swept));
    map->swept[map->swept_count++] = swept;
}

static int by_start(const void *left, const void *right)
{
    const struct swept *a = left, *b = right;

    return a->start < b->start ? -1 : a->start > b->start;
}

void code_map_end_round(struct code_map *map)
{
    if (map->swept_count > map->swept_before)
        qsort(map->swept, map->swept_count, sizeof(*map->swept), by_start);
    map->swept_before = map->swept_count;
}

void code_map_end_sweeps(struct code_map *map)
{
    free(map->landmarks.words);
    free(map->swept);
    map->landmarks = (struct address_set){0};
    map->swept = NULL;
    map->swept_count = map->swept_before = map->swept_room = 0;
}

static int by_target(const void *left, const void *right)
{
    const struct branch *a = left, *b = right;

    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->kind - b->kind;
}

static int by_opcode(const void *left, const void *right)
{
    const struct slot_use *a = left, *b = right;

    if (a->opcode != b->opcode)
        return a->opcode < b->opcode ? -1 : 1;
    return a->instruction < b->instruction ? -1 : a->instruction > b->instruction;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void settle_branches(struct code_map *map)
{
    size_t kept = 0;

    if (map->branch_count)
        qsort(map->branches, map->branch_count, sizeof(*map->branches), by_target);
    for (size_t i = 0; i < map->branch_count; i++)
        if (kept == 0 || by_target(&map->branches[kept - 1], &map->branches[i]) != 0)
            map->branches[kept++] = map->branches[i];
    map->branch_count = kept;
}

void code_map_settle(struct code_map *map)
{
    size_t kept = 0;

    settle_branches(map);
    if (map->relocated_count)
        qsort(map->relocated, map->relocated_count, sizeof(*map->relocated), by_number);
    if (map->slot_use_count)
        qsort(map->slot_uses, map->slot_use_count, sizeof(*map->slot_uses), by_opcode);
    for (size_t i = 0; i < map->slot_use_count; i++)
        if (kept == 0 || map->slot_uses[kept - 1].opcode != map->slot_uses[i].opcode)
            map->slot_uses[kept++] = map->slot_uses[i];
    map->slot_use_count = kept;
}

size_t code_map_branches_from(const struct code_map *map, uint64_t target)
{
    return partition_point(i, map->branch_count, map->branches[i].target < target);
}
