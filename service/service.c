#include "service/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "service/call_trace.h"
#include "service/client.h"
#include "service/command.h"
#include "service/file.h"
#include "service/listeners.h"
#include "service/message.h"
#include "service/process.h"
#include "service/sampling/samples.h"
#include "service/session.h"
#include "service/slices.h"

#define SWEEP_MS 500

void service_stop(struct service *service)
{
    if (service->command)
        command_signal(service->command, SIGTERM);
    else
        service->stopping = true;
}

/* As daemons do, whose SIGHUP comes from whatever renames their log files. */
static bool goes_on_when_hung_up(const struct service *service)
{
    return service->options->verb == VERB_SPAWN || message_has_log();
}

/* What a key sends, the command has got as well; what came to us alone is handed on. */
static void signal_came(void *owner)
{
    struct service *service = owner;
    struct signal_event event;

    while (signals_next(&service->signals, &event)) {
        if (event.child_ended) {
            session_sweep(service, false); /* before it is collected, and its end forgotten */
            if (service->command && command_has_ended(service->command, &service->exit_status)) {
                service->command = 0;
                service->stopping = true;
            }
        } else if (event.for_the_log && !service->command && goes_on_when_hung_up(service)) {
            message_reopen_log();
        } else if (!service->command) {
            service->stopping = true;
        } else if (!event.from_terminal) {
            command_signal(service->command, event.number);
        }
    }
}

static bool open_trace_dir(struct service *service)
{
    const char *path = service->options->trace_dir;

    if (!file_make_directory(path)) {
        message("%s: cannot make the trace directory: %s", path, strerror(errno));
        return false;
    }
    service->trace_dir = file_open_directory(path, &service->trace_dir_path);
    if (service->trace_dir < 0)
        message("%s: cannot open the trace directory: %s", path, strerror(errno));
    return service->trace_dir >= 0;
}

bool service_watch(struct service *service, struct event_source *source, int fd,
                   void (*ready)(void *))
{
    *source = (struct event_source){.fd = fd, .ready = ready, .owner = service};
    return event_loop_add(&service->loop, source);
}

bool service_open(struct service *service, const struct options *options)
{
    *service = (struct service){
        .options = options,
        .paused = options->paused,
        .loop.fd = -1,
        .signals.fd = -1,
        .endpoint.lock = -1,
        .tcp.listener = -1,
        .trace_dir = -1,
    };
    if (!tick_clock_open(&service->clock))
        message("this processor's tick counter does not run at a constant rate: times are rough");
    if (!event_loop_open(&service->loop) || !signals_open(&service->signals) ||
        !service_watch(service, &service->signal_source, service->signals.fd, signal_came)) {
        message("cannot wait for events: %s", strerror(errno));
        goto err;
    }
    if (endpoint_open(&service->endpoint, options->instance) && open_trace_dir(service) &&
        listeners_open(service)) {
        samples_open(service);
        return true;
    }
err:
    service_close(service);
    return false;
}

bool service_run_command(struct service *service)
{
    if (!service->options->command)
        return true;
    service->command =
        command_start(service->options->command, service->options->instance,
                      service->tcp.listener < 0 ? NULL : service->endpoint.rendezvous_path,
                      &service->signals, &service->exit_status);
    return service->command != 0;
}

int service_run(struct service *service)
{
    process_raise_descriptor_limit();
    while (!service->stopping) {
        int timeout = client_drop_idle(service);

        if (session_needs_sweep(service)) {
            session_sweep(service, false);
            timeout = timeout < 0 || timeout > SWEEP_MS ? SWEEP_MS : timeout;
        }
        timeout = session_tick(service, timeout);
        event_loop_turn(&service->loop, call_trace_turn(service, slices_turn(service, timeout)));
    }
    return service->exit_status;
}

/* Those who asked for the end hear of it when it is there: the instance is free again. */
static void close_clients(struct service *service, unsigned left)
{
    struct client *client, *next;
    bool synced = false;

    DL_FOREACH_SAFE(service->clients, client, next)
    {
        if (client->awaits_the_end) {
            if (!synced && !list_sync(service))
                client_say(client, "not all traces are on the disk: %s", strerror(errno));
            synced = true;
            client_say(client, "traces completed: %u, with %" PRIu64 " bytes", service->ended,
                       service->ended_bytes);
            if (left)
                client_say(client,
                           "processes still running: %u, their traces are left as they are; "
                           "recording goes on",
                           left);
            client_say(client, "instance %s: stopped, pid %d", service->options->instance,
                       (int)getpid());
            client_say(client, NULL);
        }
        client_end(client);
    }
}

void service_close(struct service *service)
{
    unsigned left;

    session_settle(service, service->options->command != NULL);
    left = service->running;
    session_sweep(service, true);
    tcp_endpoint_close(&service->tcp);
    endpoint_close(&service->endpoint);
    close_clients(service, left);
    call_trace_close(service);
    samples_close(service);
    list_free(&service->ended_sessions);
    signals_close(&service->signals);
    event_loop_close(&service->loop);
    file_close(service->trace_dir);
    free(service->trace_dir_path);
}
