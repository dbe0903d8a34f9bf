#include "service/status.h"

#include <inttypes.h>
#include <unistd.h>

#include "service/client.h"
#include "service/json.h"
#include "service/process.h"
#include "service/sampling/samples.h"
#include "service/service.h"
#include "service/session.h"

static void say_text(struct client *client, const struct process_needs *needs)
{
    const struct service *service = client->service;

    client_say(client, "instance %s: running, pid %d, traces in %s", service->options->instance,
               (int)getpid(), service->trace_dir_path);
    client_say(client, "sessions: %u running, %u ended, %u refused, %u lost", service->running,
               service->ended, service->refused, service->lost);
    client_say(client, "recording: %s", service->paused ? "paused for new programs" : "on");
    client_say(client, "bytes: %" PRIu64 " in traces of running processes, %" PRIu64 " in others",
               session_running_bytes(service), service->ended_bytes);
    client_say(client, "memory: %" PRIu64 " bytes resident", needs->resident_bytes);
    client_say(client, "descriptors: %u in use, of %" PRIu64, needs->descriptors,
               needs->descriptor_limit);
    if (service->tcp.listener >= 0)
        client_say(client, "windows programs: %u running, port %u", session_running_by_tcp(service),
                   service->tcp.rendezvous.port);
    client_say(client, "clock: %" PRIu64 " ticks a second", tick_clock_frequency(&service->clock));
    client_say(client, "timing: %s", service->options->is_exact ? "exact" : "adaptive");
    if (service->sampler)
        client_say(client, "samples: %u a second of processor time, of %u running",
                   service->options->samples, samples_running(service));
    else
        client_say(client, "samples: none: %s", service->why_no_samples);
}

static void say_json(struct client *client, const struct process_needs *needs)
{
    const struct service *service = client->service;
    char path[2 * OPTIONS_PATH_SIZE], why[2 * CPU_SAMPLER_WHY_SIZE];

    client_say(client,
               "{\"instance\":\"%s\",\"pid\":%d,\"trace_dir\":%s,\"running\":%u,\"ended\":%u,"
               "\"refused\":%u,\"lost\":%u,\"paused\":%s,\"running_bytes\":%" PRIu64
               ",\"ended_bytes\":%" PRIu64 ",\"resident_bytes\":%" PRIu64
               ",\"descriptors\":%u,\"descriptor_limit\":%" PRIu64
               ",\"windows_programs\":%u,\"ticks_per_second\":%" PRIu64
               ",\"samples_per_second\":%u,\"sampled\":%u,\"why_no_samples\":%s}",
               service->options->instance, (int)getpid(),
               json_string(path, sizeof(path), service->trace_dir_path), service->running,
               service->ended, service->refused, service->lost, service->paused ? "true" : "false",
               session_running_bytes(service), service->ended_bytes, needs->resident_bytes,
               needs->descriptors, needs->descriptor_limit, session_running_by_tcp(service),
               tick_clock_frequency(&service->clock),
               service->sampler ? service->options->samples : 0, samples_running(service),
               service->sampler ? "null" : json_string(why, sizeof(why), service->why_no_samples));
}

void status_say(struct client *client, bool as_json)
{
    struct process_needs needs;

    process_read_needs(&needs);
    if (as_json)
        say_json(client, &needs);
    else
        say_text(client, &needs);
    client_say(client, NULL);
}
