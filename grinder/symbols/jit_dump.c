/*
 * Linux perf's jitdump: tools/perf/Documentation/jitdump-specification.txt. Little endian.
 *
 *      0        4         8            12         16     20    24          32      40
 *      +--------+---------+------------+----------+------+-----+-----------+-------+
 *      | "DTiJ" | version | total_size | elf_mach | pad  | pid | timestamp | flags |  the header
 *      +--------+---------+------------+----------+------+-----+-----------+-------+
 *
 *      +0    +4           +8          +16
 *      | id  | total_size | timestamp | …                                              a record
 *
 *      LOAD        0   | pid tid | vma | code_addr | code_size | code_index | name 0 | code |
 *      MOVE        1   | pid tid | vma | old_addr | new_addr | code_size | code_index |
 *      DEBUG_INFO  2   | code_addr | nr_entry | entries |        about the LOAD that follows it
 *                        entry: | addr | line 4 | discriminator 4 | file 0 |
 *                        a file of one byte ff: that of the entry before
 *      CLOSE       3   the end
 *
 * V8 adds 64 to each entry's addr: the size of the ELF header that `perf inject` puts before the
 * code. What has no line within its first 64 bytes is taken for V8's.
 */
#include "grinder/symbols/jit_dump.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

#define MAGIC       0x4a695444u
#define HEADER_SIZE 40
#define PREFIX_SIZE 16
#define V8_SHIFT    64

enum { LOAD = 0, MOVE = 1, DEBUG_INFO = 2, CLOSE = 3 };

/* What is left of a record. */
struct cursor {
    const uint8_t *at;
    size_t left;
    bool is_short; /* something was not there any more; it read as 0 */
};

struct dump {
    struct jit_map *map;
    struct pair_index ids; /* (code_index, 0) */
    uint32_t *code_of_id;  /* + 1, the latest */
    size_t id_room;
    /* What the DEBUG_INFO says that waits for its LOAD. */
    uint64_t lines_of;
    struct jit_line *lines;
    size_t line_count;
};

static uint64_t take(struct cursor *cursor, size_t size)
{
    uint64_t value = 0;

    if (cursor->left < size) {
        cursor->is_short = true;
        return 0;
    }
    memcpy(&value, cursor->at, size);
    cursor->at += size;
    cursor->left -= size;
    return value;
}

/* Text up to its zero, without it. */
static const char *take_text(struct cursor *cursor, size_t *size)
{
    const char *text = (const char *)cursor->at;
    const uint8_t *end = cursor->left ? memchr(cursor->at, 0, cursor->left) : NULL;

    *size = 0;
    if (!end) {
        cursor->is_short = true;
        return "";
    }
    *size = (size_t)(end - cursor->at);
    cursor->left -= *size + 1;
    cursor->at = end + 1;
    return text;
}

/* 1 + the latest code with that code_index, to be read and set; 0 if there is none. */
static uint32_t *code_of_id(struct dump *dump, uint64_t id)
{
    size_t before = dump->ids.count;
    uint32_t number = pair_index_add(&dump->ids, id, 0);

    if (number == before) {
        dump->code_of_id =
            memory_grow(dump->code_of_id, number, &dump->id_room, sizeof(*dump->code_of_id));
        dump->code_of_id[number] = 0;
    }
    return &dump->code_of_id[number];
}

