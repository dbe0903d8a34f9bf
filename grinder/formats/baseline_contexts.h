/* The calling contexts of a baseline: grinder/profile/baseline.h draws them. */
#ifndef UMBRA_GRINDER_BASELINE_CONTEXTS_H
#define UMBRA_GRINDER_BASELINE_CONTEXTS_H

#include "grinder/formats/format.h"
#include "grinder/profile/baseline_rows.h"

/* row_of: by function number, its row + 1; every function that was recorded has one. */
void baseline_contexts_write(FILE *stream, const struct view *view,
                             const struct baseline_rows *rows, const uint32_t *row_of);

#endif
