/*
 * One instance of the service: a single thread around an event loop.
 *
 *      listeners --accept-> client --hello--> session (sessions/) --process gone--> trace complete
 *                             |
 *                             +--command--> an answer in text
 *
 * A client lives as long as it takes to say one thing, and no longer than CLIENT_TIMEOUT_MS. A
 * session lives as long as the process it records. Nothing here ever waits for either.
 *
 * This is what listeners and clients share; serve.h opens and closes it.
 */
#ifndef UMBRA_SERVICE_SERVICE_H
#define UMBRA_SERVICE_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "service/base/event_loop.h"
#include "service/launch/command_kind.h"
#include "service/launch/signals.h"
#include "service/recorder/recorder.h"
#include "service/server/endpoint.h"
#include "service/server/tcp_endpoint.h"

struct client;
struct protocol_change;

/* All of it is the caller's. */
struct service_settings {
    const char *instance;
    char **command;      /* to be run, zero-terminated; null: none */
    bool is_daemon;      /* its terminal does not end it */
    int listener;        /* 0: to be made; else an earlier service's, endpoint_take_over */
    bool ends_when_idle; /* with the last of its sessions */
    const struct recorder_settings *recording;
};

/* What the command left running: left_running.h. */
struct left_running {
    struct event_timer timer;
    int64_t since_ms, pause_ms;
    bool was_said;
    bool has_strangers; /* instrumented programs that run on without having come, which was said */
    bool has_daemons; /* when the service stopped since nothing else was left: that are recorded */
};

struct service {
    const struct service_settings *settings;
    struct event_loop loop;
    struct recorder recorder;

    struct signals signals;
    struct event_source signal_source;
    struct endpoint endpoint;
    struct event_source endpoint_source;
    int second_listener; /* where programs connect as well; the caller's; -1 */
    struct event_source second_source;
    struct tcp_endpoint tcp;
    struct event_source tcp_source;

    struct client *clients; /* in the order in which they came */
    unsigned refused;       /* who connected and was not served, since the start */
    unsigned strangers;     /* of these, who did not know the secret */

    /* Who has attached to a process: changes which of these functions are hooked. Null: nobody has. */
    void (*change_hooks)(void *changer, struct client *client, const struct protocol_change *change);
    void *changer;

    pid_t command; /* 0 if there is none */
    enum command_kind command_kind;
    int exit_status;
    struct left_running left_running;
    bool is_stopping;
};

/* Has the event loop call ready with the service. Returns false, errno set, if there is no room. */
bool service_watch(struct service *service, struct event_source *source, int fd,
                   void (*ready)(void *));

/* To be called by whoever was told to stop the service: asks the command to end first. */
void service_stop(struct service *service);

#endif
