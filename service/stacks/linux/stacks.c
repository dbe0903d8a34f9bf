#include "service/stacks/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

#include "service/base/event_loop.h"
#include "service/base/family.h"
#include "service/base/message.h"
#include "service/base/process.h"
#include "service/base/system_clock.h"
#include "service/launch/command.h"
#include "service/launch/signals.h"
#include "service/stacks/linux/stack_attach.h"
#include "service/stacks/linux/stack_events.h"
#include "service/stacks/linux/stack_file.h"
#include "service/traces/trace_dir.h"

#define SECOND       1000000000u
#define TIMES_WITHIN 1000000 /* ns in which a thread's time is told after its end */
#define LINGER_MS    20      /* from one look for what the command has left to the next */

struct thread {
    uint32_t tid;
    struct trace_thread record;
    struct stack_dump last;
    bool has_ended;
    UT_hash_handle hh;
};

/* Code that was mapped, for those that are forked. */
struct map {
    struct stack_event event; /* with a name of its own */
    struct map *next;
};

/* A process from one exec to the next. */
struct process {
    uint32_t pid;
    struct trace_header header;
    struct map *maps; /* in the order they came */
    struct thread *threads;
    uint32_t living;
    uint64_t ended;                  /* when its last thread did; 0: not yet */
    struct process *before, *behind; /* those that have ended, in the order of their ends */
    struct stack_file file;          /* begun with the first sample, or at the end */
    bool has_failed;                 /* which was said */
    bool is_unnamed; /* its arguments were not there as it was executed: it has its thread's name */
    UT_hash_handle hh;
};

struct recording {
    const struct stacks_settings *settings;
    struct event_loop loop;
    struct signals signals;
    struct event_source signal_source;
    struct event_timer timer;
    struct trace_dir trace_dir;
    struct stack_events *events;
    struct process *processes;
    struct process *dying;   /* the first that has ended */
    uint64_t steady_to_real; /* what makes one time of the other */
    uint32_t session;
    uint64_t lost;
    pid_t command; /* 0: there is none, or nobody waits for what it has left */
    int status;
    bool has_ended; /* the command; of a process that ran already: enough was seen of it */
};

static void say_failed(struct process *process, const char *name)
{
    if (!process->has_failed)
        message("%s: pid %u: cannot write the trace: %s", name, process->pid, strerror(errno));
    process->has_failed = true;
}

static void free_map(struct map *map)
{
    free((char *)map->event.name);
    free(map);
}

static void free_maps(struct process *process)
{
    struct map *map, *next;

    LL_FOREACH_SAFE(process->maps, map, next)
    {
        free_map(map);
    }
    process->maps = NULL;
}

static struct thread *thread_of(struct process *process, uint32_t tid, uint64_t time)
{
    struct thread *thread;

    HASH_FIND(hh, process->threads, &tid, sizeof(tid), thread);
    if (thread || !(thread = calloc(1, sizeof(*thread))))
        return thread;
    thread->tid = tid;
    thread->record = (struct trace_thread){
        .tid = tid,
        .ordinal = HASH_COUNT(process->threads) + 1,
        .state = TRACE_THREAD_RUNNING,
        .start_ticks = time,
        .is_sampled = TRACE_SAMPLED_BY_PERF,
    };
    HASH_ADD(hh, process->threads, tid, sizeof(tid), thread);
    process->living++;
    return thread;
}

static struct process *find(struct recording *recording, uint32_t pid)
{
    struct process *process;

    HASH_FIND(hh, recording->processes, &pid, sizeof(pid), process);
    return process;
}

static struct process *add_process(struct recording *recording, uint32_t pid, uint32_t parent,
                                   uint64_t time)
{
    struct process *process = calloc(1, sizeof(*process));

    if (!process)
        return NULL;
    process->pid = pid;
    process->header = (struct trace_header){
        .magic = TRACE_MAGIC, /* its terminating zero has no room */
        .version = TRACE_VERSION,
        .header_size = TRACE_HEADER_SIZE,
        .block_size = TRACE_BLOCK_SIZE,
        .ticks_per_second = SECOND,
        .pid = pid,
        .ppid = parent,
        .created_ns = time + recording->steady_to_real,
        .start_ticks = time,
        .state = TRACE_RUNNING,
        .timing = TRACE_TIMING_SAMPLES,
        .sampling_hz = recording->settings->samples,
        .source = TRACE_OF_STACKS,
    };
    HASH_ADD(hh, recording->processes, pid, sizeof(pid), process);
    return process;
}

