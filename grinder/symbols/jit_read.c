#include "grinder/symbols/jit_read.h"

#include <stdlib.h>

#include "grinder/symbols/jit_dump.h"
#include "grinder/symbols/jit_perf_map.h"

#define LARGEST (1ull << 30) /* bytes of a file */

static bool read_any(struct jit_map *map, const char *bytes, uint64_t size, struct failure *failure)
{
    if (jit_dump_is_one((const uint8_t *)bytes, size))
        return jit_dump_read(map, (const uint8_t *)bytes, size, failure);
    jit_perf_map_read(map, bytes, size);
    if (!map->count && size)
        return fail_because(failure, "expected lines START SIZE NAME or a jitdump, found neither");
    return true;
}

bool jit_map_read(struct jit_map *map, const struct bounded_file *file, struct failure *failure)
{
    bool is_read;
    char *bytes;

    *map = (struct jit_map){0};
    if (file->size > LARGEST)
        return fail_because(failure, "is larger than 1 GiB, which no map of code is");
    bytes = bounded_file_copy(file, 0, file->size);
    if (!bytes)
        return fail_because(failure, "cannot be read");
    is_read = read_any(map, bytes, file->size, failure);
    free(bytes);
    if (is_read)
        jit_map_settle(map);
    else
        jit_map_free(map);
    return is_read;
}
