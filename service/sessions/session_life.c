#include "service/sessions/session_life.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/base/system_clock.h"
#include "service/base/tcp.h"
#include "service/events/call_trace.h"
#include "service/keeper/keeper.h"
#include "service/recorder/ticker.h"
#include "service/sampling/own_samples.h"
#include "service/sampling/samples.h"
#include "service/slices/slices.h"

#define MOST_CRASHES   3
#define MEASURING_MS   1000
#define SETTLE_MS      1000
#define SETTLE_STEP_MS 10

/* From one sweep to the next: at first a process is likely to be gone in a moment. */
#define SHORTEST_SWEEP_MS 1
#define LONGEST_SWEEP_MS  500

static const struct session_part *const parts[] = {&call_trace_part, &slices_part, &samples_part,
                                                   &own_samples_part};

#define PART_COUNT (sizeof(parts) / sizeof(*parts))

static void discard_parts(struct session *session)
{
    for (size_t i = 0; i < PART_COUNT; i++)
        parts[i]->discard(session);
}

static void sweep_due(void *owner);

/* Only session_sweep finds that a process without a descriptor is gone. */
static void sweep_soon(struct recorder *recorder)
{
    recorder->sweep_timer.due = sweep_due;
    recorder->sweep_timer.owner = recorder;
    recorder->sweep_pause_ms = SHORTEST_SWEEP_MS;
    event_timer_set(recorder->loop, &recorder->sweep_timer, recorder->sweep_pause_ms);
}

static void close_watch(struct session *session)
{
    if (session->is_tcp)
        tcp_close(session->source.fd);
    else
        process_unwatch(session->source.fd);
    session->source.fd = -1;
}

static void forget(struct session *session)
{
    struct recorder *recorder = session->recorder;

    if (session->source.fd >= 0) {
        event_loop_remove(recorder->loop, &session->source);
        close_watch(session);
    }
    DL_DELETE(recorder->sessions, session);
    recorder->running--;
    free(session);
}

/* To be freed; null if there is no memory. */
static char *path_of(const struct session *session)
{
    char path[FILE_PATH_SIZE + TRACE_FILE_NAME_SIZE];

    return trace_dir_path(session->directory, session->trace.name, path, sizeof(path))
               ? strdup(path)
               : NULL;
}

/* elsewhere: the path of a trace that its directory had no room for; else empty. */
static void keep(const struct session *session, uint64_t bytes, const struct trace_file_end *end,
                 const char *elsewhere)
{
    struct recorder *recorder = session->recorder;
    struct ended_session ended = {
        .number = session->number,
        .pid = session->pid,
        .began_ns = session->began_ns,
        .bytes = bytes,
        .end = *end,
    };

    memcpy(ended.trace, session->trace.name, sizeof(ended.trace));
    if (*elsewhere)
        ended.elsewhere = strdup(elsewhere);
    else if (session->directory != &recorder->trace_dir)
        ended.elsewhere = path_of(session);
    ended_list_add(&recorder->ended_list, &ended);
}

/* What the program has measured since it was looked at last, if anything. */
static void gather_costs(struct session *session)
{
    struct costs costs;

    if (!session->agent || !session->trace.header)
        return;
    costs = costs_read(session->trace.header);
    if (!costs.of[COST_TIMED] || !memcmp(&costs, &session->costs, sizeof(costs)))
        return;
    session->costs = costs;
    cost_table_add(&session->recorder->costs, session->agent, event_loop_now(), &costs);
}

/* Is there one that measures? It has begun just now, or never will. */
static bool somebody_measures(const struct session *beside)
{
    const struct session *session;

    DL_FOREACH(beside->recorder->sessions, session)
    {
        if (session != beside && session->agent == beside->agent &&
            !session->costs.of[COST_TIMED] && event_loop_now() - session->began_ms < MEASURING_MS)
            return true;
    }
    return false;
}

