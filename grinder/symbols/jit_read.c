#include "grinder/symbols/jit_read.h"

#include <stdlib.h>

#include "grinder/symbols/jit_dump.h"
#include "grinder/symbols/jit_perf_map.h"

#define LARGEST (1ull << 30) /* bytes of a file */

int jit_map_read(struct jit_map *map, const struct bounded_file *file, const char **why)
{
    int result = -1;
    char *bytes;

    *map = (struct jit_map){0};
    if (file->size > LARGEST) {
        *why = "is larger than 1 GiB, which no map of code is";
        return -1;
    }
    bytes = bounded_file_copy(file, 0, file->size);
    if (!bytes) {
        *why = "cannot be read";
        return -1;
    }
    if (!jit_dump_is_one((const uint8_t *)bytes, file->size)) {
        jit_perf_map_read(map, bytes, file->size);
        *why = "expected lines START SIZE NAME or a jitdump, found neither";
        result = map->count || !file->size ? 0 : -1;
    } else {
        result = jit_dump_read(map, (const uint8_t *)bytes, file->size, why);
    }
    free(bytes);
    if (result < 0) {
        jit_map_free(map);
        return -1;
    }
    jit_map_settle(map);
    return 0;
}
