#include "grinder/events/time_line.h"

#include <stdlib.h>

#include "grinder/events/event_stream.h"
#include "support/memory.h"
#include "support/sorted.h"

#define NONE UINT32_MAX

enum where { BEFORE_RANGE, IN_RANGE, BEHIND_RANGE };

struct thread_line {
    uint32_t *open; /* nodes */
    size_t count, room;
    size_t shown;   /* the lowest open call that is selected; from it on all are; or NONE */
    uint64_t since; /* ns; when that was begun */
    uint64_t last;  /* ns */
    enum where where;
    bool is_wanted;
    bool after_gap; /* the next event says what is still open */
};

struct walk {
    const struct process *process;
    const struct time_line_range *range;
    const struct time_line_visitor *visitor;
    const uint8_t *chosen;
    size_t chosen_count;
    struct time_line_clock clock;
    struct time_line_facts *facts;
    struct thread_line *lines; /* by thread */
    uint32_t *open_here;       /* by node: how many open calls are of it, in all threads */
};

static uint64_t ticks_to_ns(const struct time_line_clock *clock, uint64_t ticks)
{
    unsigned __int128 ns = (unsigned __int128)ticks * clock->ns_a_tick;

    return (uint64_t)(ns >> TIME_LINE_FRACTION);
}

static uint64_t ns_of(const struct time_line_clock *clock, uint64_t ticks)
{
    uint64_t since = ticks > clock->start_ticks ? ticks - clock->start_ticks : 0;

    return clock->offset_ns + ticks_to_ns(clock, since);
}

/* By the processor's clock, unless that says something else than the day's: it was another machine,
   or it was started in between. */
static uint64_t offset_of(const struct trace_header *header, const struct trace_header *first,
                          const struct time_line_clock *clock)
{
    uint64_t by_day = header->created_ns - first->created_ns, by_ticks;

    if (header->start_ticks < first->start_ticks ||
        header->ticks_per_second != first->ticks_per_second)
        return by_day;
    by_ticks = ticks_to_ns(clock, header->start_ticks - first->start_ticks);
    return by_ticks - by_day + 1000000000 < 2000000000 ? by_ticks : by_day;
}

struct time_line_clock time_line_clock(const struct profile *profile, size_t process)
{
    const struct trace_header *header = &profile->processes[process].header;
    const struct trace_header *first = header;
    uint64_t rate = header->ticks_per_second;
    unsigned __int128 second = (unsigned __int128)1000000000 << TIME_LINE_FRACTION;
    struct time_line_clock clock = {.start_ticks = header->start_ticks};

    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].header.created_ns < first->created_ns)
            first = &profile->processes[i].header;
    clock.ns_a_tick = rate ? (uint64_t)(second / rate) : 0;
    clock.offset_ns = offset_of(header, first, &clock);
    return clock;
}

/* The node; node 0 for one that the tree does not have, as of a process that goes on recording. */
static uint32_t known(const struct walk *walk, uint32_t node)
{
    return node < walk->process->node_count ? node : 0;
}

static void show_begin(struct walk *walk, size_t thread, size_t place, uint64_t ns)
{
    struct thread_line *line = &walk->lines[thread];

    if (place == line->shown)
        line->since = ns;
    walk->facts[thread].calls++;
    if (walk->visitor->begin)
        walk->visitor->begin(walk->visitor->user, thread,
                             &walk->process->nodes[known(walk, line->open[place])], ns);
}

static void show_end(struct walk *walk, size_t thread, size_t place, uint64_t ns,
                     enum time_line_end how)
{
    const struct thread_line *line = &walk->lines[thread];

    if (place == line->shown)
        walk->facts[thread].ns += ns - line->since;
    if (walk->visitor->end)
        walk->visitor->end(walk->visitor->user, thread, ns, how);
}

static void enter_range(struct walk *walk, size_t thread)
{
    struct thread_line *line = &walk->lines[thread];

    line->where = IN_RANGE;
    for (size_t i = line->shown; i < line->count; i++)
        show_begin(walk, thread, i, walk->range->from_ns);
}

