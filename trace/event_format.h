/*
 * Call-trace mode: every entry and every end of a recorded call as an event with its time, beside
 * the calling-context tree of the trace (trace_format.h), whose nodes the events name.
 *
 *      agent                         service                      disk
 *        |  fills segments of the      |                            NAME.bin     tree, as always
 *        |  ring, memory that they     |  reads full segments,
 *        |  share; marks a full one,   |  compresses them, frees -> NAME.events  chunks
 *        |  takes a free one: no       |  them
 *        |  system call                |
 *        x  ends                       |  not all compressed? ----> NAME.ring    the rest
 *
 * The ring is sealed memory without a name, as the trace is. At the process's end the service
 * compresses what is left in it. If the service is gone, or could not write NAME.events, the ring
 * is written to NAME.ring, in the first case by the keeper. A reader takes from there the segments
 * whose sequence the events do not have.
 *
 * The ring:
 *
 *      0       +--------------------------+
 *              | struct event_ring        |  a page
 *      4096    +--------------------------+
 *              | segment 0                |  struct event_segment, then words to its end
 *              +--------------------------+
 *              | segment 1 …              |  EVENT_SEGMENT_SIZE each
 *              +--------------------------+
 *
 * A segment belongs to one thread while it is filled. Words, 64 bits each, little endian:
 *
 *      63            33  32  31            0
 *      +---------------+----+---------------+
 *      | node          | e  | ticks         |   node entered (e = 0) or ended (e = 1), at the
 *      +---------------+----+---------------+   segment's base + ticks
 *      | 0             | 1  | EVENT_BASE    |   the next word is the new base, 64 bits
 *      +---------------+----+---------------+
 *      | 0             | 1  | EVENT_UNWOUND |   the next word's node ended without a return
 *      +---------------+----+---------------+
 *      | 0                                  |   nothing (yet)
 *      +------------------------------------+
 *
 * Ticks are the processor's at the base, and the thread's own from there on: a thread's time stands
 * still in the agent's slow paths.
 *
 * Commit. A segment is all zero when a thread begins to fill it. A writer advances its place first
 * and then stores the word. A zero between other words is the place of a hook that a signal handler
 * interrupted and left by longjmp: that event is lost and counted as torn. Zeros up to the end are
 * the rest.
 *
 * node is the index of a trace_node, less than 2^31.
 */
#ifndef UMBRA_EVENT_FORMAT_H
#define UMBRA_EVENT_FORMAT_H

#include <stdint.h>

#define EVENT_RING_MAGIC    "UMBRARNG"
#define EVENT_FILE_MAGIC    "UMBRAEVT"
#define EVENT_VERSION       2
#define EVENT_RING_HEADER   4096u
#define EVENT_SEGMENT_SIZE  65536u
#define EVENT_MOST_SEGMENTS 65536u
#define EVENT_SEGMENT_WORDS ((EVENT_SEGMENT_SIZE - 64) / 8)
#define EVENT_LARGEST_NODE  ((1u << 31) - 1)
#define EVENT_END           (1ull << 32)
#define EVENT_NODE_SHIFT    33
#define EVENT_BASE          1u
#define EVENT_UNWOUND       2u

enum event_segment_state {
    EVENT_SEGMENT_FREE = 0,
    EVENT_SEGMENT_TAKEN = 1, /* by a thread that zeroes it and fills in its header */
    EVENT_SEGMENT_FILLING = 2,
    EVENT_SEGMENT_FULL = 3, /* or its thread has ended; from here on it is the service's */
};

struct event_ring {
    char magic[8];          /* EVENT_RING_MAGIC */
    uint32_t version;       /* EVENT_VERSION */
    uint32_t segment_size;  /* EVENT_SEGMENT_SIZE */
    uint32_t segment_count; /* by the service */
    uint32_t stopped;       /* set by the service: the limit on disk is reached, take no more */
    uint64_t sequence;      /* segments ever taken; by the agent, atomically */
    uint64_t dropped;       /* events without a segment to take; by the agent, atomically */
    uint32_t touched;       /* segments from the first on that were ever taken; by the agent */
    uint32_t reserved;
    uint64_t reserved_too[2];
};

/* 64 bytes, then EVENT_SEGMENT_WORDS words. */
struct event_segment {
    uint32_t state;    /* enum event_segment_state; stored last */
    uint32_t thread;   /* ordinal, see trace_thread */
    uint64_t sequence; /* from 1, in the order in which segments were taken */
    uint64_t base;     /* ticks; the words count from here */
    uint64_t dropped;  /* events that this thread lost right before this segment */
    uint64_t reserved[4];
};

/*
 * NAME.events: a header, then chunks, each one segment. With a limit that keeps the newest, the
 * file is in pieces NAME.events.N, N rising, each of this form, of which the oldest are gone.
 *
 *      +-----------------------------+
 *      | struct event_file_header    |
 *      +-----------------------------+
 *      | struct event_chunk          |  sizes, then two columns, each by itself compressed
 *      |   shape [shape_size]        |
 *      |   times [times_size]        |
 *      +-----------------------------+
 *      | struct event_chunk …        |
 *
 * shape, an unsigned LEB128 number an event, before compression:
 *
 *      0          the innermost open call of this chunk ended
 *      1, n       the call of node n ended, though another is innermost, or none is open; if it is
 *                 one of the 64 innermost, those inside it are not open any longer
 *      2          the next end is one without a return
 *      3          entry of the node that follows as a number; it gets the next id, from 0
 *      4 + id     entry of the node that has this id
 *
 * times: for each end and entry the ticks since the one before (the first: since base), zigzag,
 * LEB128.
 *
 * If the service was killed while it wrote a chunk, the chunk's sizes or checksum do not fit:
 * readers stop there.
 */
struct event_file_header {
    char magic[8];    /* EVENT_FILE_MAGIC */
    uint32_t version; /* EVENT_VERSION */
    uint32_t pid;
    uint32_t session;    /* of the trace this belongs to, see trace_header */
    uint32_t piece;      /* number of this piece, from 1; 0 if it is the only one */
    uint64_t created_ns; /* when that trace was created */
    uint64_t gone;       /* events in older pieces that were removed */
    uint64_t dropped;    /* events that never came into a chunk: of the ring, at the end */
    uint64_t reserved[2];
};

enum event_compression {
    EVENT_STORED = 0,
    EVENT_ZSTD = 1,
};

struct event_chunk {
    uint32_t size;        /* of the chunk, this header included */
    uint32_t thread;      /* ordinal */
    uint64_t sequence;    /* of the segment */
    uint64_t base;        /* ticks */
    uint64_t dropped;     /* as in event_segment */
    uint32_t events;      /* entries and ends */
    uint32_t torn;        /* zero words between others */
    uint32_t compression; /* enum event_compression */
    uint32_t shape_size;  /* bytes in the file */
    uint32_t times_size;
    uint32_t shape_bytes; /* before compression */
    uint32_t times_bytes;
    uint32_t checksum; /* low half of XXH3 64 of what stands before it, with that of the columns for a seed */
};

_Static_assert(sizeof(struct event_segment) == 64, "a segment's header is a cache line");
_Static_assert(sizeof(struct event_file_header) == 64, "a file's header");
_Static_assert(sizeof(struct event_chunk) == 64, "a chunk's header");
_Static_assert(sizeof(struct event_ring) == 64, "a ring's header");

#endif
