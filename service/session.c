#include "service/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "service/connection.h"
#include "service/message.h"
#include "service/process.h"
#include "service/service.h"
#include "trace/protocol.h"

#define TICKS_PER_SECOND 1000

static void forget(struct session *session)
{
    struct service *service = session->service;

    if (session->source.fd >= 0) {
        event_loop_remove(&service->loop, &session->source);
        close(session->source.fd);
    }
    DL_DELETE(service->sessions, session);
    service->running--;
    free(session);
}

static void end(struct session *session, enum trace_end kind)
{
    struct service *service = session->service;
    const struct trace_file_end trace_end = {
        .kind = kind,
        .seen_ticks = tick_clock_now(),
        .ticks_per_second = tick_clock_frequency(&service->clock),
    };
    uint64_t bytes = trace_file_end(&session->trace, &trace_end);

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
        if (session->pid != pid)
            continue;
        if (session->source.fd >= 0 && process_is_gone(pid, session->source.fd))
            end(session, TRACE_END_GONE);
        else if (!process_may_map(pid, session->trace.inode))
            end(session, TRACE_END_EXEC);
    }
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool make_trace(struct session *session, uint32_t fork_of_pid)
{
    struct service *service = session->service;
    struct process_description process;
    struct trace_header header = {
        .pid = (uint32_t)session->pid,
        .session = service->last_session + 1,
        .node_limit = service->options->node_limit,
        .capacity = service->options->max_trace_size,
        .ticks_per_second = tick_clock_frequency(&service->clock),
        .created_ns = now_ns(),
        .fork_of_pid = fork_of_pid,
        .timing = service->options->is_exact ? TRACE_TIMING_EXACT : TRACE_TIMING_ADAPTIVE,
        .tick = tick_clock_now() | TRACE_TICK_FLAG,
    };

    if (!process_describe(session->pid, &process)) {
        message("pid %d is gone before it could be recorded", (int)session->pid);
        return false;
    }
    header.ppid = (uint32_t)process.parent;
    memcpy(header.exe, process.exe, sizeof(header.exe));
    memcpy(header.command, process.command, sizeof(header.command));
    if (!trace_file_create(&session->trace, service->trace_dir, &header)) {
        message("%s: cannot make a trace for pid %d (%s): %s", service->trace_dir_path,
                (int)session->pid, header.exe, strerror(errno));
        return false;
    }
    session->number = service->last_session = header.session;
    if (service->options->verbose)
        message("session %u: pid %d (%s) begins: %s/%s", session->number, (int)session->pid,
                header.exe, service->trace_dir_path, session->trace.name);
    return true;
}

struct session *session_begin(struct service *service, int connection, pid_t pid,
                              const struct protocol_hello *hello)
{
    struct session *session = calloc(1, sizeof(*session));

    if (!session) {
        message("pid %d: %s", (int)pid, strerror(errno));
        return NULL;
    }
    end_previous(service, pid);
    session->service = service;
    session->pid = pid;
    session->began_ms = event_loop_now();
    session->source =
        (struct event_source){connection_watch_peer(connection, pid), process_gone, session};
    DL_APPEND(service->sessions, session);
    service->running++;

    if (!make_trace(session, hello->fork_of_pid))
        goto err;
    if (session->source.fd >= 0 && !event_loop_add(&service->loop, &session->source)) {
        message("pid %d cannot be watched: %s", (int)pid, strerror(errno));
        trace_file_discard(&session->trace, service->trace_dir);
        goto err;
    }
    return session;
err:
    forget(session);
    return NULL;
}

void session_discard(struct session *session)
{
    trace_file_discard(&session->trace, session->service->trace_dir);
    forget(session);
}

static void leave(struct session *session)
{
    struct service *service = session->service;

    message("pid %d is still running: its trace %s/%s is left as it is, recording goes on",
            (int)session->pid, service->trace_dir_path, session->trace.name);
    trace_file_leave(&session->trace);
    forget(session);
}

void session_sweep(struct service *service, bool leave_running)
{
    struct session *session, *next;

    DL_FOREACH_SAFE(service->sessions, session, next)
    {
        if (process_is_gone(session->pid, session->source.fd))
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

uint64_t session_running_bytes(const struct service *service)
{
    const struct session *session;
    uint64_t bytes = 0;

    DL_FOREACH(service->sessions, session)
    {
        uint64_t used = trace_file_used(&session->trace);
        bytes += used < session->trace.capacity ? used : session->trace.capacity;
    }
    return bytes;
}

bool session_needs_ticks(const struct service *service)
{
    return service->sessions && !service->options->is_exact;
}

void session_tick(struct service *service)
{
    const uint64_t now = tick_clock_now();
    const uint64_t ticks[2] = {service->tick, now | TRACE_TICK_FLAG};
    const struct session *session;

    if (now - (service->tick & ~TRACE_TICK_FLAG) <
        tick_clock_frequency(&service->clock) / TICKS_PER_SECOND)
        return;
    DL_FOREACH(service->sessions, session)
    {
        trace_file_tick(&session->trace, ticks);
    }
    service->tick = ticks[1];
}
