#include "service/slices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/file.h"
#include "service/message.h"
#include "service/service.h"
#include "service/session.h"
#include "service/slice_list.h"
#include "service/slice_sampler.h"
#include "service/tick_clock.h"

#define FIRST_WIDTH_MS 10
#define COST_FACTOR    100          /* the time a look took, until the next one */
#define MEMORY_LIMIT   (256u << 20) /* of all sessions' samplers */

struct slices {
    struct slice_sampler sampler;
    struct slice_list list;
    uint64_t created_ns;
    uint32_t pid;
    int64_t due_ms;
    bool stopped; /* no further looks */
};

void slices_begin(struct session *session, const struct trace_header *header)
{
    struct slices *slices;

    session->slices = NULL;
    if (!session->service->options->slices)
        return;
    slices = calloc(1, sizeof(*slices));
    if (!slices)
        return;
    slices->created_ns = header->created_ns;
    slices->pid = header->pid;
    slices->due_ms = event_loop_now() + FIRST_WIDTH_MS;
    session->slices = slices;
    if (!slice_sampler_open(&slices->sampler, session->trace.fd) ||
        !slice_list_open(&slices->list, session->service->options->slices))
        slices_discard(session);
}

void slices_discard(struct session *session)
{
    struct slices *slices = session->slices;

    if (!slices)
        return;
    slice_sampler_close(&slices->sampler);
    slice_list_close(&slices->list);
    free(slices);
    session->slices = NULL;
}

static size_t memory_in_use(const struct service *service)
{
    const struct session *session;
    size_t sum = 0;

    DL_FOREACH(service->sessions, session)
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
    enum slice_look look = slice_sampler_look(&slices->sampler, now);

    if (look == SLICE_NOTHING)
        return;
    if (look == SLICE_FAILED ||
        !slice_list_add(&slices->list, now, slices->sampler.entries, slices->sampler.entry_count))
        slices->stopped = true;
}

/* In ms, after a look that took so many ticks. */
static int64_t pause_after(const struct service *service, uint64_t ticks)
{
    double ms = (double)ticks * 1000 / (double)tick_clock_frequency(&service->clock);

    return (int64_t)(ms * COST_FACTOR * service->running) + 1;
}

static void take_if_due(struct session *session, int64_t now)
{
    struct slices *slices = session->slices;
    uint64_t before = tick_clock_now();
    int64_t width = (int64_t)FIRST_WIDTH_MS << slices->list.doublings;
    int64_t pause;

    if (slices->due_ms > now)
        return;
    if (memory_in_use(session->service) > MEMORY_LIMIT)
        slices->stopped = true;
    else
        take(session);
    pause = pause_after(session->service, tick_clock_now() - before);
    slices->due_ms = event_loop_now() + (pause > width ? pause : width);
}

int slices_turn(struct service *service, int limit)
{
    int64_t now = event_loop_now();
    struct session *session;

    DL_FOREACH(service->sessions, session)
    {
        int64_t wait;
        if (!session->slices || session->slices->stopped)
            continue;
        take_if_due(session, now);
        wait = session->slices->due_ms - now;
        wait = wait < 1 ? 1 : wait;
        if (limit < 0 || wait < limit)
            limit = (int)(wait < 1000 ? wait : 1000);
    }
    return limit;
}

static void write_file(const struct session *session, struct slices_header *header)
{
    const struct slices *slices = session->slices;
    char path[4096 + TRACE_FILE_NAME_SIZE];
    unsigned char *bytes;
    size_t size;

    if (!session_path_beside(session, SLICES_SUFFIX, path, sizeof(path)))
        return;
    bytes = slice_list_code(&slices->list, header, &size);
    if (!bytes || !file_replace(path, bytes, size))
        message("%s: cannot write the time slices: %s", path, strerror(errno));
    free(bytes);
}

void slices_end(struct session *session, bool cut)
{
    struct slices *slices = session->slices;
    struct slices_header header;

    if (!slices)
        return;
    if (!slices->stopped)
        take(session);
    header = (struct slices_header){
        .created_ns = slices->created_ns,
        .pid = slices->pid,
        .flags = cut || slices->stopped ? SLICES_CUT : 0,
        .start_ticks = slices->sampler.start_ticks,
    };
    if (slices->list.count)
        write_file(session, &header);
    slices_discard(session);
}
