/*
 * The formats a profile can be written in: one file and one row of the table each.
 *
 * A profile knows functions and call edges, and, for the formats that ask for them, whole stacks.
 * All figures of a format add up to the parts' ns and calls exactly.
 */
#ifndef UMBRA_GRINDER_FORMAT_H
#define UMBRA_GRINDER_FORMAT_H

#include <stdio.h>

#include "grinder/images.h"
#include "grinder/profile.h"

/* What formats with one figure a stack show; the others show both. */
enum weight {
    WEIGHT_NS,
    WEIGHT_CALLS,
};

/* What is to be written: count parts of a symbolized profile from the first on. */
struct view {
    const struct profile *profile;
    const struct images *images;
    size_t first, count;
    enum weight weight;
};

struct format {
    const char *name;
    const char *suffix; /* of the file it is written to by default */
    bool needs_stacks;
    bool needs_times; /* when each call was: what a profile recording does not have */
    /* Errors stay in the stream. */
    void (*write)(FILE *stream, const struct view *view);
};

/* The first is the default; the last has a null name. */
extern const struct format formats[];

/* Null if there is none of that name. */
const struct format *format_named(const char *name);

/* A file of each name. */
void callgrind_write(FILE *stream, const struct view *view);
void folded_write(FILE *stream, const struct view *view);
void flamegraph_write(FILE *stream, const struct view *view);
void pprof_write(FILE *stream, const struct view *view);
void speedscope_write(FILE *stream, const struct view *view);
void tsv_write(FILE *stream, const struct view *view);
void tsv_edges_write(FILE *stream, const struct view *view);
void json_write(FILE *stream, const struct view *view);

static inline uint64_t weight_of(enum weight weight, const struct stack_cost *cost)
{
    return weight == WEIGHT_NS ? cost->self_ns : cost->calls;
}

#endif