/* What it has mapped so far belongs to it as well. */
static bool begin_file(struct recording *recording, struct process *process)
{
    struct map *map;

    if (process->file.stream)
        return true;
    if (process->has_failed)
        return false;
    process->header.session = ++recording->session;
    if (!stack_file_begin(&process->file, &recording->trace_dir, &process->header,
                          SECOND / recording->settings->samples,
                          stack_events_are_of_user(recording->events))) {
        say_failed(process, recording->trace_dir.path);
        return false;
    }
    recording->session = process->header.session;
    LL_FOREACH(process->maps, map)
    {
        stack_file_map(&process->file, &map->event);
    }
    return true;
}

/* By ordinals; null: no memory. */
static struct trace_thread *records_of(const struct process *process, uint64_t time)
{
    struct trace_thread *records = calloc(HASH_COUNT(process->threads) + 1u, sizeof(*records));
    struct thread *thread, *next;

    if (!records)
        return NULL;
    HASH_ITER(hh, process->threads, thread, next)
    {
        if (!thread->has_ended)
            thread->record.end_ticks = time;
        thread->record.state = TRACE_THREAD_ENDED;
        records[thread->record.ordinal - 1] = thread->record;
    }
    return records;
}

static void write_out(struct recording *recording, struct process *process, uint64_t time)
{
    struct trace_thread *records;

    if (!begin_file(recording, process))
        return;
    process->file.header.lost = recording->lost;
    recording->lost = 0;
    process->header.end_ticks = process->header.end_seen_ticks = time;
    records = records_of(process, time);
    if (!records || !stack_file_end(&process->file, &recording->trace_dir, &process->header,
                                    records, HASH_COUNT(process->threads)))
        say_failed(process, process->file.name);
    else if (recording->settings->is_verbose)
        message("pid %u: %s: %" PRIu64 " samples", process->pid, process->file.name,
                process->file.header.taken);
    free(records);
}

static void end_process(struct recording *recording, struct process *process, enum trace_end end,
                        uint64_t time)
{
    struct thread *thread, *next;
    bool was_nothing = end == TRACE_END_EXEC && !process->file.stream;

    process->header.end = end;
    if ((pid_t)process->pid == recording->command && recording->has_ended) {
        process->header.end_how = recording->status > 128 ? TRACE_END_KILLED : TRACE_END_EXITED;
        process->header.end_code =
            (uint32_t)(recording->status > 128 ? recording->status - 128 : recording->status);
    }
    if (!was_nothing) /* as between a fork and the exec that follows it */
        write_out(recording, process, time);
    HASH_DELETE(hh, recording->processes, process);
    if (process->ended)
        DL_DELETE2(recording->dying, process, before, behind);
    HASH_ITER(hh, process->threads, thread, next)
    {
        HASH_DELETE(hh, process->threads, thread);
        free(thread->last.bytes);
        free(thread);
    }
    free_maps(process);
    free(process);
}

static bool is_same(const struct stack_event *a, const struct stack_event *b)
{
    return a->address == b->address && a->length == b->length && a->offset == b->offset &&
           a->build_id_size == b->build_id_size &&
           !memcmp(a->build_id, b->build_id, a->build_id_size) && !strcmp(a->name, b->name);
}

static struct map *copy_map(const struct stack_event *event)
{
    struct map *map = calloc(1, sizeof(*map));

    if (!map)
        return NULL;
    map->event = *event;
    map->event.name = strdup(event->name);
    if (map->event.name)
        return map;
    free(map);
    return NULL;
}

/*
 * Memory that becomes executable is told of like a file that is mapped, each time, and some
 * compilers at run time write to their code all the time. So what lies within the new is forgotten,
 * and what changes nothing is not kept. False: it changes nothing.
 */
static bool add_map(struct process *process, const struct stack_event *event)
{
    uint64_t end = event->address + event->length;
    bool is_file = event->name[0] == '/' && event->name[1] != '/', is_known = false,
         is_news = false;
    struct map **at = &process->maps, *map;

    while ((map = *at)) {
        uint64_t map_end = map->event.address + map->event.length;
        bool is_apart = map->event.address >= end || map_end <= event->address;
        if (!is_apart && is_same(&map->event, event))
            is_known = true;
        else if (!is_apart)
            is_news = true;
        if (is_apart || map->event.address < event->address || map_end > end) {
            at = &map->next;
            continue;
        }
        *at = map->next;
        free_map(map);
    }
    is_news |= is_file && !is_known;
    if (is_news || is_known)
        *at = copy_map(event);
    return is_news;
}

/* A thread has the name of the one that made it until it gets its own. */
static void begin_thread(struct process *process, struct process *parent,
                         const struct stack_event *event)
{
    struct thread *thread = thread_of(process, event->tid, event->time), *by = NULL;

    if (parent)
        HASH_FIND(hh, parent->threads, &event->parent_tid, sizeof(event->parent_tid), by);
    if (thread && by)
        memcpy(thread->record.name, by->record.name, sizeof(thread->record.name));
}

