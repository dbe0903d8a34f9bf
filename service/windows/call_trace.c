/* The options refuse call-trace mode here: no session has events. */
#include "service/call_trace.h"

#include <stddef.h>

bool call_trace_is_possible(void)
{
    return false;
}

bool call_trace_begin(struct session *session, const struct trace_header *header)
{
    (void)session, (void)header;
    return true;
}

int call_trace_ring(const struct session *session, uint64_t *size)
{
    (void)session, (void)size;
    return -1;
}

void call_trace_end(struct session *session)
{
    (void)session;
}

void call_trace_leave(struct session *session)
{
    (void)session;
}

void call_trace_discard(struct session *session)
{
    (void)session;
}

int call_trace_turn(struct service *service, int limit)
{
    (void)service;
    return limit;
}

void call_trace_close(struct service *service)
{
    (void)service;
}
