/*
 * A processed profile of the Firefox Profiler (profiler.firefox.com), version 48 of that format,
 * which later ones read.
 *
 *      { "meta": {"preprocessedProfileVersion": 48, …}, "libs": [],
 *        "threads": [ …, … ] }                                   see firefox_thread.h
 *
 * Times are milliseconds with nanoseconds behind the point: so "interval", into which the reader
 * lets nobody zoom, is a nanosecond.
 *
 * Of a call trace, a thread is a walk over the trace's chunks, of which those of other threads are
 * passed over unread. Of a profile, it is a part: its stacks one beside the other, each as long as
 * its own cost and before those above it, so that what they have in common is drawn as one:
 *
 *      main                      main 2, main;parse 3, main;parse;leaf 1, main;print 2
 *          parse        print
 *                leaf
 */
#include "grinder/formats/format.h"

#include <inttypes.h>
#include <stdlib.h>

#include "grinder/base/decimal.h"
#include "grinder/events/time_line.h"
#include "grinder/formats/firefox_thread.h"
#include "grinder/formats/part_name.h"
#include "support/memory.h"
#include "support/utf8.h"

#define GAP_SCHEMA                                                                                 \
    "{\"name\":\"gap\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"     \
    "\"chartLabel\":\"{marker.data.events}\",\"tooltipLabel\":\"{marker.name}\","                  \
    "\"tableLabel\":\"{marker.data.events} events lost\","                                         \
    "\"data\":[{\"key\":\"events\",\"label\":\"Events\",\"format\":\"integer\"}]}"

#define THREADS_SHOWN 32 /* of more the reader shows those with most samples */

static void see_begin(void *user, size_t thread, const struct tree_node *call, uint64_t ns)
{
    (void)thread;
    firefox_thread_enter(user, call->caller, call->function, ns);
}

static void see_end(void *user, size_t thread, uint64_t ns, enum time_line_end how)
{
    (void)thread;
    (void)how;
    firefox_thread_leave(user, ns);
}

static void see_gap(void *user, size_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t dropped)
{
    (void)thread;
    firefox_thread_gap(user, from_ns, to_ns, dropped);
}

/* The main thread of a Windows process has a number of its own. */
static bool is_main(const struct process *process, const struct trace_thread *record)
{
    return process->header.system == TRACE_SYSTEM_WINDOWS ? record->ordinal == 1
                                                          : record->tid == process->header.pid;
}

static bool end_thread(struct firefox_thread *thread, const struct view *view, size_t number,
                       size_t place)
{
    const struct profile *profile = view->profile;
    const struct process *process = &profile->processes[number];
    const struct trace_thread *record = &process->threads[place].record;
    char process_text[PART_NAME_SIZE], thread_text[PART_NAME_SIZE], pid[48];
    const struct firefox_thread_names names = {
        .process = process_text,
        .thread = thread_text,
        .pid = pid,
        .tid = record->tid,
        .is_main = is_main(process, record),
    };
    size_t before = process_lives_before(profile, number);
    struct failure failure;

    process_name(process_text, profile, number);
    if (profile->merged)
        merged_name(thread_text, profile);
    else
        thread_name(thread_text, record);
    if (before)
        snprintf(pid, sizeof(pid), "%" PRIu32 ".%zu", process->header.pid, before);
    else
        snprintf(pid, sizeof(pid), "%" PRIu32, process->header.pid);
    if (firefox_thread_end(thread, &names, &failure))
        return true;
    view->say(&failure);
    return false;
}

/* False: nothing was written. */
static bool open_thread(struct firefox_thread *thread, const struct view *view)
{
    struct failure failure;

    if (firefox_thread_open(thread, &failure))
        return true;
    view->say(&failure);
    return false;
}

static bool write_thread(struct firefox_thread *thread, FILE *stream, const struct view *view,
                         size_t number, size_t place)
{
    const struct process *process = &view->profile->processes[number];
    const struct time_line_visitor visitor = {thread, see_begin, see_end, see_gap};
    const struct time_line_range range = {view->from_ns, view->to_ns, (uint32_t)place + 1};
    struct time_line_facts *facts = memory_zeroed(process->thread_count, sizeof(*facts));
    struct event_totals totals;
    struct failure failure;
    bool is_sound;

    firefox_thread_begin(thread, stream, view->images, WEIGHT_NS, time_line_name(view->images, 0),
                         view->from_ns);
    is_sound = time_line_walk(view->profile, number, &range, &visitor, facts, &totals, &failure);
    if (!is_sound)
        view->say(&failure);
    if (!end_thread(thread, view, number, place))
        is_sound = false;
    free(facts);
    return is_sound;
}

