#include "service/server/left_running.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "service/base/family.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/recorder/session.h"
#include "service/server/client.h"
#include "service/server/service.h"

#define SHORTEST_MS 10   /* from one look to the next */
#define LONGEST_MS  500  /* from one look to the next */
#define SAY_MS      300  /* until it is said what is waited for: most of it ends in a moment */
#define EXEC_MS     250  /* for what was forked to execute an instrumented program */
#define HELLO_MS    1000 /* that a daemon has to say hello: its first call may be yet to come */
#define MOST_NAMES  3
#define NAMES_SIZE  256

struct look {
    const struct service *service;
    bool waits_for_exec, waits_for_hello; /* the latter of daemons, too */
    unsigned waited_for, daemons;
    char names[NAMES_SIZE];
    struct others {
        unsigned count;
        char first[64];
    } strangers, not_instrumented;
};

static void note_name(struct look *look, const char *name, int pid)
{
    size_t length = strlen(look->names);

    if (look->waited_for++ < MOST_NAMES)
        snprintf(look->names + length, sizeof(look->names) - length, "%s%s (pid %d)",
                 length ? ", " : "", name, pid);
}

/* EXE of EXE-PID-SESSION.bin. */
static void note_session(struct look *look, const struct session *session)
{
    char name[TRACE_FILE_NAME_SIZE];

    strcpy(name, session->trace.name);
    for (int i = 0; i < 2; i++) {
        char *dash = strrchr(name, '-');
        if (dash)
            *dash = 0;
    }
    note_name(look, name, (int)session->pid);
}

static void look_at_session(struct look *look, const struct session *session)
{
    if (!session->is_tcp && process_is_daemon(session->pid))
        look->daemons++;
    else if (!session->is_tcp || session->source.fd >= 0)
        note_session(look, session);
}

static bool has_session(const struct recorder *recorder, pid_t pid)
{
    const struct session *session;

    DL_FOREACH(recorder->sessions, session)
    {
        if (!session->is_tcp && session->pid == pid)
            return true;
    }
    return false;
}

static void note_other(struct others *others, const struct relative *relative)
{
    if (!others->count++)
        snprintf(others->first, sizeof(others->first), "%s (pid %d)", relative->name,
                 (int)relative->pid);
}

static void look_at_relative(void *owner, const struct relative *relative)
{
    struct look *look = owner;

    if (has_session(&look->service->recorder, relative->pid))
        return;
    if (relative->has_agent ? !relative->is_daemon || look->waits_for_hello : look->waits_for_exec)
        note_name(look, relative->name, (int)relative->pid);
    else if (relative->has_agent)
        note_other(&look->strangers, relative);
    else if (!relative->is_daemon)
        note_other(&look->not_instrumented, relative);
}

static void say(const struct service *service, const struct look *look)
{
    char more[32] = "";

    if (look->waited_for > MOST_NAMES)
        snprintf(more, sizeof(more), " and %u more", look->waited_for - MOST_NAMES);
    message("%s has ended with status %d, and %s%s still run%s: recorded until %s; interrupt, or "
            "call_trace_service stop --instance-id=%s, to stop waiting",
            service->settings->command[0], service->exit_status, look->names, more,
            look->waited_for == 1 ? "s" : "", look->waited_for == 1 ? "it ends" : "they end",
            service->settings->instance);
}

/* When nobody is waited for any more. */
static void say_others(const struct look *look)
{
    if (look->strangers.count)
        message(
            "%s%s: instrumented, runs on, and is not recorded: it has made no call or not found "
            "this service",
            look->strangers.first, look->strangers.count > 1 ? " and others" : "");
    if (look->not_instrumented.count)
        message("%s%s: not instrumented, runs on; what it starts from now on is not recorded",
                look->not_instrumented.first,
                look->not_instrumented.count > 1 ? " and others" : "");
}

static void due(void *owner)
{
    struct service *service = owner;

    if (service->left_running.pause_ms < LONGEST_MS)
        service->left_running.pause_ms *= 2;
    left_running_look(service);
}

/* Somebody who was let in and has not been answered yet. */
static bool has_waiting_client(const struct service *service)
{
    const struct client *client;

    DL_FOREACH(service->clients, client)
    {
        if (client->pid && !client->awaits_the_end)
            return true;
    }
    return false;
}

static void look_again(struct service *service)
{
    service->left_running.timer.due = due;
    service->left_running.timer.owner = service;
    event_timer_set(&service->loop, &service->left_running.timer, service->left_running.pause_ms);
}

void left_running_begin(struct service *service)
{
    service->left_running =
        (struct left_running){.since_ms = event_loop_now(), .pause_ms = SHORTEST_MS};
    left_running_look(service);
}

/* A service in the background waits: a session that another program takes over begins a moment
   later. */
static void look_behind(struct service *service)
{
    if (service->recorder.running)
        service->left_running.since_ms = event_loop_now();
    service->is_stopping |= event_loop_now() - service->left_running.since_ms > HELLO_MS;
    if (!service->is_stopping)
        look_again(service);
}

void left_running_look(struct service *service)
{
    struct left_running *left = &service->left_running;
    int64_t waited_ms = event_loop_now() - left->since_ms;
    struct look look = {.service = service,
                        .waits_for_exec = waited_ms < EXEC_MS,
                        .waits_for_hello = waited_ms < HELLO_MS};
    const struct session *session;
    bool is_all;

    if (!left->pause_ms || service->is_stopping)
        return;
    if (!service->settings->command) {
        look_behind(service);
        return;
    }
    DL_FOREACH(service->recorder.sessions, session)
    look_at_session(&look, session);
    is_all = family_each(look_at_relative, &look) && !has_waiting_client(service);
    is_all |= !look.waits_for_hello;
    if (!look.waited_for && is_all) {
        service->is_stopping = true;
        left->has_daemons = look.daemons > 0;
        left->has_strangers = look.strangers.count > 0;
        say_others(&look);
        return;
    }
    if (look.waited_for && !left->was_said && waited_ms >= SAY_MS) {
        left->was_said = true;
        say(service, &look);
    }
    look_again(service);
}
