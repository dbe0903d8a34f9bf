/*
 * The formats a profile can be written in: one file and one row of the table each.
 *
 * A profile knows functions and call edges, and, for the formats that ask for them, whole stacks.
 * All figures of a format add up to the parts' ns, calls and instructions exactly.
 */
#ifndef UMBRA_GRINDER_FORMAT_H
#define UMBRA_GRINDER_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "grinder/coverage/coverage.h"
#include "grinder/profile/images.h"
#include "grinder/profile/profile.h"
#include "support/failure.h"

/* The version of tsv, tsv-edges and json, which docs/profile.schema.json defines. It grows when a
   column or key changes its meaning or goes; new ones come without that, in tsv behind the others.
   */
#define FORMAT_VERSION 1

/* What formats with one figure a stack show, in the order of --weight's values; the others show all. */
enum weight {
    WEIGHT_NS,
    WEIGHT_CALLS,
    WEIGHT_INSTRUCTIONS,
};

/* What is to be written: count parts of a symbolized profile from the first on. */
struct view {
    const struct profile *profile;
    const struct images *images;
    const struct coverage *coverage; /* of a profile of one part: its blocks; null: they were not counted */
    size_t first, count;
    enum weight weight;
    uint64_t from_ns, to_ns; /* of time lines: what is shown of them */
    /* Receives why some time lines are not there, one at a time. */
    void (*say)(const struct failure *failure);
};

struct format {
    const char *name;
    const char *suffix; /* of the file it is written to by default */
    bool needs_stacks; /* shows costs by chains of calls: profile->keeps_stacks */
    bool needs_events; /* has time lines, and nothing else */
    /* Errors stay in the stream. */
    void (*write)(FILE *stream, const struct view *view);
    /* Instead of write, for formats that have time lines: of all processes of the profile that have
       events. False if some of these could not be read, after the view was told why: what is
       written is sound, and lacks them. If no process has events, what write does. */
    bool (*write_times)(FILE *stream, const struct view *view);
};

/* The first is the default; the last has a null name. */
extern const struct format formats[];

/* Null if there is none of that name. */
const struct format *format_named(const char *name);

/* A file of each name. */
void baseline_write(FILE *stream, const struct view *view);
void callgrind_write(FILE *stream, const struct view *view);
void folded_write(FILE *stream, const struct view *view);
void flamegraph_write(FILE *stream, const struct view *view);
void pprof_write(FILE *stream, const struct view *view);
void speedscope_write(FILE *stream, const struct view *view);
void tsv_write(FILE *stream, const struct view *view);
void tsv_edges_write(FILE *stream, const struct view *view);
void json_write(FILE *stream, const struct view *view);
bool chrome_write(FILE *stream, const struct view *view);
bool perfetto_write(FILE *stream, const struct view *view);
bool firefox_write(FILE *stream, const struct view *view);

static inline uint64_t weight_of(enum weight weight, const struct stack_cost *cost)
{
    switch (weight) {
    case WEIGHT_NS:
        return cost->self_ns;
    case WEIGHT_CALLS:
        return cost->calls;
    case WEIGHT_INSTRUCTIONS:
        return cost->instructions;
    }
    return 0;
}

#endif
