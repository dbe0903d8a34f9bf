#include "service/tool/linux/attaching_overhead.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "service/attach/function_calls.h"
#include "service/base/message.h"
#include "service/base/tick_clock.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"

#define LOOK_MS     100
#define FIRST_MS    20  /* after hooks have come: they may be hot */
#define COST_FACTOR 100 /* the time a look took, until the next one */
#define TYPICAL_NS  15  /* of a call, before the agent has measured */
#define IN_PROGRAMS                                                                                \
    1.3 /* times what the agent measures in a loop: lua 20.6 ns a call, sqlite 17.3 */

static struct session *session_of(const struct attaching_overhead *overhead)
{
    struct session *session;

    DL_FOREACH(overhead->service->recorder.sessions, session)
    {
        if (session->pid == overhead->pid)
            return session;
    }
    return NULL;
}

/* By what the agent measured. */
static double ns_a_call(const struct trace_header *header)
{
    uint32_t cost =
        header->timing == TRACE_TIMING_EXACT ? header->probe_timed : header->probe_untimed;

    if (!header->probe_timed || !cost || !header->ticks_per_second)
        return TYPICAL_NS;
    return IN_PROGRAMS * (double)cost / (1 << TRACE_COST_SHIFT) / (double)header->ticks_per_second *
           1e9;
}

/* 0: it has ended. */
static uint64_t processor_ns(pid_t pid)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
        return 0;
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static struct unhooked *last_of(struct attaching_overhead *overhead, uint32_t function)
{
    for (size_t i = overhead->count; i-- > 0;)
        if (overhead->unhooked[i].function == function)
            return &overhead->unhooked[i];
    return NULL;
}

static void note_out(struct attaching_overhead *overhead, uint32_t function, uint64_t calls)
{
    if (overhead->count == overhead->room) {
        size_t room = overhead->room ? 2 * overhead->room : 64;
        struct unhooked *grown = realloc(overhead->unhooked, room * sizeof(*grown));

        if (!grown)
            return;
        overhead->unhooked = grown;
        overhead->room = room;
    }
    overhead->unhooked[overhead->count++] =
        (struct unhooked){.function = function, .calls = calls, .out_ticks = tick_clock_now()};
}

static void write_list(const struct attaching_overhead *overhead, const struct session *session,
                       const struct trace_header *trace)
{
    struct unhooked_header header = {
        .magic = UNHOOKED_MAGIC,
        .version = UNHOOKED_VERSION,
        .count = (uint32_t)overhead->count,
        .created_ns = trace->created_ns,
        .pid = trace->pid,
        .percent_256 = (uint32_t)(overhead->percent * 256),
    };
    size_t size = overhead->count * sizeof(*overhead->unhooked);
    char *bytes = malloc(sizeof(header) + size);

    if (!bytes)
        return;
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), overhead->unhooked, size);
    session_write_beside(session, UNHOOKED_SUFFIX, "list of functions that were not hooked", bytes,
                         sizeof(header) + size);
    free(bytes);
}

static bool want(const struct attaching_overhead *overhead, const struct function_calls *calls,
                 uint32_t function, bool is_wanted)
{
    const struct called_image *image = function_calls_image(calls, function);

    return image && attach_want(overhead->attached, image->base, function - image->first_function,
                                is_wanted);
}

/* What could not be done, as the program could not be stopped, is done at the next look. False:
 * there was nothing. */
static bool change(struct attaching_overhead *overhead, const struct function_calls *calls,
                   const struct overhead_changes *changes)
{
    struct failure ignored;
    size_t count = 0;

    for (size_t i = 0; i < changes->out_count; i++) {
        if (!want(overhead, calls, changes->out[i], false))
            continue;
        note_out(overhead, changes->out[i], calls->calls[changes->out[i]]);
        count++;
    }
    for (size_t i = 0; i < changes->in_count; i++) {
        struct unhooked *unhooked = last_of(overhead, changes->in[i]);

        if (!want(overhead, calls, changes->in[i], true))
            continue;
        if (unhooked)
            unhooked->in_ticks = tick_clock_now();
        count++;
    }
    if (count || overhead->is_late)
        overhead->is_late = !attach_apply(overhead->attached, &ignored);
    return count;
}

static void say(const struct attaching_overhead *overhead, const struct overhead_changes *changes)
{
    if (!overhead->service->recorder.settings->is_verbose)
        return;
    if (changes->out_count)
        message("process %d: hooks cost %.1f%%; those of %zu function%s are taken out",
                (int)overhead->pid, changes->percent, changes->out_count,
                changes->out_count == 1 ? "" : "s");
    if (changes->in_count)
        message("process %d: hooks cost %.1f%%; those of %zu function%s are back",
                (int)overhead->pid, changes->percent, changes->in_count,
                changes->in_count == 1 ? "" : "s");
}

/* True: hooks have come back. */
static bool look_at(struct attaching_overhead *overhead, const struct session *session)
{
    const struct trace_header *header = session->trace.header;
    uint64_t used = processor_ns(overhead->pid);
    struct function_calls calls;
    struct overhead_changes changes;
    bool are_back = false;

    if (!header || !used || !function_calls_read(&calls, session->trace.fd))
        return false;
    overhead->overhead.ns_a_call = ns_a_call(header);
    if (overhead_look(&overhead->overhead, calls.calls, calls.count, used, event_loop_now(),
                      &changes)) {
        if (change(overhead, &calls, &changes)) {
            say(overhead, &changes);
            write_list(overhead, session, header);
        }
        are_back = changes.in_count > 0;
        overhead_changes_free(&changes);
    }
    function_calls_free(&calls);
    return are_back;
}

static void look(void *owner)
{
    struct attaching_overhead *overhead = owner;
    const struct session *session = session_of(overhead);
    int64_t begun = event_loop_now(), pause = FIRST_MS;

    if (session && !look_at(overhead, session)) {
        pause = (event_loop_now() - begun) * COST_FACTOR;
        pause = pause > LOOK_MS ? pause : LOOK_MS;
    }
    event_timer_set(&overhead->service->loop, &overhead->timer, pause);
}

void attaching_overhead_begin(struct attaching_overhead *overhead)
{
    overhead_begin(&overhead->overhead, overhead->percent, processor_ns(overhead->pid));
    overhead->timer = (struct event_timer){.due = look, .owner = overhead};
    event_timer_set(&overhead->service->loop, &overhead->timer, FIRST_MS);
}

void attaching_overhead_end(struct attaching_overhead *overhead)
{
    event_timer_clear(&overhead->service->loop, &overhead->timer);
    overhead_free(&overhead->overhead);
    free(overhead->unhooked);
}
