/* Flame graphs: of one profile, or of what changed from one to another. */
#ifndef UMBRA_GRINDER_FLAMEGRAPH_H
#define UMBRA_GRINDER_FLAMEGRAPH_H

#include <stdio.h>

#include "grinder/formats/format.h"

/* The stacks of one part. */
struct flame {
    const struct stack_tree *stacks;
    /* By stack: what it was before, whose changes are then shown by colours; null: nothing. */
    const struct stack_cost *before;
    const char *name; /* of a frame above the stacks; null: none */
};

/* What all flames show. */
struct flame_figures {
    enum weight weight; /* what they are as wide as */
    bool has_times, has_instructions;
    const char *counts; /* what is counted, in the plural */
    const char *title;
};

/* Writes an SVG with the flames side by side. */
void flamegraph_write_flames(FILE *stream, const struct images *images, const struct flame *flames,
                             size_t count, const struct flame_figures *figures);

#endif