/* What the program that begins finds in its header; all 0 if it is to measure. */
static void give_costs(struct session *session, struct trace_header *header)
{
    struct recorder *recorder = session->recorder;
    struct session *other;
    struct costs costs;

    if (!session->agent)
        return;
    /* They measure once more at their ends, and then have the mean. */
    if (!cost_table_find(&recorder->costs, session->agent, event_loop_now(), &costs)) {
        DL_FOREACH(recorder->sessions, other)
        gather_costs(other);
    }
    if (!cost_table_find(&recorder->costs, session->agent, event_loop_now(), &costs) ||
        (!cost_table_is_fresh(&recorder->costs, session->agent, event_loop_now()) &&
         !somebody_measures(session)))
        return;
    session->costs = costs;
    costs_write(&costs, header);
}

/* Signals by which the kernel ends a program that did wrong, or abort(); not those that are sent.
 */
static const char *name_of_crash(const struct trace_file_end *end)
{
    static const struct {
        uint32_t number;
        const char *name;
    } crashes[] = {{4, "SIGILL"}, {5, "SIGTRAP"},  {6, "SIGABRT"}, {7, "SIGBUS"},
                   {8, "SIGFPE"}, {11, "SIGSEGV"}, {31, "SIGSYS"}};

    for (size_t i = 0; end->how == TRACE_END_KILLED && i < sizeof(crashes) / sizeof(*crashes);
         i++) {
        if (crashes[i].number == end->code)
            return crashes[i].name;
    }
    return NULL;
}

/* Maybe it is our fault: what to try. The first ones stand for all. */
static void say_crash(const struct session *session, const struct trace_file_end *end)
{
    struct recorder *recorder = session->recorder;
    const char *name = name_of_crash(end);

    if (!name || recorder->crashes++ >= MOST_CRASHES)
        return;
    message("%.*s (pid %d) died of %s. Should it do so only when recorded, umbra bisect -- COMMAND "
            "finds the function to leave out with --exclude; of a file instrumented by hand, "
            "instrument --bisect does",
            (int)sizeof(session->trace.header->exe), /* the program may have written there */
            session->trace.header ? session->trace.header->exe : session->trace.name,
            (int)session->pid, name);
}

static void end(struct session *session, enum trace_end kind)
{
    struct recorder *recorder = session->recorder;
    struct trace_file_end trace_end = {
        .kind = kind,
        .seen_ticks = tick_clock_now(),
        .ticks_per_second = tick_clock_frequency(&recorder->clock),
    };
    char elsewhere[FILE_PATH_SIZE + TRACE_FILE_NAME_SIZE];
    uint64_t bytes;

    gather_costs(session);
    trace_dir_find_again(session->directory);
    if (kind == TRACE_END_GONE && !session->is_tcp)
        process_read_end(session->pid, session->source.fd, &trace_end.how, &trace_end.code);
    say_crash(session, &trace_end);
    for (size_t i = 0; i < PART_COUNT; i++)
        parts[i]->end(session);
    bytes = trace_file_end(&session->trace, session->directory, &trace_end, elsewhere,
                           sizeof(elsewhere));
    keeper_release(recorder->keeper, session);
    keep(session, bytes, &trace_end, elsewhere);
    recorder->ended++;
    recorder->ended_bytes += bytes;
    if (recorder->settings->is_verbose)
        message("session %u: pid %d %s after %.3f s: %" PRIu64 " bytes", session->number,
                (int)session->pid,
                kind == TRACE_END_EXEC       ? "became another program"
                : kind == TRACE_END_DETACHED ? "was let go of"
                                             : "ended",
                (double)(event_loop_now() - session->began_ms) / 1000, bytes);
    forget(session);
}

static void process_gone(void *owner)
{
    end(owner, TRACE_END_GONE);
}

void session_detach(struct session *session)
{
    end(session, TRACE_END_DETACHED);
}

