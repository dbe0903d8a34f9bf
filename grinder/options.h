/* What the command line asks for: command_line.h reads it. */
#ifndef UMBRA_GRINDER_OPTIONS_H
#define UMBRA_GRINDER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/formats/format.h"
#include "grinder/profile/selection.h"

struct mode;

struct options {
    const struct mode *mode;
    char *output; /* null: the mode's default */
    char *format; /* likewise; one that the mode has */
    enum weight weight;
    bool has_weight;   /* it was given */
    bool merged;       /* all threads are one part: asked for */
    bool thread_parts; /* each thread is one: asked for */
    bool split;        /* a file a part */
    bool quiet, verbose;
    bool has_threshold;
    double threshold;        /* percent */
    uint64_t from_ns, to_ns; /* of time lines */
    double interval;         /* seconds between refreshes of top */
    size_t times;            /* of these; 0: no end */
    bool once;
    size_t top;                    /* functions in the summary, changes in the table of a diff */
    char **debug_dirs, **patterns; /* end with null */
    char **path_maps;              /* of recorded_path_map; ends with null */
    char **jit_maps;               /* end with null */
    char **source_roots;           /* likewise */
    struct selection selection;    /* of patterns */
    char **traces; /* ends with null; at least one, or as many as the mode's sides */
};

#endif
