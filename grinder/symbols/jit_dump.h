/* The jitdump, one of the two files that tell about code made at run time: jit_dump.c draws it. */
#ifndef UMBRA_GRINDER_JIT_DUMP_H
#define UMBRA_GRINDER_JIT_DUMP_H

#include "grinder/symbols/jit_map.h"
#include "support/failure.h"

int jit_dump_is_one(const uint8_t *bytes, size_t size);
/* Adds what it tells to the map. False, with a text without the path. */
bool jit_dump_read(struct jit_map *map, const uint8_t *bytes, size_t size,
                   struct failure *failure);

#endif
