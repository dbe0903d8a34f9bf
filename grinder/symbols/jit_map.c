#include "grinder/symbols/jit_map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/sorted.h"
#include "support/utf8.h"

#define MOST_CODES (4u << 20)

static char *copy_text(const char *text, size_t size)
{
    char *copy;

    if (size >= JIT_NAME_SIZE)
        size = JIT_NAME_SIZE - 1;
    copy = memory_zeroed(size + 1, 1);
    memcpy(copy, text, size);
    utf8_sanitise(copy);
    return copy;
}

/* Null, and counted, if there can be no such code. */
static struct jit_code *append(struct jit_map *map, uint64_t start, uint64_t size)
{
    if (!size || start + size < start || size >= UINT32_MAX - map->next_rva ||
        map->count >= MOST_CODES) {
        map->bad++;
        return NULL;
    }
    map->codes = memory_grow(map->codes, map->count, &map->room, sizeof(*map->codes));
    map->codes[map->count] = (struct jit_code){.start = start, .size = size, .rva = map->next_rva};
    map->next_rva += (uint32_t)size;
    return &map->codes[map->count++];
}

struct jit_code *jit_map_add(struct jit_map *map, uint64_t start, uint64_t size, const char *name,
                             size_t name_size)
{
    struct jit_code *code = append(map, start, size);

    if (code)
        code->name = name_size ? copy_text(name, name_size) : copy_text("?", 1);
    return code;
}

struct jit_code *jit_map_add_again(struct jit_map *map, uint64_t start, uint64_t size,
                                   size_t before)
{
    struct jit_code *code = append(map, start, size);

    if (!code)
        return NULL;
    code->name = map->codes[before].name;
    code->lines = map->codes[before].lines;
    code->line_count = map->codes[before].line_count;
    code->is_again = true;
    return code;
}

uint32_t jit_map_file(struct jit_map *map, const char *name, size_t size)
{
    char *copy = copy_text(name, size);

    if (map->file_count > 1 && !strcmp(map->files[map->file_count - 1], copy)) {
        free(copy);
        return (uint32_t)map->file_count - 1;
    }
    if (!map->file_count) {
        map->files = memory_grow(map->files, 0, &map->file_room, sizeof(*map->files));
        map->files[map->file_count++] = NULL;
    }
    map->files = memory_grow(map->files, map->file_count, &map->file_room, sizeof(*map->files));
    map->files[map->file_count] = copy;
    return (uint32_t)map->file_count++;
}

static int compare_addresses(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void sort_bounds(struct jit_map *map)
{
    size_t kept = 0;

    map->bounds = memory_zeroed(2 * map->count + 1, sizeof(*map->bounds));
    for (size_t i = 0; i < map->count; i++) {
        map->bounds[2 * i] = map->codes[i].start;
        map->bounds[2 * i + 1] = map->codes[i].start + map->codes[i].size;
    }
    qsort(map->bounds, 2 * map->count, sizeof(*map->bounds), compare_addresses);
    for (size_t i = 0; i < 2 * map->count; i++)
        if (!kept || map->bounds[kept - 1] != map->bounds[i])
            map->bounds[kept++] = map->bounds[i];
    map->bound_count = kept;
}

/* The last bound that is not above the address; there is one. */
static size_t piece_of(const struct jit_map *map, uint64_t address)
{
    return partition_point(i, map->bound_count, map->bounds[i] <= address) - 1;
}

/* The first piece from this one on that has no owner; what was passed is passed faster next time.
 */
static size_t first_free(size_t *next, size_t piece)
{
    size_t found = piece;

    while (next[found] != found)
        found = next[found];
    while (next[piece] != found) {
        size_t passed = piece;
        piece = next[piece];
        next[passed] = found;
    }
    return found;
}

/* From the last code to the first: each takes what is left of its range. */
static void settle_owners(struct jit_map *map)
{
    size_t *next = memory_zeroed(map->bound_count + 1, sizeof(*next));

    map->owners = memory_zeroed(map->bound_count + 1, sizeof(*map->owners));
    for (size_t i = 0; i <= map->bound_count; i++)
        next[i] = i;
    for (size_t i = map->count; i-- > 0;) {
        size_t end = piece_of(map, map->codes[i].start + map->codes[i].size);
        size_t piece = first_free(next, piece_of(map, map->codes[i].start));
        while (piece < end) {
            map->owners[piece] = (uint32_t)i + 1;
            next[piece] = piece + 1;
            piece = first_free(next, piece + 1);
        }
    }
    free(next);
}

static const struct jit_map *sorted_map;

static int compare_names(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(sorted_map->codes[a].name, sorted_map->codes[b].name);

    return order ? order : a < b ? -1 : a > b;
}

static void settle_functions(struct jit_map *map)
{
    uint32_t *order = memory_zeroed(map->count + 1, sizeof(*order));

    for (size_t i = 0; i < map->count; i++)
        order[i] = (uint32_t)i;
    sorted_map = map;
    qsort(order, map->count, sizeof(*order), compare_names);
    for (size_t i = 0; i < map->count; i++) {
        struct jit_code *code = &map->codes[order[i]];
        const struct jit_code *before = i ? &map->codes[order[i - 1]] : NULL;
        code->function = before && !strcmp(before->name, code->name) ? before->function : order[i];
    }
    free(order);
}

void jit_map_settle(struct jit_map *map)
{
    sort_bounds(map);
    settle_owners(map);
    settle_functions(map);
}

void jit_map_free(struct jit_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        if (map->codes[i].is_again)
            continue;
        free(map->codes[i].name);
        free(map->codes[i].lines);
    }
    for (size_t i = 1; i < map->file_count; i++)
        free(map->files[i]);
    free(map->codes);
    free(map->files);
    free(map->bounds);
    free(map->owners);
    *map = (struct jit_map){0};
}

const struct jit_code *jit_map_find(const struct jit_map *map, uint64_t address)
{
    uint32_t owner;

    if (!map->bound_count || address < map->bounds[0])
        return NULL;
    owner = map->owners[piece_of(map, address)];
    return owner ? &map->codes[owner - 1] : NULL;
}

/* The code that has the rva; null if none has. Codes are in the order of their rvas. */
static const struct jit_code *code_of_rva(const struct jit_map *map, uint64_t rva)
{
    size_t found = partition_point(i, map->count, map->codes[i].rva + map->codes[i].size <= rva);

    return found < map->count && map->codes[found].rva <= rva ? &map->codes[found] : NULL;
}

/* The last line that begins at the offset or before; of a perf map's, only the function's own. */
static struct line line_at(const struct jit_code *code, uint64_t offset)
{
    struct line found = {0};

    if (code->line_count == 1 && offset != code->lines[0].offset)
        return found;
    for (size_t i = 0; i < code->line_count && code->lines[i].offset <= offset; i++)
        found = (struct line){code->lines[i].file, code->lines[i].line};
    return found;
}

void jit_map_lines(const struct jit_map *map, struct line_table *table)
{
    size_t room = 0;

    for (size_t i = 0; i < map->file_count; i++) {
        table->files = memory_grow(table->files, i, &room, sizeof(*table->files));
        table->files[i] = i ? memory_copy_string(map->files[i]) : NULL;
    }
    table->file_count = map->file_count;
    for (size_t i = 0; i < table->count; i++) {
        const struct jit_code *code = code_of_rva(map, table->addresses[i]);
        if (code)
            table->lines[i] = line_at(code, table->addresses[i] - code->rva);
    }
}
