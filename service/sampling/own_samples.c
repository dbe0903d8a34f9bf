#include "service/sampling/own_samples.h"

#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "service/base/message.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"
#include "service/sampling/cpu_signals.h"

/* From one look at all sessions to the next: longer each time that nothing is new. */
#define SHORTEST_PAUSE_MS 1
#define LONGEST_PAUSE_MS  16

#define MOST_LOOKS 16 /* at threads that block the signal, after one has begun */

static bool change(struct session *session, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&session->trace.header->signals, &from, to, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static uint32_t state_of(const struct session *session)
{
    return __atomic_load_n(&session->trace.header->signals, __ATOMIC_ACQUIRE);
}

static void end_signals(struct session *session)
{
    cpu_signals_end(session->signals);
    session->signals = NULL;
}

static const char *what_to_do(int error)
{
    return error == EACCES || error == EPERM
               ? ": have kernel.perf_event_paranoid at 2 or below, or be content with 250 a second"
               : "";
}

/* Said before the first is sent, so that a process that wants none any more waits for that. */
static void begin_signals(struct session *session)
{
    const struct recorder_settings *settings = session->recorder->settings;

    session->signals =
        cpu_signals_begin(session->pid, session->source.fd, session->trace.header->willing,
                          1000000000u / settings->samples);
    if (session->signals && !change(session, TRACE_SIGNALS_WANTED, TRACE_SIGNALS_SENT))
        end_signals(session);
    else if (!session->signals &&
             (settings->is_verbose || settings->sample_source == SAMPLE_SOURCE_PERF))
        message("pid %d: its threads are sampled by their timers, not by perf: %s%s",
                (int)session->pid, strerror(errno), what_to_do(errno));
    session->has_asked_for_signals = true;
}

/* Whether there are more threads than were seen by the last call. */
static bool note_new_threads(struct session *session)
{
    uint32_t count = __atomic_load_n(&session->trace.header->thread_count, __ATOMIC_RELAXED);
    bool is_new = count != session->threads_seen;

    session->threads_seen = count;
    return is_new;
}

/* A thread that blocks the signal for a moment, as one that begins does, is looked at again. */
static bool follow(struct session *session)
{
    bool is_new = note_new_threads(session);

    if (is_new)
        session->looks_left = MOST_LOOKS;
    if (session->looks_left && cpu_signals_follow(session->signals))
        session->looks_left = 0;
    else if (session->looks_left)
        session->looks_left--;
    return is_new;
}

/* Returns whether anything was new. */
static bool look_at(struct session *session)
{
    uint32_t state = state_of(session);

    if (state == TRACE_SIGNALS_UNWANTED) {
        end_signals(session);
        change(session, state, TRACE_SIGNALS_OVER);
    } else if (state == TRACE_SIGNALS_WANTED && !session->has_asked_for_signals) {
        begin_signals(session);
    }
    return session->signals && follow(session);
}

static void look_at_all(void *owner)
{
    struct recorder *recorder = owner;
    struct session *session;
    bool is_new = false;

    if (!recorder->sessions)
        return;
    DL_FOREACH(recorder->sessions, session)
    {
        if (session->takes_samples)
            is_new |= look_at(session);
    }
    recorder->signals_pause_ms *= 2;
    if (is_new)
        recorder->signals_pause_ms = SHORTEST_PAUSE_MS;
    if (recorder->signals_pause_ms > LONGEST_PAUSE_MS)
        recorder->signals_pause_ms = LONGEST_PAUSE_MS;
    event_timer_set(recorder->loop, &recorder->signals_timer, recorder->signals_pause_ms);
}

static void begin(struct session *session, const struct trace_header *header)
{
    struct recorder *recorder = session->recorder;

    if (header->timing != TRACE_TIMING_SAMPLES ||
        recorder->settings->sample_source == SAMPLE_SOURCE_TIMER || session->is_tcp ||
        !session->trace.header)
        return;
    session->takes_samples = true;
    recorder->signals_timer.due = look_at_all;
    recorder->signals_timer.owner = recorder;
    recorder->signals_pause_ms = SHORTEST_PAUSE_MS;
    event_timer_set(recorder->loop, &recorder->signals_timer, SHORTEST_PAUSE_MS);
}

static void leave(struct session *session)
{
    end_signals(session);
    if (session->takes_samples && !change(session, TRACE_SIGNALS_SENT, TRACE_SIGNALS_OVER))
        change(session, TRACE_SIGNALS_UNWANTED, TRACE_SIGNALS_OVER);
}

const struct session_part own_samples_part = {begin, end_signals, leave, end_signals};
