/* The options refuse call-trace mode here: no session has events. */
#include "service/events/call_trace.h"

#include <stddef.h>

static void begin(struct session *session, const struct trace_header *header)
{
    (void)session;
    (void)header;
}

static void nothing(struct session *session)
{
    (void)session;
}

const struct session_part call_trace_part = {begin, nothing, nothing, nothing};

void call_trace_adopt(struct session *session, int ring)
{
    (void)session;
    (void)ring;
}

int call_trace_ring(const struct session *session, uint64_t *size)
{
    (void)session, (void)size;
    return -1;
}

void call_trace_close(struct recorder *recorder)
{
    (void)recorder;
}
