#include "service/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/call_trace.h"
#include "service/list.h"
#include "service/message.h"
#include "service/process.h"
#include "service/sampling/samples.h"
#include "service/service.h"
#include "service/slices.h"
#include "service/system_clock.h"
#include "service/tcp.h"

#define SETTLE_MS      1000
#define SETTLE_STEP_MS 10

static void close_watch(struct session *session)
{
    if (session->by_tcp)
        tcp_close(session->source.fd);
    else
        process_unwatch(session->source.fd);
    session->source.fd = -1;
}

/* A tick is a system call a session: with many sessions there are fewer, so that all of them
   together take no more than some percent of a processor. */
#define TICK_SESSIONS 16 /* that have one each millisecond */

static void forget(struct session *session)
{
    struct service *service = session->service;

    if (session->source.fd >= 0) {
        event_loop_remove(&service->loop, &session->source);
        close_watch(session);
    }
    DL_DELETE(service->sessions, session);
    service->running--;
    free(session);
}

static void end(struct session *session, enum trace_end kind)
{
    struct service *service = session->service;
    struct trace_file_end trace_end = {
        .kind = kind,
        .seen_ticks = tick_clock_now(),
        .ticks_per_second = tick_clock_frequency(&service->clock),
    };
    uint64_t bytes;

    call_trace_end(session);
    if (kind == TRACE_END_GONE && !session->by_tcp)
        process_read_end(session->pid, session->source.fd, &trace_end.how, &trace_end.code);
    slices_end(session, false);
    samples_end(session);
    bytes = trace_file_end(&session->trace, &trace_end);
    list_keep(service, session, bytes, &trace_end);
    service->ended++;
    service->ended_bytes += bytes;
    if (service->options->verbose)
        message("session %u: pid %d %s after %.3f s: %" PRIu64 " bytes", session->number,
                (int)session->pid, kind == TRACE_END_EXEC ? "became another program" : "ended",
                (double)(event_loop_now() - session->began_ms) / 1000, bytes);
    forget(session);
}

static void process_gone(void *owner)
{
    end(owner, TRACE_END_GONE);
}

/* A client that was welcome has nothing more to say; one that says something is heard no more. */
static bool connection_is_over(struct session *session)
{
    char unexpected[256];
    ssize_t size = tcp_receive(session->source.fd, unexpected, sizeof(unexpected));

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (size > 0)
        message("pid %d: expected its connection to be silent, found %zd bytes or more: closed",
                (int)session->pid, size);
    event_loop_remove(&session->service->loop, &session->source);
    close_watch(session);
    return true;
}

/* By TCP, a process may have closed its connection and go on: the trace is cut when nobody has it
 * any more. */
static bool is_over(struct session *session)
{
    if (!session->by_tcp)
        return process_is_gone(session->pid, session->source.fd);
    if (session->source.fd >= 0 && !connection_is_over(session))
        return false;
    return trace_file_is_unused(&session->trace);
}

static void connection_ready(void *owner)
{
    struct session *session = owner;

    if (is_over(session))
        end(session, TRACE_END_GONE);
}

/*
 * A process that says hello again has executed another program, its old mappings are gone and the
 * old trace can be cut. That is looked up, since being wrong would kill it: a program can also
 * load the agent twice (dlmopen), or its pid may be another's by now.
 */
static void end_previous(struct service *service, pid_t pid)
{
    struct session *session, *next;

    DL_FOREACH_SAFE(service->sessions, session, next)
    {
        if (session->by_tcp || session->pid != pid)
            continue;
        if (session->source.fd >= 0 && process_is_gone(pid, session->source.fd))
            end(session, TRACE_END_GONE);
        else if (!process_may_map(pid, session->trace.identity))
            end(session, TRACE_END_EXEC);
    }
}

static bool make_trace(struct session *session, const struct session_process *process)
{
    struct service *service = session->service;
    struct trace_header header = {
        .pid = (uint32_t)process->pid,
        .ppid = (uint32_t)process->description.parent,
        .session = service->last_session + 1,
        .node_limit = service->options->node_limit,
        .capacity = service->options->max_trace_size,
        .ticks_per_second = tick_clock_frequency(&service->clock),
        .created_ns = system_clock_real_ns(),
        .fork_of_pid = process->fork_of_pid,
        .system = process->system,
        .timing = service->options->is_exact ? TRACE_TIMING_EXACT : TRACE_TIMING_ADAPTIVE,
        .tick = tick_clock_now() | TRACE_TICK_FLAG,
        .paused = service->paused,
    };

    memcpy(header.exe, process->description.exe, sizeof(header.exe));
    memcpy(header.command, process->description.command, sizeof(header.command));
    if (!trace_file_create(&session->trace, service->trace_dir, &header)) {
        message("%s: cannot make a trace for pid %d (%s): %s", service->trace_dir_path,
                (int)session->pid, header.exe, strerror(errno));
        return false;
    }
    if (!call_trace_begin(session, &header)) {
        trace_file_discard(&session->trace, service->trace_dir);
        return false;
    }
    slices_begin(session, &header);
    samples_begin(session, &header);
    session->number = service->last_session = header.session;
    session->began_ns = header.created_ns;
    session->paused = service->paused;
    if (service->options->verbose)
        message("session %u: pid %d (%s) begins: %s/%s", session->number, (int)session->pid,
                header.exe, service->trace_dir_path, session->trace.name);
    return true;
}