/* A client that was welcome has nothing more to say; one that says something is heard no more. */
static bool close_if_over(struct session *session)
{
    char unexpected[256];
    ssize_t size = tcp_receive(session->source.fd, unexpected, sizeof(unexpected));

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (size > 0)
        message("pid %d: expected its connection to be silent, found %zd bytes or more: closed",
                (int)session->pid, size);
    event_loop_remove(session->recorder->loop, &session->source);
    close_watch(session);
    sweep_soon(session->recorder);
    return true;
}

/* By TCP, a process may have closed its connection and go on: the trace is cut when nobody has it
 * any more. */
static bool check_over(struct session *session)
{
    if (!session->is_tcp)
        return process_is_gone(session->pid, session->source.fd);
    if (session->source.fd >= 0 && !close_if_over(session))
        return false;
    return trace_file_cut_if_unused(&session->trace);
}

static void connection_ready(void *owner)
{
    struct session *session = owner;

    if (check_over(session))
        end(session, TRACE_END_GONE);
}

/*
 * A process that says hello again has executed another program, its old mappings are gone and the
 * old trace can be cut. That is looked up, since being wrong would kill it: a program can also
 * load the agent twice (dlmopen), or its pid may be another's by now.
 */
static void end_previous(struct recorder *recorder, pid_t pid)
{
    struct session *session, *next;

    DL_FOREACH_SAFE(recorder->sessions, session, next)
    {
        if (session->is_tcp || session->pid != pid)
            continue;
        if (session->source.fd >= 0 && process_is_gone(pid, session->source.fd))
            end(session, TRACE_END_GONE);
        else if (!process_may_map(pid, session->trace.identity))
            end(session, TRACE_END_EXEC);
    }
}

/* It has begun, or goes on. */
static void look_after(struct session *session)
{
    if (session->has_ticks)
        ticker_start(session->recorder);
    if (session->source.fd < 0 && !session->is_tcp)
        sweep_soon(session->recorder);
}

/* Threads of Windows programs take no samples: their calls are timed. */
static enum trace_timing timing_of(const struct recorder *recorder, uint32_t system)
{
    enum trace_timing wanted = recorder->settings->timing;

    return wanted == TRACE_TIMING_SAMPLES && system == TRACE_SYSTEM_WINDOWS ? TRACE_TIMING_ADAPTIVE
                                                                            : wanted;
}

static bool make_trace(struct session *session, const struct session_process *process)
{
    struct recorder *recorder = session->recorder;
    struct trace_header header = {
        .pid = (uint32_t)process->pid,
        .ppid = (uint32_t)process->description.parent,
        .session = recorder->last_session + 1,
        .node_limit = recorder->settings->node_limit,
        .capacity = recorder->settings->max_trace_size,
        .ticks_per_second = tick_clock_frequency(&recorder->clock),
        .created_ns = system_clock_real_ns(),
        .fork_of_pid = process->fork_of_pid,
        .system = process->system,
        .timing = timing_of(recorder, process->system),
        .sampling_hz = recorder->settings->samples,
        .tick = tick_clock_now() | TRACE_TICK_FLAG,
        .paused = recorder->is_paused,
    };

    session->has_ticks = header.timing == TRACE_TIMING_ADAPTIVE;
    session->agent = process->agent;
    give_costs(session, &header);
    memcpy(header.exe, process->description.exe, sizeof(header.exe));
    memcpy(header.command, process->description.command, sizeof(header.command));
    trace_dir_find_again(session->directory);
    if (!trace_file_create(&session->trace, session->directory->fd, &header, !session->is_tcp)) {
        message("%s: cannot make a trace for pid %d (%s): %s", session->directory->path,
                (int)session->pid, header.exe, strerror(errno));
        return false;
    }
    for (size_t i = 0; i < PART_COUNT; i++)
        parts[i]->begin(session, &header);
    session->number = recorder->last_session = header.session;
    session->began_ns = header.created_ns;
    session->is_paused = recorder->is_paused;
    if (recorder->settings->is_verbose)
        message("session %u: pid %d (%s) begins: %s/%s", session->number, (int)session->pid,
                header.exe, session->directory->path, session->trace.name);
    return true;
}

