#include "grinder/events/event_summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/events/time_line.h"
#include "support/memory.h"
#include "support/utf8.h"

static bool adds_up(const struct time_line_facts *facts)
{
    return facts->entries == facts->ended + facts->closed + facts->open &&
           facts->exits + facts->unwound == facts->ended + facts->orphans;
}

static bool is_like_tree(const struct thread_facts *thread, const struct time_line_facts *facts)
{
    return facts->entries == thread->entries && facts->exits <= thread->exits &&
           facts->exits + facts->unwound == thread->exits + thread->record.unwound;
}

/* A thread that was recording when its process went may have been between its tree and its event.
   Calls that the tree has no room for have no event either. */
static const char *balance(const struct process *process, size_t thread,
                           const struct time_line_facts *facts, bool is_whole)
{
    const struct thread_facts *counts = &process->threads[thread];

    if (!adds_up(facts))
        return "BROKEN";
    if (!is_whole)
        return "losses";
    if (is_like_tree(counts, facts))
        return "holds";
    return counts->record.state == TRACE_THREAD_ENDED ? "BROKEN" : "cut";
}

static void write_threads(FILE *stream, const struct process *process,
                          const struct time_line_facts *facts, bool is_whole)
{
    fprintf(stream, "\n  %6s %14s %14s %10s %8s %8s %8s %10s %16s  %-7s  %s\n", "thread", "entered",
            "returned", "unwound", "open", "closed", "orphans", "dropped", "ns in calls", "balance",
            "name");
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct time_line_facts *line = &facts[i];
        fprintf(stream,
                "  %6" PRIu32 " %14" PRIu64 " %14" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64
                " %8" PRIu64 " %10" PRIu64 " %16" PRIu64 "  %-7s  ",
                process->threads[i].record.ordinal, line->entries, line->exits, line->unwound,
                line->open, line->closed, line->orphans, line->dropped, line->ns,
                balance(process, i, line, is_whole));
        utf8_write_plain(stream, process->threads[i].record.name);
        putc('\n', stream);
    }
    putc('\n', stream);
}

/* On 64 columns, where names have no more than Linux keeps of them. */
static void write_threads_narrowly(FILE *stream, const struct process *process,
                                   const struct time_line_facts *facts, bool is_whole)
{
    fprintf(stream, "\n  %6s %12s %14s  %-7s  %s\n", "thread", "entered", "ns in calls", "balance",
            "name");
    for (size_t i = 0; i < process->thread_count; i++) {
        fprintf(stream, "  %6" PRIu32 " %12" PRIu64 " %14" PRIu64 "  %-7s  ",
                process->threads[i].record.ordinal, facts[i].entries, facts[i].ns,
                balance(process, i, &facts[i], is_whole));
        utf8_write_plain(stream, process->threads[i].record.name);
        putc('\n', stream);
    }
}

static void write_count(FILE *stream, const char *title, uint64_t count, const char *what)
{
    if (count)
        fprintf(stream, "  %-9s %" PRIu64 " %s\n", title, count, what);
}

static void write_totals(FILE *stream, const struct process *process,
                         const struct event_totals *totals)
{
    fprintf(stream, "call trace of process %" PRIu32 "\n  events    %" PRIu64, process->header.pid,
            totals->events);
    if (totals->events && totals->bytes)
        fprintf(stream, " in %" PRIu64 " bytes: %.2f bytes an event", totals->bytes,
                (double)totals->bytes / (double)totals->events);
    putc('\n', stream);
    write_count(stream, "ring", totals->from_ring,
                "segments the service had not come to, read from its ring");
    write_count(stream, "dropped", totals->dropped, "events there was no room for");
    write_count(stream, "torn", totals->torn, "events begun by a hook that did not go on");
    write_count(stream, "removed", totals->gone, "events, the oldest: the limit on disk");
    write_count(stream, "CUT OFF", totals->cut, "bytes at the end are not a whole chunk");
}

/* True if all threads that are selected balance. */
static bool check_threads(const struct profile *profile, const struct process *process,
                          const struct time_line_facts *facts, bool is_whole,
                          void (*say)(const struct failure *failure))
{
    struct failure failure;
    bool is_balanced = true;

    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_facts *thread = &process->threads[i];
        const struct time_line_facts *line = &facts[i];
        if (profile->selection && !selection_match_thread(profile->selection, &thread->record))
            continue;
        if (strcmp(balance(process, i, line, is_whole), "BROKEN") != 0)
            continue;
        is_balanced = fail(&failure, process->trace_path,
                           "events of thread %" PRIu32 ": expected %" PRIu64 " entries, %" PRIu64
                           " exits, %" PRIu64 " unwound as in its tree, found %" PRIu64 ", %" PRIu64
                           ", %" PRIu64,
                           thread->record.ordinal, thread->entries, thread->exits,
                           thread->record.unwound, line->entries, line->exits, line->unwound);
        say(&failure);
    }
    return is_balanced;
}

static bool write_process(FILE *stream, const struct profile *profile, size_t number,
                          bool is_narrow, void (*say)(const struct failure *failure))
{
    static const struct time_line_visitor nothing;
    const struct time_line_range always = {0, UINT64_MAX, 0};
    const struct process *process = &profile->processes[number];
    struct time_line_facts *facts = memory_zeroed(process->thread_count, sizeof(*facts));
    struct event_totals totals;
    struct failure failure;
    bool is_sound = time_line_walk(profile, number, &always, &nothing, facts, &totals, &failure);
    bool is_whole = is_sound && !(totals.dropped | totals.torn | totals.gone | totals.cut);

    if (!is_sound)
        say(&failure);
    write_totals(stream, process, &totals);
    if (is_narrow)
        write_threads_narrowly(stream, process, facts, is_whole);
    else
        write_threads(stream, process, facts, is_whole);
    if (!check_threads(profile, process, facts, is_whole, say))
        is_sound = false;
    free(facts);
    return is_sound;
}

bool event_summary_write(FILE *stream, const struct profile *profile, bool is_narrow,
                         void (*say)(const struct failure *failure))
{
    bool is_sound = true;

    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].nodes && !write_process(stream, profile, i, is_narrow, say))
            is_sound = false;
    return is_sound;
}
