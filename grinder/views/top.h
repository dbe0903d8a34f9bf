/* --mode=top: what is hot now, in traces that are being recorded. */
#ifndef UMBRA_GRINDER_TOP_H
#define UMBRA_GRINDER_TOP_H

#include <stdbool.h>
#include <stddef.h>

#include "grinder/formats/format.h"

struct top_options {
    enum weight weight; /* order of the table */
    bool once;       /* one table, also on a terminal */
    size_t times;    /* refreshes; 0: no end */
    double interval; /* seconds between them */
    size_t rows;     /* of a table that is not on a terminal */
    int feed;        /* a socket: trace_feed.h; -1: none */
    const char *const *traces, *const *debug_dirs, *const *path_maps; /* each ends with null */
};

/*
 * On a terminal, shows a table and refreshes it in place until q is pressed, or as often as the
 * options say; else, and with options->once, prints one table and ends. Programs do not wait for
 * it: traces are read as they are at that moment. Returns the exit status.
 */
int top_run(const struct top_options *options);

#endif
