#include "service/events/call_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "service/base/message.h"
#include "service/events/linux/event_drain.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"

/* Programs fill rings of 64 MiB in a quarter of a second at most; idle ones are looked at less. */
#define SHORTEST_MS 1
#define LONGEST_MS  20

struct call_trace {
    struct event_drain drain;
};

struct call_trace_work {
    struct event_packer *packer;
    struct event_timer timer; /* not while no session has events, or all were adopted */
    int pause_ms;
};

/* Writes what sessions have ready, for a bounded time. */
static void drain(void *owner)
{
    struct recorder *recorder = owner;
    struct call_trace_work *work = recorder->call_trace;
    struct session *session;
    unsigned written = 0;
    bool any = false;

    DL_FOREACH(recorder->sessions, session)
    {
        if (!session->events)
            continue;
        any = true;
        written += event_drain_turn(&session->events->drain);
    }
    if (!any)
        return;
    if (written)
        work->pause_ms = 0;
    else
        work->pause_ms = work->pause_ms ? 2 * work->pause_ms : SHORTEST_MS;
    if (work->pause_ms > LONGEST_MS)
        work->pause_ms = LONGEST_MS;
    event_timer_set(recorder->loop, &work->timer, work->pause_ms);
}

static struct call_trace_work *work_of(struct recorder *recorder)
{
    if (recorder->call_trace)
        return recorder->call_trace;
    recorder->call_trace = calloc(1, sizeof(*recorder->call_trace));
    if (recorder->call_trace) {
        recorder->call_trace->timer = (struct event_timer){.due = drain, .owner = recorder};
        recorder->call_trace->packer = event_packer_new();
    }
    return recorder->call_trace && recorder->call_trace->packer ? recorder->call_trace : NULL;
}

static void begin(struct session *session, const struct trace_header *header)
{
    struct recorder *recorder = session->recorder;
    struct call_trace_work *work;

    if (!recorder->settings->records_events || session->is_tcp)
        return;
    work = work_of(recorder);
    session->events = calloc(1, sizeof(*session->events));
    if (work && session->events &&
        event_drain_open(&session->events->drain, &recorder->settings->events, work->packer,
                         session->directory->fd, session->trace.name, header)) {
        work->pause_ms = SHORTEST_MS;
        event_timer_set(recorder->loop, &work->timer, work->pause_ms);
        return;
    }
    message("%s: cannot make room for the events of pid %d: %s: its calls are counted, but there "
            "are no events of them",
            session->directory->path, (int)session->pid, strerror(errno));
    free(session->events);
    session->events = NULL;
}

int call_trace_ring(const struct session *session, uint64_t *size)
{
    if (!session->events)
        return -1;
    *size = session->events->drain.ring_size;
    return session->events->drain.ring_file;
}

void call_trace_adopt(struct session *session, int ring)
{
    if (ring < 0)
        return;
    session->events = calloc(1, sizeof(*session->events));
    if (session->events)
        event_drain_adopt(&session->events->drain, session->directory->fd, session->trace.name,
                          ring);
    else
        close(ring);
}

static void over(struct session *session, void (*how)(struct event_drain *))
{
    if (session->events)
        how(&session->events->drain);
    free(session->events);
    session->events = NULL;
}

static void end(struct session *session)
{
    uint64_t untold = 0;

    if (session->events)
        untold = event_drain_end(&session->events->drain);
    if (session->trace.header)
        session->trace.header->events_dropped = untold;
    free(session->events);
    session->events = NULL;
}

static void leave(struct session *session)
{
    over(session, event_drain_leave);
}

static void discard(struct session *session)
{
    over(session, event_drain_discard);
}

const struct session_part call_trace_part = {begin, end, leave, discard};

void call_trace_close(struct recorder *recorder)
{
    if (recorder->call_trace) {
        event_timer_clear(recorder->loop, &recorder->call_trace->timer);
        event_packer_free(recorder->call_trace->packer);
    }
    free(recorder->call_trace);
    recorder->call_trace = NULL;
}
