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
#define TYPICAL_NS  15  /* of a call, before the agent has measured, or where it does not */
#define IN_PROGRAMS                                                                                \
    1.3 /* times what the agent measures in a loop: lua 20.6 ns a call, sqlite 17.3 */

/* By what the agent measured. */
static double ns_a_call(const struct trace_header *header)
{
    uint32_t cost =
        header->timing == TRACE_TIMING_EXACT ? header->probe_timed : header->probe_untimed;

    if (!header->probe_timed || !cost || !header->ticks_per_second)
        return IN_PROGRAMS * TYPICAL_NS;
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

static void say(const struct attaching_overhead *overhead, const struct overhead_changes *changes)
{
    if (!overhead->unhooking->service->recorder.settings->is_verbose)
        return;
    if (changes->out_count)
        message("process %d: hooks cost %.1f%%; those of %zu function%s are taken out",
                (int)overhead->unhooking->pid, changes->percent, changes->out_count,
                changes->out_count == 1 ? "" : "s");
    if (changes->in_count)
        message("process %d: hooks cost %.1f%%; those of %zu function%s are back",
                (int)overhead->unhooking->pid, changes->percent, changes->in_count,
                changes->in_count == 1 ? "" : "s");
}

/* True: hooks have come back. */
static bool look_at(struct attaching_overhead *overhead, const struct session *session)
{
    const struct trace_header *header = session->trace.header;
    uint64_t used = processor_ns(overhead->unhooking->pid);
    struct function_calls calls;
    struct overhead_changes changes;
    bool are_back = false;

    if (!header || !used || !function_calls_read(&calls, session->trace.fd))
        return false;
    overhead->overhead.ns_a_call = ns_a_call(header);
    if (overhead_look(&overhead->overhead, calls.calls, calls.count, used, event_loop_now(),
                      &changes)) {
        if (unhooking_change(overhead->unhooking, &calls, &changes))
            say(overhead, &changes);
        are_back = changes.in_count > 0;
        overhead_changes_free(&changes);
    }
    function_calls_free(&calls);
    return are_back;
}

static void look(void *owner)
{
    struct attaching_overhead *overhead = owner;
    const struct session *session = unhooking_session(overhead->unhooking);
    int64_t begun = event_loop_now(), pause = FIRST_MS;

    if (session && !look_at(overhead, session)) {
        pause = (event_loop_now() - begun) * COST_FACTOR;
        pause = pause > LOOK_MS ? pause : LOOK_MS;
    }
    event_timer_set(&overhead->unhooking->service->loop, &overhead->timer, pause);
}

void attaching_overhead_begin(struct attaching_overhead *overhead)
{
    overhead_begin(&overhead->overhead, overhead->unhooking->percent,
                   processor_ns(overhead->unhooking->pid));
    overhead->timer = (struct event_timer){.due = look, .owner = overhead};
    event_timer_set(&overhead->unhooking->service->loop, &overhead->timer, FIRST_MS);
}

void attaching_overhead_end(struct attaching_overhead *overhead)
{
    event_timer_clear(&overhead->unhooking->service->loop, &overhead->timer);
    overhead_free(&overhead->overhead);
}
