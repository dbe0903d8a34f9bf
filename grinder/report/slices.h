/*
 * What each function did over the time of the run: NAME.slices (trace/slice_format.h), spread
 * over columns of one width. A process is placed by when its trace was made, so that forks and
 * what they execute lie where they ran.
 */
#ifndef UMBRA_GRINDER_REPORT_SLICES_H
#define UMBRA_GRINDER_REPORT_SLICES_H

#include "grinder/profile/profile.h"

#define SLICE_COLUMNS 100

struct slice_row {
    float self[SLICE_COLUMNS], total[SLICE_COLUMNS]; /* ns; estimates, may be negative */
};

struct slices {
    size_t traces;  /* that have slices */
    bool cut;       /* of one of them the end is missing */
    size_t columns; /* at most SLICE_COLUMNS; no more than a recording has slices */
    double column_ns;
    struct pair_index keys; /* place of the part in the profile, function */
    struct slice_row *rows; /* by number in keys */
    size_t room;
};

/* Reads the slices of all traces; those without any have no rows. What is wrong with a file is
   said, and the file left out. */
void slices_read(struct slices *slices, const struct profile *profile, const struct images *images);
/* When they begin: where the first process was, as struct trace_header has it (created_ns). */
uint64_t slices_begin_ns(const struct profile *profile);
void slices_free(struct slices *slices);

#endif
