#include "service/image_map.h"

#include <stdlib.h>
#include <string.h>

#include "service/file.h"
#include "service/process.h"
#include "trace/trace_format.h"

#define MOST_RANGES      65536
#define MOST_OPEN_BLOCKS 4096
#define MODULE_UNITS     (sizeof(struct trace_module) / TRACE_UNIT)

/* Doubles an array that is full, up to most. */
static bool make_room(void *array, size_t *room, size_t count, size_t size, size_t most)
{
    size_t larger = *room ? 2 * *room : 16;
    void *grown;

    if (count < *room)
        return true;
    grown = count < most ? realloc(*(void **)array, larger * size) : NULL;
    if (!grown)
        return false;
    *(void **)array = grown;
    *room = larger;
    return true;
}

/* The first range that ends behind address. */
static size_t first_behind(const struct address_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has(const struct address_ranges *ranges, uint64_t address)
{
    size_t i = first_behind(ranges, address);

    return i < ranges->count && ranges->ranges[i].begin <= address;
}

/* Removes those that overlap with range: what they were of is there no more. Returns where it
 * belongs. */
static size_t clear(struct address_ranges *ranges, struct address_range range)
{
    size_t first = first_behind(ranges, range.begin), behind = first;

    while (behind < ranges->count && ranges->ranges[behind].begin < range.end)
        behind++;
    if (behind > first)
        memmove(&ranges->ranges[first], &ranges->ranges[behind],
                (ranges->count - behind) * sizeof(*ranges->ranges));
    ranges->count -= behind - first;
    return first;
}

static void add(struct address_ranges *ranges, struct address_range range)
{
    size_t at = clear(ranges, range);

    if (!make_room(&ranges->ranges, &ranges->room, ranges->count, sizeof(range), MOST_RANGES))
        return;
    memmove(&ranges->ranges[at + 1], &ranges->ranges[at],
            (ranges->count - at) * sizeof(*ranges->ranges));
    ranges->ranges[at] = range;
    ranges->count++;
}

static void add_code(void *owner, uint64_t begin, uint64_t end)
{
    add(owner, (struct address_range){begin, end});
}

/* As the process is now; as it was, if it is gone. */
static void read_code(struct image_map *map)
{
    struct address_ranges code = {0};

    process_each_code(map->pid, add_code, &code);
    if (code.count) {
        free(map->code.ranges);
        map->code = code;
    }
}

void image_map_open(struct image_map *map, pid_t pid, int trace, uint64_t capacity)
{
    *map = (struct image_map){
        .pid = pid, .trace = trace, .capacity = capacity, .scanned = TRACE_HEADER_SIZE};
    read_code(map);
}

void image_map_close(struct image_map *map)
{
    free(map->open);
    free(map->images.ranges);
    free(map->code.ranges);
    *map = (struct image_map){.trace = -1};
}

/* Returns whether it is instrumented. */
static bool take_module(struct image_map *map, const struct trace_module *module)
{
    struct address_range range = {module->base, module->base + module->size};

    if (range.end <= range.begin)
        return false;
    if (!(module->flags & TRACE_MODULE_INSTRUMENTED)) {
        clear(&map->images, range);
        return false;
    }
    add(&map->images, range);
    return true;
}

/* Units `used` is stored last: what lies before it is whole. */
static bool take_modules(struct image_map *map, struct open_block *open, uint32_t used)
{
    struct trace_module module;
    bool found = false;

    while (open->done + MODULE_UNITS <= used) {
        if (!file_read_at(map->trace, &module, sizeof(module), open->at + open->done * TRACE_UNIT))
            break;
        if (module.size_units < MODULE_UNITS || module.size_units > used - open->done)
            break;
        found |= take_module(map, &module);
        open->done += module.size_units;
    }
    return found;
}

/* Returns whether the block may get modules yet. */
static bool look_at(struct image_map *map, struct open_block *open, bool *found)
{
    struct trace_block head;

    if (!file_read_at(map->trace, &head, sizeof(head), open->at))
        return true;
    if (head.kind != TRACE_BLOCK_MODULES)
        return !head.kind;
    *found |=
        take_modules(map, open, head.used < TRACE_BLOCK_UNITS ? head.used : TRACE_BLOCK_UNITS);
    return open->done + MODULE_UNITS < TRACE_BLOCK_UNITS; /* and a unit for a path */
}

static bool look_at_open(struct image_map *map)
{
    size_t kept = 0;
    bool found = false;

    for (size_t i = 0; i < map->open_count; i++) {
        struct open_block open = map->open[i];
        if (look_at(map, &open, &found))
            map->open[kept++] = open;
    }
    map->open_count = kept;
    return found;
}

static bool look_at_new(struct image_map *map)
{
    uint64_t used = 0;
    bool found = false;

    if (!file_read_at(map->trace, &used, sizeof(used), offsetof(struct trace_header, used)))
        return false;
    if (used > map->capacity)
        used = map->capacity;
    for (; map->scanned + TRACE_BLOCK_SIZE <= used; map->scanned += TRACE_BLOCK_SIZE) {
        struct open_block open = {map->scanned, 1};
        if (look_at(map, &open, &found) &&
            make_room(&map->open, &map->open_room, map->open_count, sizeof(open), MOST_OPEN_BLOCKS))
            map->open[map->open_count++] = open;
    }
    return found;
}

/* An image of which no code is known: it came and the process went. */
static void guess_code(struct image_map *map)
{
    for (size_t i = 0; i < map->images.count; i++) {
        struct address_range image = map->images.ranges[i];
        size_t code = first_behind(&map->code, image.begin);
        if (code == map->code.count || map->code.ranges[code].begin >= image.end)
            add(&map->code, image);
    }
}

void image_map_follow(struct image_map *map)
{
    bool found = look_at_open(map);

    if (!(look_at_new(map) || found))
        return;
    read_code(map);
    guess_code(map);
}

bool image_map_has(const struct image_map *map, uint64_t address)
{
    return has(&map->images, address);
}

uint64_t image_map_find_code(const struct image_map *map, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (has(&map->images, words[i]) && has(&map->code, words[i]))
            return words[i];
    }
    return 0;
}
