#include "service/sampling/image_map.h"

#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/process.h"
#include "service/sampling/call_site.h"
#include "trace/agent_name.h"
#include "trace/trace_format.h"

/* The trace is written by another process, which may say anything. */
#define MOST_IMAGES      4096 /* as many as an agent knows */
#define MOST_CODE        65536
#define MOST_OPEN_BLOCKS 256
#define BLOCKS_AT_ONCE   4096

#define MODULE_UNITS (sizeof(struct trace_module) / TRACE_UNIT)
#define ENDS_A_CALL  (1ull << 63)

struct image_code {
    struct process_code mapped;
    char *path; /* mapped.path */
};

/* Room for one more, if there are to be more. */
static bool make_room(void **array, size_t *room, size_t count, size_t size, size_t most)
{
    size_t larger = *room ? 2 * *room : 16;
    void *grown;

    if (count < *room || count >= most)
        return count < most;
    grown = realloc(*array, larger * size);
    if (!grown)
        return false;
    *array = grown;
    *room = larger;
    return true;
}

/* The first image that ends behind address. */
static size_t first_image(const struct image_map *map, uint64_t address)
{
    size_t low = 0, high = map->image_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (map->images[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct image_range *find_image(const struct image_map *map, uint64_t address)
{
    size_t i = first_image(map, address);

    return i < map->image_count && map->images[i].begin <= address ? &map->images[i] : NULL;
}

/* The first mapping that ends behind address. */
static const struct image_code *first_code(const struct image_map *map, uint64_t address)
{
    size_t low = 0, high = map->code_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (map->code[middle].mapped.end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->code_count ? &map->code[low] : NULL;
}

/* What lay there before is there no more. Returns where an image from begin on belongs. */
static size_t remove_images(struct image_map *map, uint64_t begin, uint64_t end)
{
    size_t first = first_image(map, begin), behind = first;

    while (behind < map->image_count && map->images[behind].begin < end)
        behind++;
    if (behind > first)
        memmove(&map->images[first], &map->images[behind],
                (map->image_count - behind) * sizeof(*map->images));
    map->image_count -= behind - first;
    return first;
}

static void add_image(struct image_map *map, struct image_range image)
{
    size_t at = remove_images(map, image.begin, image.end);

    if (!make_room((void **)&map->images, &map->image_room, map->image_count, sizeof(*map->images),
                   MOST_IMAGES))
        return;
    memmove(&map->images[at + 1], &map->images[at], (map->image_count - at) * sizeof(*map->images));
    map->images[at] = image;
    map->image_count++;
}

static void forget_code(struct image_map *map)
{
    for (size_t i = 0; i < map->code_count; i++)
        free(map->code[i].path);
    free(map->code);
    map->code = NULL;
    map->code_count = map->code_room = 0;
    memset(map->verdicts, 0, sizeof(map->verdicts));
}

static void add_code(void *owner, const struct process_code *mapped)
{
    struct image_map *map = owner;
    char *path = strdup(mapped->path);

    if (!path || !make_room((void **)&map->code, &map->code_room, map->code_count,
                            sizeof(*map->code), MOST_CODE)) {
        free(path);
        return;
    }
    map->code[map->code_count] = (struct image_code){*mapped, path};
    map->code[map->code_count++].mapped.path = path;
}

/* Reads the code that the process has now; that which it had, if it is gone. */
static void read_code(struct image_map *map)
{
    struct image_map now = {0};

    process_each_code(map->pid, add_code, &now);
    if (now.code_count) {
        forget_code(map);
        map->code = now.code;
        map->code_count = now.code_count;
        map->code_room = now.code_room;
    }
    for (size_t i = 0; i < map->image_count; i++) {
        const struct image_code *code = first_code(map, map->images[i].begin);
        map->images[i].has_code = code && code->mapped.begin < map->images[i].end;
    }
}

void image_map_open(struct image_map *map, pid_t pid, int trace, uint64_t capacity)
{
    *map = (struct image_map){.pid = pid,
                              .word_size = process_word_size(pid),
                              .trace = trace,
                              .capacity = capacity,
                              .scanned = TRACE_HEADER_SIZE};
    read_code(map);
}

void image_map_close(struct image_map *map)
{
    forget_code(map);
    free(map->open);
    free(map->images);
    *map = (struct image_map){.trace = -1};
}

/* By the end of its path, which is behind the record at that place in the trace. */
static bool is_agent(const struct image_map *map, const struct trace_module *module, uint64_t at)
{
    char end[32];
    size_t size = module->path_size < sizeof(end) ? module->path_size : sizeof(end);
    const char *slash;

    if (!size ||
        !file_read_at(map->trace, end, size, at + sizeof(*module) + module->path_size - size))
        return false;
    end[size - 1] = 0;
    slash = strrchr(end, '/');
    return slash && agent_name_is(slash + 1);
}

/* Returns whether it is instrumented. */
static bool take_module(struct image_map *map, const struct trace_module *module, uint64_t at)
{
    bool is_instrumented = module->flags & TRACE_MODULE_INSTRUMENTED;
    struct image_range image = {.begin = module->base, .end = module->base + module->size};

    if (image.end <= image.begin)
        return false;
    image.is_agent = !is_instrumented && is_agent(map, module, at);
    if (is_instrumented || image.is_agent)
        add_image(map, image);
    else
        remove_images(map, image.begin, image.end);
    return is_instrumented;
}

/* `used` is stored last: what lies before it is whole. Returns whether one is instrumented. */
static bool take_modules(struct image_map *map, struct open_block *open, uint32_t used)
{
    struct trace_module module;
    bool found = false;

    while (open->done + MODULE_UNITS <= used) {
        uint64_t at = open->at + open->done * TRACE_UNIT;
        if (!file_read_at(map->trace, &module, sizeof(module), at))
            break;
        if (module.size_units < MODULE_UNITS || module.size_units > used - open->done)
            break;
        found |= take_module(map, &module, at);
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
    if (head.used > TRACE_BLOCK_UNITS)
        return false;
    *found |= take_modules(map, open, head.used);
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
    if (used > map->scanned + BLOCKS_AT_ONCE * TRACE_BLOCK_SIZE)
        used = map->scanned + BLOCKS_AT_ONCE * TRACE_BLOCK_SIZE;
    for (; map->scanned + TRACE_BLOCK_SIZE <= used; map->scanned += TRACE_BLOCK_SIZE) {
        struct open_block open = {map->scanned, 1};
        if (look_at(map, &open, &found) &&
            make_room((void **)&map->open, &map->open_room, map->open_count, sizeof(open),
                      MOST_OPEN_BLOCKS))
            map->open[map->open_count++] = open;
    }
    return found;
}

void image_map_follow(struct image_map *map)
{
    bool found = look_at_open(map);

    if (look_at_new(map) || found)
        read_code(map);
}

bool image_map_has(const struct image_map *map, uint64_t address)
{
    return find_image(map, address) != NULL;
}

static bool is_end_of_call(pid_t pid, const struct image_code *code, uint64_t address)
{
    unsigned char bytes[CALL_SITE_BYTES];
    uint64_t distance = address - code->mapped.begin;
    int file;
    bool is_read;

    if (distance < sizeof(bytes))
        return false;
    file = process_open_code(pid, &code->mapped);
    if (file < 0)
        return true;
    is_read =
        file_read_at(file, bytes, sizeof(bytes), code->mapped.offset + distance - sizeof(bytes));
    file_close(file);
    return !is_read || call_site_is_at_end(bytes);
}

static bool is_return_address(struct image_map *map, uint64_t address)
{
    const struct image_range *image = find_image(map, address);
    const struct image_code *code;
    uint64_t *verdict = &map->verdicts[address % IMAGE_MAP_VERDICTS];

    if (!image || image->is_agent)
        return false;
    if (!image->has_code)
        return true;
    if ((*verdict & ~ENDS_A_CALL) == address)
        return *verdict & ENDS_A_CALL;
    code = first_code(map, address);
    *verdict = address;
    if (code && code->mapped.begin <= address && is_end_of_call(map->pid, code, address))
        *verdict |= ENDS_A_CALL;
    return *verdict & ENDS_A_CALL;
}

static uint64_t word_at(const struct image_map *map, const uint64_t *words, size_t index)
{
    uint32_t narrow;

    if (map->word_size == sizeof(*words))
        return words[index];
    memcpy(&narrow, (const char *)words + index * sizeof(narrow), sizeof(narrow));
    return narrow;
}

uint64_t image_map_find_return(struct image_map *map, const uint64_t *words, size_t count)
{
    uint64_t lowest = map->image_count ? map->images[0].begin : 0;
    uint64_t span = map->image_count ? map->images[map->image_count - 1].end - lowest : 0;

    for (size_t i = 0; i < count * sizeof(*words) / map->word_size; i++) {
        uint64_t word = word_at(map, words, i);
        if (word - lowest < span && is_return_address(map, word))
            return word;
    }
    return 0;
}