static void on_begin(struct recording *recording, const struct stack_event *event)
{
    struct process *parent = find(recording, event->parent), *process = find(recording, event->pid);
    struct map *map;

    if (process && process->ended && event->pid != event->parent) { /* its number has come again */
        end_process(recording, process, TRACE_END_GONE, process->ended);
        process = NULL;
    }
    if (event->pid == event->parent || process) {
        if (process)
            begin_thread(process, parent, event);
        return;
    }
    process = add_process(recording, event->pid, event->parent, event->time);
    if (!process)
        return;
    begin_thread(process, parent, event);
    if (!parent)
        return;
    process->header.fork_of_pid = event->parent;
    memcpy(process->header.exe, parent->header.exe, sizeof(process->header.exe));
    memcpy(process->header.command, parent->header.command, sizeof(process->header.command));
    LL_FOREACH(parent->maps, map)
    {
        add_map(process, &map->event);
    }
}

static void on_exec(struct recording *recording, const struct stack_event *event)
{
    struct process *process = find(recording, event->pid);
    uint32_t parent = process         ? process->header.ppid
                      : event->parent ? event->parent
                                      : (uint32_t)getpid();
    struct thread *thread;

    if (process)
        end_process(recording, process, TRACE_END_EXEC, event->time);
    process = add_process(recording, event->pid, parent, event->time);
    if (!process)
        return;
    thread = thread_of(process, event->tid, event->time);
    if (thread)
        snprintf(thread->record.name, sizeof(thread->record.name), "%s", event->name);
    snprintf(process->header.command, sizeof(process->header.command), "%s",
             event->command ? event->command : event->name);
    process->is_unnamed = !event->command;
}

/* A program that takes long to load has its arguments late. */
static void name_late(struct process *process)
{
    char *command = stack_events_command(process->pid);

    if (command)
        snprintf(process->header.command, sizeof(process->header.command), "%s", command);
    process->is_unnamed = !command;
    free(command);
}

/* The first file is the program itself. */
static void on_map(struct process *process, const struct stack_event *event)
{
    if (!process->header.exe[0])
        snprintf(process->header.exe, sizeof(process->header.exe), "%s", event->name);
    if (add_map(process, event) && process->file.stream)
        stack_file_map(&process->file, event);
}

static void on_sample(struct recording *recording, struct process *process,
                      const struct stack_event *event)
{
    struct thread *thread = thread_of(process, event->tid, event->time);

    if (process->is_unnamed)
        name_late(process);
    if (thread && begin_file(recording, process))
        stack_file_sample(&process->file, event, &thread->last);
}

static void on_end(struct recording *recording, struct process *process,
                   const struct stack_event *event)
{
    struct thread *thread = thread_of(process, event->tid, event->time);

    if (!thread || thread->has_ended)
        return;
    thread->has_ended = true;
    thread->record.end_ticks = event->time;
    free(thread->last.bytes);
    thread->last = (struct stack_dump){0};
    /* The command waits for its status; of others the kernel tells later what time they had. Where
       it lost when threads began, more of them may end than lived. */
    if (--process->living || process->ended || (pid_t)process->pid == recording->command)
        return;
    process->ended = event->time;
    DL_APPEND2(recording->dying, process, before, behind);
}

/* Those that ended so long before. */
static void end_dying(struct recording *recording, uint64_t before)
{
    struct process *process;

    while ((process = recording->dying) && process->ended <= before)
        end_process(recording, process, TRACE_END_GONE, process->ended);
}

static void happened(void *owner, const struct stack_event *event)
{
    struct recording *recording = owner;
    struct process *process;
    struct thread *thread;

    end_dying(recording, event->time - TIMES_WITHIN);
    if (event->kind == STACK_EVENT_BEGIN)
        on_begin(recording, event);
    else if (event->kind == STACK_EVENT_EXEC)
        on_exec(recording, event);
    else if (event->kind == STACK_EVENT_LOST)
        recording->lost += event->amount;
    else if ((process = find(recording, event->pid))) {
        if (event->kind == STACK_EVENT_MAP)
            on_map(process, event);
        else if (event->kind == STACK_EVENT_SAMPLE)
            on_sample(recording, process, event);
        else if (event->kind == STACK_EVENT_END)
            on_end(recording, process, event);
        else if ((thread = thread_of(process, event->tid, event->time))) {
            if (event->kind == STACK_EVENT_TIME)
                thread->record.processor_ns += event->amount;
            else
                snprintf(thread->record.name, sizeof(thread->record.name), "%s", event->name);
        }
    }
}

