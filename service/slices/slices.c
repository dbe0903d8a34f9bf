#include "service/slices/slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/base/tick_clock.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"
#include "service/slices/slice_list.h"
#include "service/slices/slice_sampler.h"

#define FIRST_WIDTH_MS 10
#define COST_FACTOR    100          /* the time a look took, until the next one */
#define MEMORY_LIMIT   (256u << 20) /* of all sessions' samplers */

struct slices {
    struct slice_sampler sampler;
    struct slice_list list;
    uint64_t created_ns;
    uint32_t pid;
    struct event_timer timer; /* the next look */
    bool is_stopped;          /* no further looks */
};

static void discard(struct session *session)
{
    struct slices *slices = session->slices;

    if (!slices)
        return;
    event_timer_clear(session->recorder->loop, &slices->timer);
    slice_sampler_close(&slices->sampler);
    slice_list_close(&slices->list);
    free(slices);
    session->slices = NULL;
}

static size_t memory_in_use(const struct recorder *recorder)
{
    const struct session *session;
    size_t sum = 0;

    DL_FOREACH(recorder->sessions, session)
    {
        if (session->slices)
            sum += slice_sampler_size(&session->slices->sampler);
    }
    return sum;
}

static void take(struct session *session)
{
    struct slices *slices = session->slices;
    uint64_t now = tick_clock_now();
    enum slice_look look = slice_sampler_sample(&slices->sampler, now);

    if (look == SLICE_NOTHING)
        return;
    if (look == SLICE_FAILED ||
        !slice_list_add(&slices->list, now, slices->sampler.entries, slices->sampler.entry_count))
        slices->is_stopped = true;
}

/* In ms, after a look that took so many ticks. */
static int64_t pause_after(const struct recorder *recorder, uint64_t ticks)
{
    double ms = (double)ticks * 1000 / (double)tick_clock_frequency(&recorder->clock);

    return (int64_t)(ms * COST_FACTOR * recorder->running) + 1;
}

static void look(void *owner)
{
    struct session *session = owner;
    struct slices *slices = session->slices;
    uint64_t before = tick_clock_now();
    int64_t width, pause;

    if (memory_in_use(session->recorder) > MEMORY_LIMIT)
        slices->is_stopped = true;
    else
        take(session);
    if (slices->is_stopped)
        return;
    pause = pause_after(session->recorder, tick_clock_now() - before);
    width = (int64_t)FIRST_WIDTH_MS << slices->list.doublings;
    event_timer_set(session->recorder->loop, &slices->timer, pause > width ? pause : width);
}

static void begin(struct session *session, const struct trace_header *header)
{
    struct slices *slices;

    session->slices = NULL;
    if (!session->recorder->settings->slices || header->timing == TRACE_TIMING_NONE)
        return;
    slices = calloc(1, sizeof(*slices));
    if (!slices)
        return;
    slices->created_ns = header->created_ns;
    slices->pid = header->pid;
    slices->timer = (struct event_timer){.due = look, .owner = session};
    session->slices = slices;
    if (!slice_sampler_open(&slices->sampler, session->trace.fd) ||
        !slice_list_open(&slices->list, session->recorder->settings->slices))
        discard(session);
    else
        event_timer_set(session->recorder->loop, &slices->timer, FIRST_WIDTH_MS);
}

static void write_file(const struct session *session, struct slices_header *header)
{
    const struct slices *slices = session->slices;
    unsigned char *bytes;
    size_t size;

    bytes = slice_list_code(&slices->list, header, &size);
    session_write_beside(session, SLICES_SUFFIX, "time slices", bytes, size);
    free(bytes);
}

/* is_cut: the process goes on. */
static void write_all(struct session *session, bool is_cut)
{
    struct slices *slices = session->slices;
    struct slices_header header;

    if (!slices)
        return;
    if (!slices->is_stopped)
        take(session);
    header = (struct slices_header){
        .created_ns = slices->created_ns,
        .pid = slices->pid,
        .flags = is_cut || slices->is_stopped ? SLICES_CUT : 0,
        .start_ticks = slices->sampler.start_ticks,
    };
    if (slices->list.count)
        write_file(session, &header);
    discard(session);
}

static void end(struct session *session)
{
    write_all(session, false);
}

static void leave(struct session *session)
{
    write_all(session, true);
}

const struct session_part slices_part = {begin, end, leave, discard};
