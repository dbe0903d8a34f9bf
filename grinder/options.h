/* What the command line asks for: command_line.h reads it. */
#ifndef UMBRA_GRINDER_OPTIONS_H
#define UMBRA_GRINDER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/formats/format.h"
#include "grinder/profile/selection.h"
#include "grinder/views/hottest.h"

struct mode;
struct process_list;

struct options {
    const struct mode *mode;
    char *output; /* null: the mode's default */
    char *format; /* null: the mode's default; one that the mode has */
    enum weight weight;
    bool has_weight; /* it was given */
    bool merged; /* all threads are one part */
    bool split;  /* a file a part */
    bool largest; /* of several processes, the one that took most */
    struct process_list *processes; /* all that were asked for, of summary and report */
    uint32_t shown;                 /* pid of the largest; 0: all of them */
    bool quiet, verbose;
    bool has_threshold;
    double threshold;        /* percent */
    uint64_t from_ns, to_ns; /* of time lines */
    double interval;         /* seconds between refreshes of top */
    size_t times;            /* of these; 0: no end */
    bool once;
    int feed;                      /* of top: a socket that brings traces; -1: none */
    size_t top;                    /* functions in the summary, changes in the table of a diff */
    bool has_top;                  /* it was given */
    enum hot_order sort;           /* of the summary's functions */
    bool has_sort;                 /* it was given */
    bool no_pager;
    char **debug_dirs, **patterns; /* end with null */
    char **path_maps;              /* of recorded_path_map; ends with null */
    char **jit_maps;               /* end with null */
    char **source_roots;           /* end with null */
    char *again;                   /* a second recording of the first build; null: there is none */
    char *times_from;              /* a folder, or a trace; null: times are the traces' own */
    struct selection selection;    /* of patterns */
    char **traces; /* ends with null; at least one, or as many as the mode's sides */
};

#endif