/* In the order of a walk down and up again. */
static void write_stacks(struct firefox_thread *thread, const struct stack_tree *stacks)
{
    size_t count = stacks->keys.count;
    uint32_t *first = memory_zeroed(count + 1, sizeof(*first)); /* stack above, by stack */
    uint32_t *next = memory_zeroed(count + 1, sizeof(*next));   /* beside it */
    uint64_t now = 0;

    for (uint32_t i = (uint32_t)count; i-- > 1;) {
        uint32_t parent = stack_parent(stacks, i);
        next[i] = first[parent];
        first[parent] = i;
    }
    for (uint32_t i = first[0], above; i; i = above) {
        firefox_thread_enter(thread, 0, stack_function(stacks, i), now);
        now += weight_of(thread->weight, &stacks->costs[i]);
        above = first[i];
        for (; !above && i; i = stack_parent(stacks, i)) {
            firefox_thread_leave(thread, now);
            above = next[i];
        }
    }
    free(first);
    free(next);
}

static bool write_part(struct firefox_thread *thread, FILE *stream, const struct view *view,
                       const struct part *part)
{
    firefox_thread_begin(thread, stream, view->images, view->weight,
                         stack_frame_name(view->images, STACK_CUT), 0);
    write_stacks(thread, &part->stacks);
    return end_thread(thread, view, part->process, part->thread);
}

static bool has_thread(const struct profile *profile, const struct process *process, size_t place)
{
    return process->nodes &&
           (!profile->selection ||
            selection_match_thread(profile->selection, &process->threads[place].record));
}

static size_t count_threads(const struct profile *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->process_count; i++)
        for (size_t j = 0; j < profile->processes[i].thread_count; j++)
            count += has_thread(profile, &profile->processes[i], j);
    return count;
}

static void write_meta(FILE *stream, const struct view *view, size_t thread_count)
{
    const struct trace_header *header = &view->profile->processes[0].header;
    char start[DECIMAL_ROOM];

    *decimal_put_fraction(start, header->created_ns, 6) = 0;
    fputs("{\"meta\":{\"preprocessedProfileVersion\":48,\"version\":27,\"interval\":0.000001,"
          "\"processType\":0,\"stackwalk\":1,\"markerSchema\":[" GAP_SCHEMA
          "],\"symbolicated\":true,"
          "\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
          "\"sourceCodeIsNotOnSearchfox\":true,\"keepProfileThreadOrder\":true,"
          "\"importedFrom\":\"umbra grinder " UMBRA_VERSION "\","
          "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],"
          "\"initialSelectedThreads\":[",
          stream);
    fputs(thread_count ? "0" : "", stream);
    for (size_t i = 0; i < thread_count && thread_count <= THREADS_SHOWN; i++)
        fprintf(stream, "%s%zu", i ? "," : "],\"initialVisibleThreads\":[", i);
    fprintf(stream, "],\"startTime\":%s,\"product\":", start);
    utf8_write_json(stream, header->command);
    fputs("},\n\"libs\":[],\"threads\":[", stream);
}

static bool write_times(FILE *stream, const struct view *view)
{
    const struct profile *profile = view->profile;
    const char *separator = "\n";
    struct firefox_thread thread;
    bool is_sound = true;

    write_meta(stream, view, count_threads(profile));
    for (size_t i = 0; i < profile->process_count; i++) {
        for (size_t j = 0; j < profile->processes[i].thread_count; j++) {
            if (!has_thread(profile, &profile->processes[i], j))
                continue;
            if (!open_thread(&thread, view))
                return false;
            fputs(separator, stream);
            separator = ",\n";
            if (!write_thread(&thread, stream, view, i, j))
                is_sound = false;
        }
    }
    return is_sound;
}

static bool write_parts(FILE *stream, const struct view *view)
{
    const struct part *parts = &view->profile->parts[view->first];
    struct firefox_thread thread;
    bool is_sound = true;

    write_meta(stream, view, view->count);
    for (size_t i = 0; i < view->count; i++) {
        if (!open_thread(&thread, view))
            return false;
        fputs(i ? ",\n" : "\n", stream);
        if (!write_part(&thread, stream, view, &parts[i]))
            is_sound = false;
    }
    return is_sound;
}

bool firefox_write(FILE *stream, const struct view *view)
{
    bool is_sound =
        profile_has_events(view->profile) ? write_times(stream, view) : write_parts(stream, view);

    fputs("]}\n", stream);
    return is_sound;
}
