/*
 * A thread of a Firefox profile, which is written while its stack changes: enter and leave in the
 * order of time, from thread_begin to thread_end.
 *
 *      { "samples":    {"stack": [0, 1, 0, null], "time": […], "weight": […],
 *                       "weightType": "tracing-ms", "length": 4},
 *        "markers":    gaps, from their begin to their end
 *        "stackTable": {"frame": [0, 1], "prefix": [null, 0], …},
 *        "frameTable", "funcTable", "stringArray": a row for each function that was met;
 *        "resourceTable", "nativeSymbols": no rows,
 *        "name": …, "pid": "4711", "tid": 4711, … }
 *
 * A sample is a stretch with the same stack: it weighs as much as it is long, and where the stack
 * is null nothing was open. Stretches without a length are left out, so weights add up exactly.
 * The last sample is the end: its stack is null and it weighs nothing. Without it the reader has
 * the last stretch end where it begins.
 *
 * A column is an array, and a row is known at once: all columns of samples but the first wait in
 * files without a name, 30 bytes a row. Memory is for distinct stacks, 24 to 40 bytes each.
 */
#ifndef UMBRA_GRINDER_FIREFOX_THREAD_H
#define UMBRA_GRINDER_FIREFOX_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "grinder/base/pair_index.h"
#include "grinder/formats/format.h"

struct firefox_gap {
    uint64_t from_ns, to_ns, dropped;
};

struct firefox_thread {
    FILE *stream;
    const struct images *images;
    enum weight weight;
    const char *nameless;  /* what function 0 is called */
    FILE *times, *weights; /* columns of samples */
    uint64_t first, since; /* of all that was entered; of the stretch that goes on */
    uint64_t samples;

    struct pair_index stacks; /* prefix, frame; both + 1. Number 0 is no stack */
    uint32_t *open;           /* stacks of the open calls */
    size_t open_count, open_room;

    uint32_t *frames;    /* by function: its frame + 1; 0: none yet */
    uint32_t *functions; /* by frame */
    size_t frame_count, frame_room;

    struct firefox_gap *gaps;
    size_t gap_count, gap_room;
};

/* What its reader shows of it. Texts are borrowed. */
struct firefox_thread_names {
    const char *process, *thread;
    const char *pid; /* one for each process: those with the same are taken for one */
    uint32_t tid;
    bool is_main;
};

/* Makes the temporary files of the columns. False: there is nothing to end. */
bool firefox_thread_open(struct firefox_thread *thread, struct failure *failure);

/* What may be written to a thread that has begun. Times and weights are nanoseconds, written as milliseconds; or calls or
   instructions, written as samples: one each. Nothing is open before start. */
void firefox_thread_begin(struct firefox_thread *thread, FILE *stream, const struct images *images,
                          enum weight weight, const char *nameless, uint64_t start);
/* caller: a function that is in between, in code made at run time; or 0. */
void firefox_thread_enter(struct firefox_thread *thread, uint32_t caller, uint32_t function,
                          uint64_t now);
void firefox_thread_leave(struct firefox_thread *thread, uint64_t now);
void firefox_thread_gap(struct firefox_thread *thread, uint64_t from_ns, uint64_t to_ns,
                        uint64_t dropped);

/* Writes what is left, and frees all. False if temporary files had no room. */
bool firefox_thread_end(struct firefox_thread *thread, const struct firefox_thread_names *names,
                        struct failure *failure);

#endif