static void leave_range(struct walk *walk, size_t thread, uint64_t ns)
{
    struct thread_line *line = &walk->lines[thread];

    for (size_t i = line->count; i > line->shown; i--)
        show_end(walk, thread, i - 1, ns, TIME_LINE_OPEN);
    line->where = BEHIND_RANGE;
}

/* Lets time go on to ns, or stand still. */
static void advance(struct walk *walk, size_t thread, uint64_t ns)
{
    struct thread_line *line = &walk->lines[thread];

    if (ns > line->last)
        line->last = ns;
    if (line->where == BEFORE_RANGE && line->last >= walk->range->from_ns)
        enter_range(walk, thread);
    if (line->where == IN_RANGE && line->last > walk->range->to_ns)
        leave_range(walk, thread, walk->range->to_ns);
}

static bool has_chosen(const struct walk *walk, uint32_t function)
{
    return function < walk->chosen_count && walk->chosen[function];
}

static bool is_chosen(const struct walk *walk, const struct tree_node *call)
{
    return !walk->chosen || has_chosen(walk, call->function) || has_chosen(walk, call->caller);
}

static void push(struct walk *walk, size_t thread, uint32_t node)
{
    struct thread_line *line = &walk->lines[thread];
    uint32_t known_node = known(walk, node);

    if (line->count == line->room)
        line->open = memory_grow(line->open, line->count, &line->room, sizeof(*line->open));
    line->open[line->count] = node;
    if (line->shown > line->count && is_chosen(walk, &walk->process->nodes[known_node]))
        line->shown = line->count;
    line->count++;
    walk->open_here[known_node]++;
    if (line->where == IN_RANGE && line->shown < line->count)
        show_begin(walk, thread, line->count - 1, line->last);
}

static void pop(struct walk *walk, size_t thread, enum time_line_end how)
{
    struct thread_line *line = &walk->lines[thread];

    line->count--;
    walk->open_here[known(walk, line->open[line->count])]--;
    if (line->where == IN_RANGE && line->shown <= line->count)
        show_end(walk, thread, line->count, line->last, how);
    if (line->shown == line->count)
        line->shown = NONE;
}

static void close_down_to(struct walk *walk, size_t thread, size_t count)
{
    while (walk->lines[thread].count > count) {
        walk->facts[thread].closed++;
        pop(walk, thread, TIME_LINE_CLOSED);
    }
}

/* How many calls are open up to the innermost one of node, that included; 0 if none is. */
static size_t find_open(const struct walk *walk, const struct thread_line *line, uint32_t node)
{
    size_t i = line->count;

    if (!walk->open_here[known(walk, node)])
        return 0;
    while (i && line->open[i - 1] != node)
        i--;
    return i;
}

/*
 * Behind a gap, an entry or the end of a call that is not open: closes what is not among its
 * callers. Tail calls have callers that are over. Past the node limit a chain of callers ends in a
 * representative, which says nothing about those further down.
 */
static void close_what_is_over(struct walk *walk, size_t thread, uint32_t node)
{
    const struct process *process = walk->process;
    const struct thread_line *line = &walk->lines[thread];
    uint32_t caller = process->nodes[known(walk, node)].parent;
    size_t steps = process->node_count, found = 0;

    while (caller && process->nodes[caller].function && steps--) {
        found = find_open(walk, line, caller);
        if (found)
            break;
        caller = process->nodes[caller].parent;
    }
    if (found || (caller && !process->nodes[caller].function))
        close_down_to(walk, thread, found);
}

static void see_entry(struct walk *walk, size_t thread, uint32_t node)
{
    struct thread_line *line = &walk->lines[thread];

    if (line->after_gap)
        close_what_is_over(walk, thread, node);
    line->after_gap = false;
    walk->facts[thread].entries++;
    push(walk, thread, node);
}

static void see_end(struct walk *walk, size_t thread, uint32_t node)
{
    struct thread_line *line = &walk->lines[thread];
    size_t found = line->count;

    if (!found || line->open[found - 1] != node)
        found = find_open(walk, line, node);
    if (!found) {
        walk->facts[thread].orphans++;
        if (line->after_gap)
            close_what_is_over(walk, thread, node);
    } else {
        close_down_to(walk, thread, found);
        walk->facts[thread].ended++;
        pop(walk, thread, TIME_LINE_ENDED);
    }
    line->after_gap = false;
}

