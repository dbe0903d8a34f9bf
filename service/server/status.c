#include "service/server/status.h"

#include <inttypes.h>
#include <unistd.h>

#include "service/base/process.h"
#include "service/server/client.h"
#include "service/server/service.h"

static void say_sessions(struct client *client)
{
    const struct service *service = client->service;
    const struct recorder *recorder = &service->recorder;

    client_send(client, "running\t%u", recorder->running);
    client_send(client, "ended\t%u", recorder->ended);
    client_send(client, "refused\t%u", service->refused);
    client_send(client, "lost\t%u", recorder->lost);
    client_send(client, "paused\t%d", recorder->is_paused);
    client_send(client, "running_bytes\t%" PRIu64, recorder_running_bytes(recorder));
    client_send(client, "ended_bytes\t%" PRIu64, recorder->ended_bytes);
}

static void say_needs(struct client *client)
{
    struct process_needs needs;

    process_read_needs(&needs);
    client_send(client, "resident_bytes\t%" PRIu64, needs.resident_bytes);
    client_send(client, "descriptors\t%u", needs.descriptors);
    client_send(client, "descriptor_limit\t%" PRIu64, needs.descriptor_limit);
}

static void say_recording(struct client *client)
{
    static const char *const timings[] = {[TRACE_TIMING_EXACT] = "exact",
                                          [TRACE_TIMING_ADAPTIVE] = "adaptive",
                                          [TRACE_TIMING_NONE] = "none",
                                          [TRACE_TIMING_SAMPLES] = "samples"};
    const struct recorder *recorder = &client->service->recorder;

    client_send(client, "ticks_per_second\t%" PRIu64, tick_clock_frequency(&recorder->clock));
    client_send(client, "timing\t%s", timings[recorder->settings->timing]);
    client_send(client, "samples_per_second\t%u",
                recorder->sampler ? recorder->settings->samples : 0);
    client_send(client, "sampled\t%u", recorder_sampled(recorder));
    if (!recorder->sampler)
        client_send(client, "why_no_samples\t%s", recorder->no_samples.text);
}

void status_answer(struct client *client, const struct protocol_command *command)
{
    const struct service *service = client->service;

    (void)command;
    client_send(client, "instance\t%s", service->settings->instance);
    client_send(client, "pid\t%d", (int)getpid());
    client_send(client, "trace_dir\t%s", service->recorder.trace_dir.path);
    say_sessions(client);
    say_needs(client);
    client_send(client, "windows_programs\t%u", recorder_running_by_tcp(&service->recorder));
    if (service->tcp.listener >= 0)
        client_send(client, "port\t%u", service->tcp.rendezvous.port);
    say_recording(client);
}
