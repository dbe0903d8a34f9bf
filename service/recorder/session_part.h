/* What is recorded of a session beside its trace: slices.h, samples.h, call_trace.h. */
#ifndef UMBRA_SERVICE_SESSION_PART_H
#define UMBRA_SERVICE_SESSION_PART_H

struct session;
struct trace_header;

/*
 * A session need not have it: then all but begin do nothing. Recording does not depend on it.
 */
struct session_part {
    /* The trace is made, with that header, and nobody has it yet. */
    void (*begin)(struct session *session, const struct trace_header *header);
    /* The process is gone: all it left is written. */
    void (*end)(struct session *session);
    /* The process goes on without us. */
    void (*leave)(struct session *session);
    /* The process never got the trace: nothing is left behind. */
    void (*discard)(struct session *session);
};

#endif
