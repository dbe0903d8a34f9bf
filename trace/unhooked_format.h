/*
 * Functions whose hooks were out for a while, since they cost too much, or since the user has said so: NAME.unhooked
 * beside NAME.bin, written by `call_trace_service attach` (--overhead; unhook), anew at each change.
 *
 *      0  +-------------------------+
 *         | struct unhooked_header  |
 *     32  +-------------------------+
 *         | struct unhooked 0 …     |  in the order in which hooks were taken out
 *         +-------------------------+
 *
 * Calls that a function's context has are all of the times at which it was hooked, and at least those that there were.
 */
#ifndef UMBRA_UNHOOKED_FORMAT_H
#define UMBRA_UNHOOKED_FORMAT_H

#include <stdint.h>

#define UNHOOKED_MAGIC   "UMBRAOUT"
#define UNHOOKED_VERSION 1
#define UNHOOKED_SUFFIX  ".unhooked"

struct unhooked_header {
    char magic[8]; /* UNHOOKED_MAGIC, no terminating zero */
    uint32_t version;
    uint32_t count;
    uint64_t created_ns; /* that of the trace, which says whose functions these are */
    uint32_t pid;        /* that of the trace */
    uint32_t percent_256; /* what was allowed, in 256ths of a percent; 0: anything */
};

struct unhooked {
    uint32_t function; /* number (trace_format.h) */
    uint32_t by_user;   /* 1: `unhook`; 0: it cost too much */
    uint64_t calls;     /* of all threads, until then */
    uint64_t out_ticks; /* rdtsc */
    uint64_t in_ticks;  /* when it was hooked again; 0: it never was */
};

_Static_assert(sizeof(struct unhooked_header) == 32 && sizeof(struct unhooked) == 32, "as drawn");

#endif
