/*
 * What of the traces is wanted: --process, --thread and --function, each a list of patterns of
 * which one has to match; an empty list takes everything.
 *
 *      process     pid, or a glob for the path of its executable, for the last part of that, or
 *                  for what it was run as (own_name.h)
 *      thread      tid or ordinal, or a glob for its name
 *      function    a glob for its whole name, or for what stands before its arguments; a pattern
 *                  that is the name needs no escapes
 *
 * A function stands for its contexts and all below them. Callers above are shown on the way, with
 * no cost of their own. Past a recording's node limit what a context calls is known for all its
 * callers together: it is taken for as deep as caller and callee are known.
 */
#ifndef UMBRA_GRINDER_SELECTION_H
#define UMBRA_GRINDER_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/images.h"
#include "trace/trace_format.h"

struct pattern {
    const char *text; /* borrowed */
    bool matched;     /* something */
};

struct patterns {
    struct pattern *patterns;
    size_t count, room;
};

struct selection {
    struct patterns processes, threads, functions;
    uint8_t *chosen; /* by function number; null: all */
    size_t chosen_count;
};

void patterns_add(struct patterns *patterns, const char *text);

/* Whether it is chosen. The patterns that match are marked. */
bool selection_match_process(struct selection *selection, const struct trace_header *header);
bool selection_match_thread(struct selection *selection, const struct trace_thread *thread);

/* Fills in chosen, from the names of all functions in images, if there are patterns for it. */
void selection_choose_functions(struct selection *selection, const struct images *images);

/* For function numbers up to count, as cost_walk wants it; null: all. */
const uint8_t *selection_functions(struct selection *selection, size_t count);

/* Says which patterns matched nothing. 0 if there are none. */
int selection_check(const struct selection *selection);
void selection_free(struct selection *selection);

#endif
