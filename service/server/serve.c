#include "service/server/serve.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "service/base/family.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/launch/command.h"
#include "service/server/client.h"
#include "service/server/command_link.h"
#include "service/server/left_running.h"
#include "service/server/listeners.h"
#include "service/sessions/recorder_life.h"
#include "service/sessions/session_life.h"

/* Daemons get SIGHUP from whatever renames their log files. */
static bool is_daemon_like(const struct service *service)
{
    return service->settings->is_daemon || message_has_log();
}

/* What a key sends, the command has got as well; what came to us alone is handed on. */
static void signal_came(void *owner)
{
    struct service *service = owner;
    struct signal_event event;

    while (signals_next(&service->signals, &event)) {
        if (event.child_ended) {
            /* Before the command is collected, and how it ended forgotten. */
            session_sweep(&service->recorder, false);
            if (service->command && command_has_ended(service->command, &service->exit_status)) {
                service->command = 0;
                left_running_begin(service);
            }
            family_collect(service->command);
            left_running_look(service);
        } else if (event.for_the_log && !service->command && is_daemon_like(service)) {
            message_reopen_log();
        } else if (!service->command) {
            service->is_stopping = true;
        } else if (!event.from_terminal) {
            command_signal(service->command, event.number);
        }
    }
}

bool serve_open(struct service *service, const struct service_settings *settings)
{
    *service = (struct service){
        .settings = settings,
        .loop.fd = -1,
        .signals.fd = -1,
        .endpoint.lock = -1,
        .second_listener = -1,
        .tcp.listener = -1,
    };
    recorder_init(&service->recorder, settings->recording, &service->loop);
    if (!event_loop_open(&service->loop) || !signals_open(&service->signals) ||
        !service_watch(service, &service->signal_source, service->signals.fd, signal_came)) {
        message("cannot wait for events: %s", strerror(errno));
        goto err;
    }
    if (endpoint_take_over(&service->endpoint, settings->instance,
                           settings->listener ? settings->listener : -1) &&
        recorder_open(&service->recorder) && listeners_open(service)) {
        recorder_begin(&service->recorder, service->endpoint.socket_path);
        return true;
    }
err:
    serve_close(service);
    return false;
}

bool serve_run_command(struct service *service)
{
    if (!service->settings->command)
        return true;
    service->command_kind = command_kind(service->settings->command[0]);
    family_begin();
    command_link_make(service->endpoint.socket_path);
    service->command =
        command_start(service->settings->command, service->settings->instance,
                      service->tcp.listener < 0 ? NULL : service->endpoint.rendezvous_path,
                      &service->signals, &service->exit_status);
    return service->command != 0;
}

int serve_run(struct service *service)
{
    process_raise_descriptor_limit();
    if (service->settings->ends_when_idle)
        left_running_begin(service);
    while (!service->is_stopping)
        event_loop_turn(&service->loop);
    return service->exit_status;
}

/* Clients that asked for the end hear of it when it is there: the instance is free again. */
static void close_clients(struct service *service, unsigned left)
{
    const struct recorder *recorder = &service->recorder;
    struct client *client, *next;
    bool is_synced = false;

    DL_FOREACH_SAFE(service->clients, client, next)
    {
        if (client->awaits_the_end) {
            if (!is_synced && !recorder_sync(recorder))
                client_send(client, "not_on_disk\t%s", strerror(errno));
            is_synced = true;
            client_send(client, "ended\t%u", recorder->ended);
            client_send(client, "ended_bytes\t%" PRIu64, recorder->ended_bytes);
            client_send(client, "left\t%u", left);
            client_send(client, "instance\t%s", service->settings->instance);
            client_send(client, "pid\t%d", (int)getpid());
            client_send(client, NULL);
        }
        client_end(client);
    }
}

void serve_close(struct service *service)
{
    unsigned left;

    event_timer_clear(&service->loop, &service->left_running.timer);
    left = recorder_end(&service->recorder, service->settings->command != NULL);

    if (service->settings->command)
        command_link_remove();
    listeners_say_unserved(service);
    tcp_endpoint_close(&service->tcp);
    endpoint_close(&service->endpoint);
    close_clients(service, left);
    recorder_close(&service->recorder);
    signals_close(&service->signals);
    event_loop_close(&service->loop);
}