static int compare_lines(const void *left, const void *right)
{
    const struct jit_line *a = left, *b = right;

    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void forget_lines(struct dump *dump)
{
    free(dump->lines);
    dump->lines = NULL;
    dump->line_count = 0;
}

static void settle_lines(struct dump *dump)
{
    if (!dump->line_count)
        return;
    qsort(dump->lines, dump->line_count, sizeof(*dump->lines), compare_lines);
    if (dump->lines[0].offset < V8_SHIFT)
        return;
    for (size_t i = 0; i < dump->line_count; i++)
        dump->lines[i].offset -= V8_SHIFT;
}

static void read_debug_info(struct dump *dump, struct cursor *cursor)
{
    uint64_t count;
    uint32_t file = 0;
    size_t room = 0;

    forget_lines(dump);
    dump->lines_of = take(cursor, 8);
    count = take(cursor, 8);
    for (uint64_t i = 0; i < count && !cursor->is_short; i++) {
        struct jit_line line = {.offset = take(cursor, 8) - dump->lines_of};
        const char *name;
        size_t size;
        line.line = (uint32_t)take(cursor, 4);
        take(cursor, 4);
        name = take_text(cursor, &size);
        if (cursor->is_short)
            break;
        if (size != 1 || name[0] != '\xff')
            file = jit_map_file(dump->map, name, size);
        line.file = file;
        dump->lines = memory_grow(dump->lines, dump->line_count, &room, sizeof(*dump->lines));
        dump->lines[dump->line_count++] = line;
    }
    settle_lines(dump);
}

static void read_load(struct dump *dump, struct cursor *cursor)
{
    uint64_t address, size, id;
    struct jit_code *code;
    const char *name;
    size_t name_size;

    take(cursor, 8);
    take(cursor, 8);
    address = take(cursor, 8);
    size = take(cursor, 8);
    id = take(cursor, 8);
    name = take_text(cursor, &name_size);
    if (cursor->is_short)
        return;
    code = jit_map_add(dump->map, address, size, name, name_size);
    if (!code)
        return;
    *code_of_id(dump, id) = (uint32_t)dump->map->count;
    if (dump->line_count && dump->lines_of == address) {
        code->lines = dump->lines;
        code->line_count = dump->line_count;
        dump->lines = NULL;
        dump->line_count = 0;
    }
}

/* Calls made before the move have the old addresses, so both are kept. */
static void read_move(struct dump *dump, struct cursor *cursor)
{
    uint64_t from, to, size, id;
    uint32_t *code;

    take(cursor, 8);
    take(cursor, 8);
    from = take(cursor, 8);
    to = take(cursor, 8);
    size = take(cursor, 8);
    id = take(cursor, 8);
    if (cursor->is_short)
        return;
    code = code_of_id(dump, id);
    if (!*code || dump->map->codes[*code - 1].start != from)
        dump->map->bad++;
    else if (jit_map_add_again(dump->map, to, size, *code - 1))
        *code = (uint32_t)dump->map->count;
}

/* False at the end. */
static bool read_record(struct dump *dump, struct cursor *file)
{
    struct cursor record = *file;
    uint32_t id = (uint32_t)take(&record, 4), size = (uint32_t)take(&record, 4);

    take(&record, 8);
    if (record.is_short)
        return false;
    if (size < PREFIX_SIZE || size > file->left) {
        dump->map->bad++; /* cut off, or no record: where the next one begins is not known */
        return false;
    }
    record.left = size - PREFIX_SIZE;
    file->at += size;
    file->left -= size;
    if (id == LOAD)
        read_load(dump, &record);
    else if (id == MOVE)
        read_move(dump, &record);
    else if (id == DEBUG_INFO)
        read_debug_info(dump, &record);
    dump->map->bad += record.is_short;
    return id != CLOSE;
}

int jit_dump_is_one(const uint8_t *bytes, size_t size)
{
    uint32_t magic = 0;

    if (size >= sizeof(magic))
        memcpy(&magic, bytes, sizeof(magic));
    return magic == MAGIC || magic == __builtin_bswap32(MAGIC);
}

bool jit_dump_read(struct jit_map *map, const uint8_t *bytes, size_t size, struct failure *failure)
{
    struct cursor file = {bytes, size, false};
    struct dump dump = {.map = map};
    uint64_t magic = take(&file, 4), version = take(&file, 4), header = take(&file, 4);

    take(&file, 8);
    map->pid = (uint32_t)take(&file, 4);
    if (magic != MAGIC)
        return fail_because(
            failure, "is a jitdump of a machine with big-endian numbers; expected one of x86-64");
    if (version != 1 || header < HEADER_SIZE || header > size)
        return fail_because(failure,
                            "expected a jitdump of version 1 and its whole header, found another");
    file = (struct cursor){bytes + header, size - header, false};
    while (read_record(&dump, &file))
        continue;
    forget_lines(&dump);
    free(dump.code_of_id);
    pair_index_free(&dump.ids);
    return true;
}