struct session *session_begin(struct recorder *recorder, const struct session_process *process)
{
    struct session *session = calloc(1, sizeof(*session));

    if (!session) {
        message("pid %d: %s", (int)process->pid, strerror(errno));
        process_unwatch(process->watch);
        return NULL;
    }
    if (!process->is_tcp)
        end_previous(recorder, process->pid);
    session->recorder = recorder;
    session->directory = &recorder->trace_dir;
    session->pid = process->pid;
    session->is_tcp = process->is_tcp;
    session->began_ms = event_loop_now();
    session->source =
        (struct event_source){.fd = process->watch, .ready = process_gone, .owner = session};
    DL_APPEND(recorder->sessions, session);
    recorder->running++;

    if (!make_trace(session, process))
        goto err;
    if (session->source.fd >= 0 && !event_loop_add(recorder->loop, &session->source)) {
        message("pid %d cannot be watched: %s", (int)session->pid, strerror(errno));
        discard_parts(session);
        trace_file_discard(&session->trace, session->directory->fd);
        goto err;
    }
    look_after(session);
    return session;
err:
    recorder->lost++;
    forget(session);
    return NULL;
}

/* Takes over the descriptor. One that is fixed is never found by its path. */
static struct trace_dir *find_directory(struct recorder *recorder, const struct kept_session *kept)
{
    struct trace_dir *directory;
    bool ok;

    if (!kept->is_fixed) {
        file_close(kept->directory_file);
        if (!strcmp(recorder->trace_dir.path, kept->directory))
            return &recorder->trace_dir;
        LL_FOREACH(recorder->adopted_dirs, directory)
        {
            if (!directory->is_fixed && !strcmp(directory->path, kept->directory))
                return directory;
        }
    }
    directory = calloc(1, sizeof(*directory));
    if (directory && kept->is_fixed) {
        *directory = (struct trace_dir){
            .fd = kept->directory_file, .path = strdup(kept->directory), .is_fixed = true};
        ok = directory->path;
    } else {
        ok = directory && trace_dir_open(directory, kept->directory);
    }
    if (ok) {
        LL_PREPEND(recorder->adopted_dirs, directory);
        return directory;
    }
    if (kept->is_fixed)
        file_close(kept->directory_file);
    free(directory);
    return NULL;
}

void session_free_adopted(struct recorder *recorder)
{
    struct trace_dir *directory, *next;

    LL_FOREACH_SAFE(recorder->adopted_dirs, directory, next)
    {
        trace_dir_close(directory);
        free(directory);
    }
    recorder->adopted_dirs = NULL;
}

static bool begin_adopted(struct session *session, const struct kept_session *kept)
{
    const struct trace_header *header;

    session->directory = find_directory(session->recorder, kept);
    if (!session->directory || !trace_file_adopt(&session->trace, kept->trace, kept->name))
        return false;
    header = session->trace.header;
    session->number = ++session->recorder->last_session;
    session->began_ns = header->created_ns;
    session->is_paused = header->paused;
    call_trace_adopt(session, kept->ring);
    return session->source.fd < 0 || event_loop_add(session->recorder->loop, &session->source);
}