struct session *session_begin(struct service *service, const struct session_process *process)
{
    struct session *session = calloc(1, sizeof(*session));

    if (!session) {
        message("pid %d: %s", (int)process->pid, strerror(errno));
        process_unwatch(process->watch);
        return NULL;
    }
    if (!process->by_tcp)
        end_previous(service, process->pid);
    session->service = service;
    session->pid = process->pid;
    session->by_tcp = process->by_tcp;
    session->began_ms = event_loop_now();
    session->source =
        (struct event_source){.fd = process->watch, .ready = process_gone, .owner = session};
    DL_APPEND(service->sessions, session);
    service->running++;

    if (!make_trace(session, process))
        goto err;
    if (session->source.fd >= 0 && !event_loop_add(&service->loop, &session->source)) {
        message("pid %d cannot be watched: %s", (int)session->pid, strerror(errno));
        call_trace_discard(session);
        slices_discard(session);
        samples_discard(session);
        trace_file_discard(&session->trace, service->trace_dir);
        goto err;
    }
    return session;
err:
    service->lost++;
    forget(session);
    return NULL;
}

void session_watch(struct session *session, int connection)
{
    session->source =
        (struct event_source){.fd = connection, .ready = connection_ready, .owner = session};
    if (event_loop_add(&session->service->loop, &session->source))
        return;
    message("pid %d cannot be watched: %s", (int)session->pid, strerror(errno));
    close_watch(session);
}

bool session_path(const struct session *session, char *path, size_t size)
{
    int length =
        snprintf(path, size, "%s/%s", session->service->trace_dir_path, session->trace.name);

    return length > 0 && (size_t)length < size;
}

bool session_path_beside(const struct session *session, const char *suffix, char *path, size_t size)
{
    int length =
        snprintf(path, size, "%s/%.*s%s", session->service->trace_dir_path,
                 (int)(strlen(session->trace.name) - strlen(".bin")), session->trace.name, suffix);

    return length > 0 && (size_t)length < size;
}

void session_discard(struct session *session)
{
    call_trace_discard(session);
    slices_discard(session);
    samples_discard(session);
    trace_file_discard(&session->trace, session->service->trace_dir);
    session->service->lost++;
    forget(session);
}

static void leave(struct session *session)
{
    struct service *service = session->service;

    message("pid %d is still running: its trace %s/%s is left as it is, recording goes on",
            (int)session->pid, service->trace_dir_path, session->trace.name);
    call_trace_leave(session);
    slices_end(session, true);
    samples_end(session);
    trace_file_leave(&session->trace);
    forget(session);
}

void session_sweep(struct service *service, bool leave_running)
{
    struct session *session, *next;

    DL_FOREACH_SAFE(service->sessions, session, next)
    {
        if (is_over(session))
            end(session, TRACE_END_GONE);
        else if (leave_running)
            leave(session);
    }
}

bool session_needs_sweep(const struct service *service)
{
    const struct session *session;

    DL_FOREACH(service->sessions, session)
    {
        if (session->source.fd < 0)
            return true;
    }
    return false;
}

static bool any_unsettled(const struct service *service, bool all)
{
    const struct session *session;

    DL_FOREACH(service->sessions, session)
    {
        if (session->by_tcp && (all || session->source.fd < 0))
            return true;
    }
    return false;
}

void session_settle(struct service *service, bool all)
{
    session_sweep(service, false);
    for (int waited = 0; waited < SETTLE_MS && any_unsettled(service, all);
         waited += SETTLE_STEP_MS) {
        system_clock_sleep_ms(SETTLE_STEP_MS);
        session_sweep(service, false);
    }
}

unsigned session_running_by_tcp(const struct service *service)
{
    const struct session *session;
    unsigned count = 0;

    DL_FOREACH(service->sessions, session)
    count += session->by_tcp;
    return count;
}

uint64_t session_bytes(const struct session *session)
{
    uint64_t used = trace_file_used(&session->trace);

    return used < session->trace.capacity ? used : session->trace.capacity;
}

uint64_t session_running_bytes(const struct service *service)
{
    const struct session *session;
    uint64_t bytes = 0;

    DL_FOREACH(service->sessions, session)
    bytes += session_bytes(session);
    return bytes;
}

int session_tick(struct service *service, int limit)
{
    const int period_ms = 1 + (int)(service->running / TICK_SESSIONS);
    const uint64_t now = tick_clock_now();
    const uint64_t ticks[2] = {service->tick, now | TRACE_TICK_FLAG};
    const struct session *session;

    if (!service->sessions || service->options->is_exact)
        return limit;
    if (now - (service->tick & ~TRACE_TICK_FLAG) >=
        tick_clock_frequency(&service->clock) / 1000 * (uint64_t)period_ms) {
        DL_FOREACH(service->sessions, session)
        {
            if (!session->by_tcp) /* Windows programs time every call */
                trace_file_tick(&session->trace, ticks);
        }
        service->tick = ticks[1];
    }
    return limit < 0 || limit > period_ms ? period_ms : limit;
}
