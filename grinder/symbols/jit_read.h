/* Reading a file that tells about code made at run time, whichever of the two kinds it is. */
#ifndef UMBRA_GRINDER_JIT_READ_H
#define UMBRA_GRINDER_JIT_READ_H

#include "grinder/symbols/jit_map.h"
#include "support/bounded_file.h"

/* Reads a map or a jitdump. 0, or -1 with *why set to a text that lasts and nothing to free. */
int jit_map_read(struct jit_map *map, const struct bounded_file *file, const char **why);

#endif
