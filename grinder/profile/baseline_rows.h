/*
 * The functions of a baseline in its order, as its contexts spell them: by name, or, without one, by code, the second
 * with that code with a number behind it, so that what lies elsewhere changes no context's line:
 *
 *      main    0c1e93f28b7a6d54    0c1e93f28b7a6d54#2
 */
#ifndef UMBRA_GRINDER_BASELINE_ROWS_H
#define UMBRA_GRINDER_BASELINE_ROWS_H

#include "grinder/base/pair_index.h"

/* All zero: none. */
struct baseline_rows {
    char **spellings; /* by row, owned */
    size_t count, room;
    struct pair_index codes; /* of functions without a name: (code, 0) */
    uint32_t *twins;         /* by number in codes: functions so far */
    size_t twins_room;
    uint32_t *order; /* rows by spelling; null until one is looked for */
};

/* name: null if it has none. */
void baseline_rows_add(struct baseline_rows *rows, const char *name, uint64_t code);
void baseline_rows_free(struct baseline_rows *rows);

/* The first row that is spelt so; false: there is none. No row is added from here on. */
bool baseline_rows_find(struct baseline_rows *rows, const char *spelling, uint32_t *row);

#endif