static void see_gap(struct walk *walk, size_t thread, uint64_t to_ns, uint64_t dropped)
{
    struct thread_line *line = &walk->lines[thread];
    uint64_t from_ns = line->last;

    walk->facts[thread].dropped += dropped;
    walk->facts[thread].gaps++;
    line->after_gap = true;
    if (to_ns < from_ns)
        to_ns = from_ns;
    if (walk->visitor->gap && from_ns <= walk->range->to_ns && to_ns >= walk->range->from_ns)
        walk->visitor->gap(walk->visitor->user, thread, from_ns, to_ns, dropped);
}

static void see_batch(struct walk *walk, size_t thread, const struct event_batch *batch)
{
    struct time_line_facts *facts = &walk->facts[thread];

    if (batch->dropped && batch->count)
        see_gap(walk, thread, ns_of(&walk->clock, batch->events[0].ticks), batch->dropped);
    else
        facts->dropped += batch->dropped;
    for (size_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];
        advance(walk, thread, ns_of(&walk->clock, event->ticks));
        if (event->kind == EVENT_KIND_ENTRY) {
            see_entry(walk, thread, event->node);
            continue;
        }
        facts->exits += event->kind == EVENT_KIND_EXIT;
        facts->unwound += event->kind == EVENT_KIND_UNWOUND;
        see_end(walk, thread, event->node);
    }
}

/* The place of the thread with that ordinal; thread_count if it has no record. */
static size_t find_thread(const struct process *process, uint32_t ordinal)
{
    size_t found =
        partition_point(i, process->thread_count, process->threads[i].record.ordinal < ordinal);

    if (found < process->thread_count && process->threads[found].record.ordinal != ordinal)
        return process->thread_count;
    return found;
}

static void begin(struct walk *walk, const struct profile *profile)
{
    const struct process *process = walk->process;

    walk->lines = memory_zeroed(process->thread_count, sizeof(*walk->lines));
    walk->open_here = memory_zeroed(process->node_count, sizeof(*walk->open_here));
    if (profile->selection && profile->selection->chosen) {
        walk->chosen = profile->selection->chosen;
        walk->chosen_count = profile->selection->chosen_count;
    }
    for (size_t i = 0; i < process->thread_count; i++) {
        struct thread_line *line = &walk->lines[i];
        line->shown = NONE;
        line->last = walk->clock.offset_ns;
        line->is_wanted = (!walk->range->thread || walk->range->thread == i + 1) &&
                          (!profile->selection ||
                           selection_match_thread(profile->selection, &process->threads[i].record));
        walk->facts[i] = (struct time_line_facts){0};
    }
}

static void end(struct walk *walk)
{
    for (size_t i = 0; i < walk->process->thread_count; i++) {
        struct thread_line *line = &walk->lines[i];
        walk->facts[i].open = line->count;
        if (line->where == IN_RANGE)
            leave_range(walk, i, line->last);
        free(line->open);
    }
    free(walk->lines);
    free(walk->open_here);
}

bool time_line_walk(const struct profile *profile, size_t number,
                    const struct time_line_range *range, const struct time_line_visitor *visitor,
                    struct time_line_facts *facts, struct event_totals *totals,
                    struct failure *failure)
{
    const struct process *process = &profile->processes[number];
    struct walk walk = {
        .process = process,
        .range = range,
        .visitor = visitor,
        .clock = time_line_clock(profile, number),
        .facts = facts,
    };
    struct event_stream stream;
    const struct event_batch *batch;
    bool is_sound;

    begin(&walk, profile);
    event_stream_begin(&stream, process->trace_path, &process->header,
                       range->thread ? process->threads[range->thread - 1].record.ordinal : 0);
    while ((batch = event_stream_next(&stream))) {
        size_t thread = find_thread(process, batch->thread);
        if (thread < process->thread_count && walk.lines[thread].is_wanted)
            see_batch(&walk, thread, batch);
    }
    end(&walk);
    is_sound = event_stream_end(&stream);
    *totals = stream.totals;
    if (!is_sound)
        *failure = stream.failure;
    return is_sound;
}

const char *time_line_name(const struct images *images, uint32_t function)
{
    return function ? images->functions[function].name : "[unknown]";
}
