/*
 * One instance of the service: a single thread around an event loop.
 *
 *      listeners --accept-> client --hello--> session --process gone--> trace cut
 *                             |
 *                             +--command--> an answer in text
 *
 * A client lives as long as it takes to say one thing, and no longer than CLIENT_TIMEOUT_MS. A
 * session lives as long as the process it records. Nothing here ever waits for either.
 */
#ifndef UMBRA_SERVICE_SERVICE_H
#define UMBRA_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/cpu_sampler.h"
#include "service/endpoint.h"
#include "service/event_loop.h"
#include "service/list.h"
#include "service/options.h"
#include "service/signals.h"
#include "service/tcp_endpoint.h"
#include "service/tick_clock.h"

struct call_trace_work;
struct client;
struct session;

struct service {
    const struct options *options;
    struct event_loop loop;
    struct tick_clock clock;
    uint64_t tick; /* the last one told to the processes: trace_header.tick */
    struct signals signals;
    struct event_source signal_source;
    struct endpoint endpoint;
    struct event_source endpoint_source;
    struct tcp_endpoint tcp;
    struct event_source tcp_source;
    char *trace_dir_path; /* absolute */
    int trace_dir;

    struct client *clients; /* in the order in which they came: the first one is due first */
    struct session *sessions;
    unsigned running; /* sessions in the list */

    /* Since the start. */
    unsigned last_session;
    unsigned ended;
    unsigned refused;     /* who connected and was not served */
    unsigned lost;        /* who was, but whose trace could not be made or handed over */
    unsigned strangers;   /* of these, who did not know the secret */
    uint64_t ended_bytes; /* of the traces that are complete */

    struct ended_list ended_sessions;
    bool paused;                        /* sessions that begin now begin so */
    struct call_trace_work *call_trace; /* null until a session needs it */

    struct cpu_sampler *sampler;               /* null: no session has samples */
    char why_no_samples[CPU_SAMPLER_WHY_SIZE]; /* then */

    pid_t command; /* 0 if there is none */
    int exit_status;
    bool stopping;
};

/* Accepts connections from here on. Returns false after one message, with nothing left behind. */
bool service_open(struct service *service, const struct options *options);

/* Runs options->command, if there is one. Returns false after one message. */
bool service_run_command(struct service *service);

/* Serves until it is told to stop or the command has ended. Returns the exit status. */
int service_run(struct service *service);

/* Completes all traces that can be, says which can not, and frees everything. */
void service_close(struct service *service);

/* Has the event loop call ready with the service. Returns false, errno set, if there is no room. */
bool service_watch(struct service *service, struct event_source *source, int fd,
                   void (*ready)(void *));

/* To be called by whoever was told to stop the service: asks the command to end first. */
void service_stop(struct service *service);

#endif
