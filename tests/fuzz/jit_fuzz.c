/* The grinder's reading of what programs tell about code made at run time. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/symbols/jit_read.h"
#include "tests/fuzz/harness.h"

static void look_up(const struct jit_map *map, uint64_t address)
{
    const struct jit_code *code = jit_map_find(map, address);

    if (!code)
        return;
    if (address - code->start >= code->size || strlen(code->name) >= JIT_NAME_SIZE ||
        code->function >= map->count)
        abort();
}

static void read_lines(const struct jit_map *map)
{
    struct line_table table;
    uint64_t *addresses = malloc((map->count + 1) * sizeof(*addresses));

    if (!addresses)
        abort();
    for (size_t i = 0; i < map->count; i++)
        addresses[i] = map->codes[i].rva + map->codes[i].size / 2;
    addresses[map->count] = map->next_rva;
    line_table_begin(&table, addresses, map->count + 1);
    jit_map_lines(map, &table);
    for (size_t i = 0; i < table.count; i++)
        if (table.lines[i].file && table.lines[i].file >= table.file_count)
            abort();
    line_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bounded_file file = {.fd = memory_file(data, size), .size = size};
    struct failure failure = {""};
    struct jit_map map;

    if (!jit_map_read(&map, &file, &failure)) {
        check_refusal(failure.text);
    } else {
        for (size_t i = 0; i < map.count; i++) {
            look_up(&map, map.codes[i].start);
            look_up(&map, map.codes[i].start + map.codes[i].size);
        }
        read_lines(&map);
        jit_map_free(&map);
    }
    close(file.fd);
    return 0;
}
