/*
 * Reading what call-trace mode left beside a trace: NAME.events or its pieces NAME.events.N, and
 * NAME.ring if the service did not come to its end.
 *
 * The process may still be running and the service draining: the ring is copied first, so that
 * what moves to NAME.events meanwhile is seen in one of the two, and is handed over once.
 */
#ifndef UMBRA_EVENT_READER_H
#define UMBRA_EVENT_READER_H

#include "trace/event_codec.h"
#include "trace/trace_reader.h"

/* The segments of one thread come in order, each followed by its events; those of several threads
   are mixed. A null function is passed over. */
struct event_visitor {
    void *user;
    /* dropped: events that this thread lost right before it. torn: inside the one before. */
    void (*segment)(void *user, uint32_t thread, uint64_t sequence, uint64_t dropped);
    void (*event)(void *user, uint32_t thread, const struct event *event);
    /* Segments of threads that it returns false for are passed over, and counted nowhere. */
    bool (*wants)(void *user, uint32_t thread);
};

struct event_totals {
    uint64_t events;
    uint64_t segments;
    uint64_t bytes;     /* of chunks in files */
    uint64_t from_ring; /* of these, segments that only the ring has */
    uint64_t torn;      /* events that a hook took a place for and never wrote */
    uint64_t dropped;   /* events for which there was no room */
    uint64_t gone;      /* events in pieces that the limit on disk has removed */
    uint64_t cut;       /* bytes at the end of files that are no whole chunk */
};

/* Has the process of this trace recorded events? */
bool event_files_exist(const char *trace_path);

/*
 * Visits everything there is. False: there is a file that is no such file, or of
 * another trace, or a chunk in the middle that is malformed. A file that ends in the middle of a
 * chunk is none: `cut` counts it.
 */
bool event_files_read(const char *trace_path, const struct trace_header *header,
                      const struct event_visitor *visitor, struct event_totals *totals,
                      struct failure *failure);

#endif
