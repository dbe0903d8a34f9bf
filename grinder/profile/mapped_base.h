/* Where an image lies in a process, by where one of its pieces does. */
#ifndef UMBRA_GRINDER_MAPPED_BASE_H
#define UMBRA_GRINDER_MAPPED_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include "grinder/unwind/stacks_file.h"
#include "image/loaded_ranges.h"

/* False: the piece is none of the image's code. */
bool mapped_base(const struct loaded_ranges *ranges, const struct stacks_mapping *mapping, uint64_t *base);

#endif