static void adopt(struct recorder *recorder, const struct kept_session *kept)
{
    struct session *session = calloc(1, sizeof(*session));

    if (!session)
        return; /* and the earlier keeper with it: what remains is its last snapshot */
    session->recorder = recorder;
    session->pid = (pid_t)kept->pid;
    session->began_ms = event_loop_now();
    session->source =
        (struct event_source){.fd = kept->watch, .ready = process_gone, .owner = session};
    DL_APPEND(recorder->sessions, session);
    recorder->running++;
    if (!begin_adopted(session, kept)) {
        message("pid %d: cannot go on with %s/%s: %s", (int)session->pid, kept->directory,
                kept->name, strerror(errno));
        recorder->lost++;
        forget(session);
        return;
    }
    look_after(session);
    keeper_hold(recorder->keeper, session);
    if (recorder->settings->is_verbose)
        message("session %u: pid %d goes on: %s/%s", session->number, (int)session->pid,
                kept->directory, kept->name);
}

void session_adopt_all(struct recorder *recorder, const char *socket_path)
{
    keeper_adopt(recorder, socket_path, adopt);
}

void session_watch(struct session *session, int connection)
{
    session->source =
        (struct event_source){.fd = connection, .ready = connection_ready, .owner = session};
    if (event_loop_add(session->recorder->loop, &session->source))
        return;
    message("pid %d cannot be watched: %s", (int)session->pid, strerror(errno));
    close_watch(session);
    sweep_soon(session->recorder);
}

/* One that is paused already is not paused once more. */
bool session_pause(struct session *session, bool is_paused)
{
    if (session->is_paused == is_paused)
        return true;
    samples_gather(session->recorder);
    if (trace_file_pause(&session->trace, is_paused)) {
        session->is_paused = is_paused;
        return true;
    }
    message("session %u: cannot write to its trace: %s", session->number, strerror(errno));
    return false;
}

void session_discard(struct session *session)
{
    discard_parts(session);
    keeper_release(session->recorder->keeper, session);
    trace_file_discard(&session->trace, session->directory->fd);
    session->recorder->lost++;
    forget(session);
}

/* Nobody would be there to end its pause. */
static void leave(struct session *session)
{
    bool is_kept = session->trace.header && session->recorder->keeper;

    if (session->is_paused)
        trace_file_pause(&session->trace, false);
    message("pid %d is still running: its trace %s/%s is %s; recording goes on%s",
            (int)session->pid, session->directory->path, session->trace.name,
            is_kept ? "completed when it ends" : "left as it is",
            session->is_paused ? ", also after its pause" : "");
    for (size_t i = 0; i < PART_COUNT; i++)
        parts[i]->leave(session);
    trace_file_leave(&session->trace);
    forget(session);
}

void session_sweep(struct recorder *recorder, bool leave_running)
{
    struct session *session, *next;

    DL_FOREACH_SAFE(recorder->sessions, session, next)
    {
        if (check_over(session))
            end(session, TRACE_END_GONE);
        else if (leave_running)
            leave(session);
    }
}

static bool has_unwatched(const struct recorder *recorder)
{
    const struct session *session;

    DL_FOREACH(recorder->sessions, session)
    {
        if (session->source.fd < 0)
            return true;
    }
    return false;
}

static void sweep_due(void *owner)
{
    struct recorder *recorder = owner;
    int64_t pause_ms = 2 * recorder->sweep_pause_ms;

    session_sweep(recorder, false);
    if (!has_unwatched(recorder))
        return;
    recorder->sweep_pause_ms = pause_ms < LONGEST_SWEEP_MS ? pause_ms : LONGEST_SWEEP_MS;
    event_timer_set(recorder->loop, &recorder->sweep_timer, recorder->sweep_pause_ms);
}

static bool has_unsettled(const struct recorder *recorder, bool all)
{
    const struct session *session;

    DL_FOREACH(recorder->sessions, session)
    {
        if (session->is_tcp && (all || session->source.fd < 0))
            return true;
    }
    return false;
}

void session_settle(struct recorder *recorder, bool all)
{
    session_sweep(recorder, false);
    for (int waited = 0; waited < SETTLE_MS && has_unsettled(recorder, all);
         waited += SETTLE_STEP_MS) {
        system_clock_sleep_ms(SETTLE_STEP_MS);
        session_sweep(recorder, false);
    }
}
