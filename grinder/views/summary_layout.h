/* How the summary is laid out on a terminal, of which summary_screen.c writes the whole. */
#ifndef UMBRA_GRINDER_SUMMARY_LAYOUT_H
#define UMBRA_GRINDER_SUMMARY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "grinder/views/figures.h"
#include "grinder/views/summary.h"

#define LAYOUT_BOLD "\033[1m"
#define LAYOUT_RED  "\033[31m"

/* Where the summary is written, and how. */
struct summary_layout {
    FILE *stream;
    const struct summary *summary;
    const struct part *part;
    size_t columns;
    const char *ellipsis;
    bool has_colour, has_times, is_sampled;
};

/* In that colour, if the terminal has any. */
void layout_write_in(const struct summary_layout *layout, const char *colour, const char *text);
/* On a line of its own behind an empty one, cut to the terminal's width. */
void layout_write_heading(const struct summary_layout *layout, const char *heading);
/* What is left of the line, of which so many columns are used, for text; ends it. */
void layout_write_rest(const struct summary_layout *layout, size_t used, const char *text);
/* A time of a process or a thread. */
void layout_put_total(char text[FIGURE_ROOM], const struct summary_layout *layout, uint64_t ns);

#endif
