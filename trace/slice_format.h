/*
 * Time slices: what each function did in each part of a run. NAME.slices beside NAME.bin, written
 * by the service, which copies the figures of the calling-context tree out of the trace from time
 * to time and keeps what changed, by thread and function. The recorded process has no part in it.
 *
 *      0  +--------------------------+
 *         | struct slices_header     |
 *     64  +--------------------------+
 *         | struct slice 0           |  from the start of the recording
 *         | its entries              |
 *         +--------------------------+
 *         | struct slice 1 …         |  begins where slice 0 ends
 *         +--------------------------+
 *
 * When there are as many slices as wanted, each two become one: a long run has wide slices, never
 * more of them. Slices are of unequal width.
 *
 * An entry is five numbers, 7 bits a byte, low ones first, the top bit set in all bytes but the
 * last. Signed ones are zigzag coded: 0, -1, 1, -2, …
 *
 *      +--------+----------+------+-------+-------+
 *      | thread | function | self | total | calls |
 *      +--------+----------+------+-------+-------+
 *
 *      thread      ordinal, less that of the entry before
 *      function    number (trace_format.h), less that of the entry before, signed
 *      self        ticks in the function itself, signed
 *      total       ticks in it and its callees, of outermost contexts, signed
 *      calls       entries
 *
 * Entries ascend by thread and function. Ticks are free of what probes cost. The tree has an
 * invocation's time only once it has ended; while it is seen to be under way, through a whole
 * slice, it is credited with the slice's width, which is taken off again when it ends. What an
 * invocation did in the slice it began in is counted in the one it ended in, or nowhere if the
 * recording ended first. So figures of a slice are estimates, and may be negative; over all
 * slices they add up to those of the invocations that ended, and what was credited to those that
 * did not.
 *
 * With TRACE_TIMING_SAMPLES, whose ticks grow while a function runs, figures of a slice are what was
 * sampled in it, and over all slices they add up to the trace's.
 */
#ifndef UMBRA_SLICE_FORMAT_H
#define UMBRA_SLICE_FORMAT_H

#include <stdint.h>

#define SLICES_MAGIC   "UMBRASLC"
#define SLICES_VERSION 1
#define SLICES_SUFFIX  ".slices"

enum slices_flags {
    SLICES_CUT = 1, /* the trace outgrew what the service copies: the last slice ends there */
};

struct slices_header {
    char magic[8];    /* SLICES_MAGIC, no terminating zero */
    uint32_t version; /* SLICES_VERSION */
    uint32_t slice_count;
    uint64_t created_ns;  /* that of the trace, which says whose slices these are */
    uint32_t pid;         /* that of the trace */
    uint32_t flags;       /* enum slices_flags */
    uint64_t start_ticks; /* where slice 0 begins */
    uint64_t reserved[3];
};

struct slice {
    uint64_t end_ticks;
    uint32_t entry_count;
    uint32_t size; /* bytes of the entries */
};

_Static_assert(sizeof(struct slices_header) == 64, "slices header");
_Static_assert(sizeof(struct slice) == 16, "slice");

#endif
