/* The perf map, one of the two files that tell about code made at run time. */
#ifndef UMBRA_GRINDER_JIT_PERF_MAP_H
#define UMBRA_GRINDER_JIT_PERF_MAP_H

#include "grinder/symbols/jit_map.h"

/* Adds what it tells to the map; lines that tell nothing are counted as bad. */
void jit_perf_map_read(struct jit_map *map, const char *text, size_t size);

#endif
