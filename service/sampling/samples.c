#include "service/sampling/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"
#include "service/sampling/cpu_sampler.h"
#include "service/sampling/image_map.h"
#include "service/sampling/sample_table.h"

#define FOLLOW_MS 20 /* from one look for new modules to the next */

struct samples {
    struct session *session;
    struct cpu_sampler_target *target;
    struct sample_table table;
    struct image_map images;
    int64_t followed_ms;
    struct samples_header header;
};

static void follow_images(struct samples *samples)
{
    int64_t now = event_loop_now();

    if (samples->followed_ms && now - samples->followed_ms < FOLLOW_MS)
        return;
    samples->followed_ms = now;
    image_map_follow(&samples->images);
}

static void taken(void *owner, const struct cpu_sample *sample)
{
    struct samples *samples = owner;
    uint64_t caller = 0;

    if (samples->session->is_paused)
        return;
    follow_images(samples);
    if (!image_map_has(&samples->images, sample->address))
        caller = image_map_find_return(&samples->images, sample->stack, sample->stack_words);
    if (!sample_table_add(&samples->table, sample->tid, sample->address, caller))
        samples->header.lost++;
}

static void lost(void *owner, uint64_t count)
{
    struct samples *samples = owner;

    samples->header.lost += count;
}

void samples_open(struct recorder *recorder)
{
    static const struct cpu_sampler_receiver receiver = {taken, lost};
    const struct recorder_settings *settings = recorder->settings;

    if (settings->timing == TRACE_TIMING_NONE)
        fail_because(&recorder->no_samples, "--timing=none");
    else if (settings->timing == TRACE_TIMING_SAMPLES)
        fail_because(&recorder->no_samples, "programs take them themselves");
    else if (!settings->samples || settings->records_events)
        fail_because(&recorder->no_samples, "--%s",
                     settings->samples ? "mode=calltrace" : "samples=0");
    else
        recorder->sampler = cpu_sampler_open(recorder->loop, 1000000000u / settings->samples,
                                             &receiver, &recorder->no_samples);
    if (!recorder->sampler && settings->samples && settings->is_verbose)
        message("processes are not sampled: %s", recorder->no_samples.text);
}

void samples_close(struct recorder *recorder)
{
    cpu_sampler_close(recorder->sampler);
    recorder->sampler = NULL;
}

static void begin(struct session *session, const struct trace_header *header)
{
    struct recorder *recorder = session->recorder;
    struct samples *samples;

    session->samples = NULL;
    if (!recorder->sampler || session->is_tcp || header->timing == TRACE_TIMING_NONE)
        return;
    samples = calloc(1, sizeof(*samples));
    if (!samples)
        return;
    samples->session = session;
    samples->header = (struct samples_header){
        .created_ns = header->created_ns,
        .pid = header->pid,
        .period_ns = 1000000000u / recorder->settings->samples,
    };
    samples->target = cpu_sampler_attach(recorder->sampler, session->pid, samples);
    if (!samples->target) {
        if (recorder->settings->is_verbose)
            message("pid %d is not sampled: %s", (int)session->pid,
                    errno == EBUSY ? "there are too many processes, threads or descriptors"
                                   : strerror(errno));
        free(samples);
        return;
    }
    image_map_open(&samples->images, session->pid, session->trace.fd, session->trace.capacity);
    session->samples = samples;
}

static void write_file(struct session *session)
{
    struct samples *samples = session->samples;
    unsigned char *bytes;
    size_t size;

    bytes = sample_table_code(&samples->table, &samples->header, &size);
    session_write_beside(session, SAMPLES_SUFFIX, "samples", bytes, size);
    free(bytes);
}

void samples_gather(struct recorder *recorder)
{
    if (recorder->sampler)
        cpu_sampler_gather(recorder->sampler);
}

static void discard(struct session *session)
{
    struct samples *samples = session->samples;

    if (!samples)
        return;
    cpu_sampler_detach(session->recorder->sampler, samples->target);
    sample_table_close(&samples->table);
    image_map_close(&samples->images);
    free(samples);
    session->samples = NULL;
}

static void end(struct session *session)
{
    struct samples *samples = session->samples;

    if (!samples)
        return;
    samples->followed_ms = 0;
    samples_gather(session->recorder);
    if (samples->table.count)
        write_file(session);
    discard(session);
}

const struct session_part samples_part = {begin, end, end, discard};
