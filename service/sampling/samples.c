#include "service/sampling/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/file.h"
#include "service/sampling/image_map.h"
#include "service/message.h"
#include "service/sampling/sample_table.h"
#include "service/service.h"
#include "service/session.h"

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

    if (samples->session->paused)
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

void samples_open(struct service *service)
{
    static const struct cpu_sampler_receiver receiver = {taken, lost};
    const struct options *options = service->options;

    if (!options->samples || options->records_events)
        snprintf(service->why_no_samples, sizeof(service->why_no_samples), "--%s",
                 options->samples ? "mode=calltrace" : "samples=0");
    else
        service->sampler = cpu_sampler_open(&service->loop, 1000000000u / options->samples,
                                            &receiver, service->why_no_samples);
    if (!service->sampler && options->samples && options->verbose)
        message("processes are not sampled: %s", service->why_no_samples);
}

void samples_close(struct service *service)
{
    cpu_sampler_close(service->sampler);
    service->sampler = NULL;
}

void samples_begin(struct session *session, const struct trace_header *header)
{
    struct service *service = session->service;
    struct samples *samples;

    session->samples = NULL;
    if (!service->sampler || session->by_tcp)
        return;
    samples = calloc(1, sizeof(*samples));
    if (!samples)
        return;
    samples->session = session;
    samples->header = (struct samples_header){
        .created_ns = header->created_ns,
        .pid = header->pid,
        .period_ns = 1000000000u / service->options->samples,
    };
    samples->target = cpu_sampler_attach(service->sampler, session->pid, samples);
    if (!samples->target) {
        if (service->options->verbose)
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
    char path[OPTIONS_PATH_SIZE + TRACE_FILE_NAME_SIZE];
    unsigned char *bytes;
    size_t size;

    if (!session_path_beside(session, SAMPLES_SUFFIX, path, sizeof(path)))
        return;
    bytes = sample_table_code(&samples->table, &samples->header, &size);
    if (!bytes || !file_replace(path, bytes, size))
        message("%s: cannot write the samples: %s", path, strerror(errno));
    free(bytes);
}

void samples_end(struct session *session)
{
    struct samples *samples = session->samples;

    if (!samples)
        return;
    samples->followed_ms = 0;
    samples_gather(session->service);
    if (samples->table.count)
        write_file(session);
    samples_discard(session);
}

void samples_discard(struct session *session)
{
    struct samples *samples = session->samples;

    if (!samples)
        return;
    cpu_sampler_detach(session->service->sampler, samples->target);
    sample_table_close(&samples->table);
    image_map_close(&samples->images);
    free(samples);
    session->samples = NULL;
}

void samples_gather(struct service *service)
{
    if (service->sampler)
        cpu_sampler_gather(service->sampler);
}

unsigned samples_running(const struct service *service)
{
    const struct session *session;
    unsigned count = 0;

    DL_FOREACH(service->sessions, session)
    count += session->samples != NULL;
    return count;
}
