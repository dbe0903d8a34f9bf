#include "service/base/event_loop.h"

#include <limits.h>
#include <stddef.h>
#include <utlist.h>

#include "service/base/system_clock.h"

#define NS_PER_MS 1000000u

void event_timer_set(struct event_loop *loop, struct event_timer *timer, int64_t delay_ms)
{
    struct event_timer *later;

    event_timer_clear(loop, timer);
    timer->due_ns = system_clock_steady_ns() + (uint64_t)delay_ms * NS_PER_MS;
    timer->is_set = true;
    DL_FOREACH(loop->timers, later)
    {
        if (later->due_ns > timer->due_ns)
            break;
    }
    if (later)
        DL_PREPEND_ELEM(loop->timers, later, timer);
    else
        DL_APPEND(loop->timers, timer);
}

void event_timer_clear(struct event_loop *loop, struct event_timer *timer)
{
    if (!timer->is_set)
        return;
    DL_DELETE(loop->timers, timer);
    timer->is_set = false;
}

/* Rounded up: what is due in half a millisecond is not due before that. */
static int time_to_wait(const struct event_loop *loop)
{
    uint64_t now = system_clock_steady_ns(), ms;

    if (!loop->timers)
        return -1;
    if (loop->timers->due_ns <= now)
        return 0;
    ms = (loop->timers->due_ns - now + NS_PER_MS - 1) / NS_PER_MS;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* One that has set itself anew waits for the next turn: the sources have theirs in between. */
static struct event_timer *find_due(const struct event_loop *loop, uint64_t now)
{
    struct event_timer *timer;

    DL_FOREACH(loop->timers, timer)
    {
        if (timer->due_ns > now)
            return NULL;
        if (timer->turn != loop->turn)
            return timer;
    }
    return NULL;
}

static void call_due(struct event_loop *loop)
{
    uint64_t now = system_clock_steady_ns();
    struct event_timer *timer;

    loop->turn++;
    while ((timer = find_due(loop, now))) {
        event_timer_clear(loop, timer);
        timer->turn = loop->turn;
        timer->due(timer->owner);
    }
}

void event_loop_turn(struct event_loop *loop)
{
    struct event_source *source = event_loop_wait(loop, time_to_wait(loop));

    if (source)
        source->ready(source->owner);
    call_due(loop);
}
