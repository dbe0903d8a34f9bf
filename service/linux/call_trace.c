#include "service/call_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/linux/event_drain.h"
#include "service/message.h"
#include "service/service.h"
#include "service/session.h"

/* Programs fill rings of 64 MiB in a quarter of a second at most; idle ones are looked at less. */
#define SHORTEST_MS 1
#define LONGEST_MS  20

struct call_trace {
    struct event_drain drain;
};

struct call_trace_work {
    struct event_packer *packer;
    int pause_ms;
};

bool call_trace_is_possible(void)
{
    return true;
}

static struct call_trace_work *work_of(struct service *service)
{
    if (service->call_trace)
        return service->call_trace;
    service->call_trace = calloc(1, sizeof(*service->call_trace));
    if (service->call_trace)
        service->call_trace->packer = event_packer_new();
    return service->call_trace && service->call_trace->packer ? service->call_trace : NULL;
}

bool call_trace_begin(struct session *session, const struct trace_header *header)
{
    struct service *service = session->service;
    struct call_trace_work *work;

    if (!service->options->records_events || session->by_tcp)
        return true;
    work = work_of(service);
    session->events = calloc(1, sizeof(*session->events));
    if (work && session->events &&
        event_drain_open(&session->events->drain, &service->options->events, work->packer,
                         service->trace_dir, session->trace.name, header)) {
        work->pause_ms = SHORTEST_MS;
        return true;
    }
    message("%s: cannot make room for the events of pid %d: %s", service->trace_dir_path,
            (int)session->pid, strerror(errno));
    free(session->events);
    session->events = NULL;
    return false;
}

int call_trace_ring(const struct session *session, uint64_t *size)
{
    if (!session->events)
        return -1;
    *size = session->events->drain.ring_size;
    return session->events->drain.ring_file;
}

static void over(struct session *session, void (*how)(struct event_drain *))
{
    if (session->events)
        how(&session->events->drain);
    free(session->events);
    session->events = NULL;
}

void call_trace_end(struct session *session)
{
    over(session, event_drain_end);
}

void call_trace_leave(struct session *session)
{
    over(session, event_drain_leave);
}

void call_trace_discard(struct session *session)
{
    over(session, event_drain_discard);
}

int call_trace_turn(struct service *service, int limit)
{
    struct call_trace_work *work = service->call_trace;
    struct session *session;
    unsigned written = 0;
    bool any = false;

    DL_FOREACH(service->sessions, session)
    {
        if (!session->events)
            continue;
        any = true;
        written += event_drain_turn(&session->events->drain);
    }
    if (!any)
        return limit;
    if (written)
        return work->pause_ms = 0;
    work->pause_ms = work->pause_ms ? 2 * work->pause_ms : SHORTEST_MS;
    if (work->pause_ms > LONGEST_MS)
        work->pause_ms = LONGEST_MS;
    return limit < 0 || limit > work->pause_ms ? work->pause_ms : limit;
}

void call_trace_close(struct service *service)
{
    if (service->call_trace)
        event_packer_free(service->call_trace->packer);
    free(service->call_trace);
    service->call_trace = NULL;
}
