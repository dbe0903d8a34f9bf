#include "service/recorder/ticker.h"

#include <utlist.h>

#include "service/recorder/recorder.h"
#include "service/recorder/session.h"

/* A tick is some stores a session: with many sessions there are fewer, so that all of them together
   take no more than some percent of a processor. */
#define TICK_SESSIONS 16 /* that have one each millisecond */

static void set_timer(struct recorder *recorder)
{
    event_timer_set(recorder->loop, &recorder->tick_timer, 1 + recorder->running / TICK_SESSIONS);
}

static void tell_time(void *owner)
{
    struct recorder *recorder = owner;
    const uint64_t ticks[2] = {recorder->tick, tick_clock_now() | TRACE_TICK_FLAG};
    const struct session *session;

    if (!recorder->sessions)
        return;
    DL_FOREACH(recorder->sessions, session)
    {
        if (session->has_ticks)
            trace_file_write_ticks(&session->trace, ticks);
    }
    recorder->tick = ticks[1];
    set_timer(recorder);
}

void ticker_start(struct recorder *recorder)
{
    if (recorder->tick_timer.is_set)
        return;
    recorder->tick_timer = (struct event_timer){.due = tell_time, .owner = recorder};
    set_timer(recorder);
}
