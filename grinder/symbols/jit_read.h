/* Reading a file that tells about code made at run time, whichever of the two kinds it is. */
#ifndef UMBRA_GRINDER_JIT_READ_H
#define UMBRA_GRINDER_JIT_READ_H

#include "grinder/symbols/jit_map.h"
#include "support/bounded_file.h"
#include "support/failure.h"

/* Reads a map or a jitdump. False: nothing is to be freed, and the text is without the path. */
bool jit_map_read(struct jit_map *map, const struct bounded_file *file, struct failure *failure);

#endif