static void signal_came(void *owner)
{
    struct recording *recording = owner;
    struct signal_event event;

    while (signals_next(&recording->signals, &event)) {
        if (!event.child_ended && !recording->settings->command) {
            recording->has_ended = true;
            continue;
        }
        if (!event.child_ended) {
            if (!event.from_terminal && !recording->has_ended)
                command_signal(recording->command, event.number);
            else if (recording->has_ended)
                recording->command = 0; /* no more waiting for what it has left */
            continue;
        }
        if (recording->command && !recording->has_ended &&
            command_has_ended(recording->command, &recording->status))
            recording->has_ended = true;
        family_collect(recording->has_ended ? 0 : recording->command);
    }
}

static void note_relative(void *owner, const struct relative *relative)
{
    if (!relative->is_daemon)
        *(bool *)owner = true;
}

/* Background jobs are part of the recording; daemons are left to themselves. */
static bool is_over(struct recording *recording)
{
    bool has_relatives = false;
    const struct process *process;

    if (!recording->settings->command) {
        process = find(recording, (uint32_t)recording->settings->pid);
        return recording->has_ended || !process || process->ended;
    }
    if (!recording->has_ended || !recording->command)
        return recording->has_ended;
    return family_each(note_relative, &has_relatives) && !has_relatives;
}

static void time_to_look(void *owner)
{
    struct recording *recording = owner;

    event_timer_set(&recording->loop, &recording->timer, LINGER_MS);
}

/* A descriptor that the directory was given by is not for the command. */
static void keep_from_command(const char *path)
{
    int descriptor;

    if (sscanf(path, "/proc/self/fd/%d", &descriptor) == 1)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

static bool open_all(struct recording *recording)
{
    const struct stack_events_receiver receiver = {happened, recording};
    struct failure failure;

    recording->loop.fd = recording->signals.fd = -1;
    recording->trace_dir.fd = -1;
    if (!event_loop_open(&recording->loop) || !signals_open(&recording->signals)) {
        message("cannot wait for events: %s", strerror(errno));
        return false;
    }
    recording->signal_source = (struct event_source){
        .fd = recording->signals.fd, .ready = signal_came, .owner = recording};
    if (!event_loop_add(&recording->loop, &recording->signal_source)) {
        message("cannot wait for events: %s", strerror(errno));
        return false;
    }
    if (!trace_dir_open(&recording->trace_dir, recording->settings->trace_dir))
        return false;
    keep_from_command(recording->settings->trace_dir);
    recording->events = stack_events_open(&recording->loop, SECOND / recording->settings->samples,
                                          &receiver, &failure);
    if (!recording->events)
        message("whole stacks cannot be sampled here: %s", failure.text);
    return recording->events != NULL;
}

static void close_all(struct recording *recording)
{
    struct process *process, *next;
    uint64_t now = system_clock_steady_ns();
    pid_t command = recording->command;

    if (recording->events) {
        stack_events_finish(recording->events);
        end_dying(recording, now);
        HASH_ITER(hh, recording->processes, process, next)
        {
            end_process(recording, process,
                        process->living && (pid_t)process->pid != command ? TRACE_END_UNKNOWN
                                                                          : TRACE_END_GONE,
                        now);
        }
    }
    stack_events_close(recording->events);
    event_timer_clear(&recording->loop, &recording->timer);
    trace_dir_close(&recording->trace_dir);
    signals_close(&recording->signals);
    event_loop_close(&recording->loop);
}

/* Returns the exit status. */
static int wait_for_end(struct recording *recording)
{
    event_timer_set(&recording->loop, &recording->timer, LINGER_MS);
    while (!is_over(recording))
        event_loop_turn(&recording->loop);
    close_all(recording);
    return recording->status;
}

int stacks_record(const struct stacks_settings *settings)
{
    struct recording recording = {
        .settings = settings,
        .steady_to_real = system_clock_real_ns() - system_clock_steady_ns(),
        .timer = {.due = time_to_look, .owner = &recording},
    };
    struct rlimit descriptors;
    struct failure failure;

    getrlimit(RLIMIT_NOFILE, &descriptors);
    process_raise_descriptor_limit();
    if (!open_all(&recording)) {
        close_all(&recording);
        return 1;
    }
    if (!settings->command) {
        const struct stack_events_receiver receiver = {happened, &recording};

        if (stack_attach(recording.events, settings->pid, &receiver, &failure))
            return wait_for_end(&recording);
        message("pid %d: %s", (int)settings->pid, failure.text);
        close_all(&recording);
        return 1;
    }
    family_begin();
    setrlimit(RLIMIT_NOFILE, &descriptors); /* the command's limit is what it was */
    recording.command =
        command_start(settings->command, NULL, NULL, &recording.signals, &recording.status);
    process_raise_descriptor_limit();
    if (!recording.command) {
        close_all(&recording);
        return recording.status;
    }
    return wait_for_end(&recording);
}
