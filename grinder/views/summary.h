/*
 * --mode=summary: what each trace, process and thread came to, and the hottest functions. This is how
 * programs read it, from a pipe or a file: whole numbers, in columns that stay. What people read
 * on a terminal is in summary_screen.h.
 */
#ifndef UMBRA_GRINDER_SUMMARY_H
#define UMBRA_GRINDER_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "grinder/profile/images.h"
#include "grinder/profile/process_list.h"
#include "grinder/profile/profile.h"
#include "grinder/views/hottest.h"
#include "support/failure.h"

struct summary {
    const struct profile *profile; /* merged and symbolized */
    const struct images *images;
    size_t top; /* functions in a table */
    bool has_order;
    enum hot_order order; /* of the one table of functions, if has_order */
    struct process_list *processes; /* all that there were; may be null */
    uint32_t shown;                 /* pid of the one whose profile it is; 0: of all of them */
    void (*say)(const struct failure *failure); /* what is wrong with events, one at a time */
};

/* The tables of functions that there are to be of the part, in their order. Returns how many. */
size_t summary_orders(const struct summary *summary, const struct part *part,
                      enum hot_order orders[HOT_ORDERS]);

void summary_write(FILE *stream, const struct summary *summary);

#endif
