#include "grinder/views/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/views/process_facts.h"
#include "support/utf8.h"

size_t summary_orders(const struct summary *summary, const struct part *part,
                      enum hot_order orders[HOT_ORDERS])
{
    static const enum hot_order timed[] = {HOT_SELF, HOT_INCLUSIVE, HOT_WAIT, HOT_INCLUSIVE_WAIT};
    size_t count = 1;

    if (summary->has_order && summary->order == HOT_P99)
        return 0;
    orders[0] = summary->has_order ? summary->order : HOT_CALLS;
    if (summary->has_order)
        return 1;
    if (profile_has_times(summary->profile)) {
        memcpy(orders, timed, sizeof(timed));
        count = part->wait_ns ? 4 : 2;
    }
    if (profile_has_instructions(summary->profile))
        orders[count++] = HOT_INSTRUCTIONS;
    return count;
}

static void write_process(FILE *stream, const struct profile *profile,
                          const struct process *process)
{
    fprintf(stream, "process %" PRIu32 "  ", process->header.pid);
    utf8_write_plain(stream, process->header.command);
    putc('\n', stream);
    process_facts_write(stream, profile, process);
}

static const char *balance(const struct thread_facts *facts)
{
    if (!facts->balanced)
        return "BROKEN";
    return facts->live_is_derived ? "derived" : "holds";
}

static void write_sampled_threads(FILE *stream, const struct process *process)
{
    fprintf(stream, "\n  %6s %14s %15s  name\n", "thread", "samples", "CPU ns");
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_facts *facts = &process->threads[i];
        fprintf(stream, "  %6" PRIu32 " %14" PRIu64 " %15" PRIu64 "  ", facts->record.ordinal,
                facts->timed, facts->self_ns);
        utf8_write_plain(stream, facts->record.name);
        putc('\n', stream);
    }
}

/* The name comes last: it may hold spaces. */
static void write_threads(FILE *stream, const struct process *process, bool has_times)
{
    bool is_sampled = process->header.timing == TRACE_TIMING_SAMPLES;

    fprintf(stream, "\n  %6s %14s %14s %10s %8s %10s %10s %9s %9s ", "thread", "entries", "exits",
            "unwound", "live", "skipped", "dropped", "nodes", "folded");
    if (has_times)
        fprintf(stream, "%15s  ", is_sampled ? "CPU ns" : "ns");
    if (has_times)
        fprintf(stream, is_sampled ? "%15s  " : "%s  ", is_sampled ? "waited ns" : "meas%");
    fprintf(stream, "%-7s  %s\n", "balance", "name");
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_facts *facts = &process->threads[i];
        const struct trace_thread *record = &facts->record;
        fprintf(stream,
                "  %6" PRIu32 " %14" PRIu64 " %14" PRIu64 " %10" PRIu64 " %8" PRIu64 " %10" PRIu64
                " %10" PRIu64 " %9" PRIu32 " %9" PRIu32 " ",
                record->ordinal, facts->entries, facts->exits, record->unwound, facts->live,
                record->skipped, record->dropped, record->nodes, record->folded);
        if (has_times)
            fprintf(stream, "%15" PRIu64 " ", facts->self_ns);
        if (has_times && !is_sampled)
            fprintf(stream, "%6.1f ", measuring_share(facts->self_ns, facts->measuring_ns));
        if (has_times && is_sampled)
            fprintf(stream, " %15" PRIu64 " ", facts->wait_ns);
        if (has_times)
            putc(' ', stream);
        fprintf(stream, "%-7s  ", balance(facts));
        utf8_write_plain(stream, record->name);
        putc('\n', stream);
    }
}

static void write_modules(FILE *stream, const struct process *process, const struct images *images)
{
    if (process->header.source == TRACE_OF_STACKS) {
        putc('\n', stream); /* nothing is hooked */
        return;
    }
    if (process->module_count)
        fprintf(stream, "\n  %9s %9s %9s  %s\n", "functions", "hooked", "skipped", "module");
    for (size_t i = 0; i < process->module_count; i++) {
        const struct module_facts *module = &process->modules[i];
        const struct image *image = &images->images[module->image];
        if (module_is_instrumented_later(process, module))
            continue;
        if (!module->image)
            fprintf(stream, "  %9s %9s %9s  ", "-", "-", "-");
        else if (image->problem)
            fprintf(stream, "  %9" PRIu32 " %9s %9s  ", image->function_count, "?", "?");
        else
            fprintf(stream, "  %9" PRIu32 " %9" PRIu32 " %9" PRIu32 "  ", image->function_count,
                    image->manifest.hooked, image->function_count - image->manifest.hooked);
        utf8_write_plain(stream, module->path);
        if (!module->image)
            fprintf(stream, " (not instrumented)");
        else if (image->problem)
            fprintf(stream, " (%s)", image->problem);
        putc('\n', stream);
    }
    putc('\n', stream);
}

/* With > in front where there are more. */
static void write_calls(FILE *stream, const struct images *images, const struct hot *hot)
{
    char text[32];

    snprintf(text, sizeof(text), "%s%" PRIu64,
             images->functions[hot->function].has_more_calls ? ">" : "", hot->costs.calls);
    fprintf(stream, "%14s ", text);
}

static void write_hottest(FILE *stream, const struct part *part, const struct images *images,
                          const struct hot *hot, size_t count, const char *title,
                          const struct profile *profile, bool takes_out)
{
    fprintf(stream, "%s\n%14s %16s %7s %16s %7s ", title, profile_counts(profile), "self ns",
            "self%", "inclusive ns", "incl%");
    fprintf(stream, "%s function\n", takes_out ? " meas% " : "");
    for (size_t i = 0; i < count; i++) {
        const struct costs *costs = &hot[i].costs;
        double scale = part->ns ? 100.0 / (double)part->ns : 0;
        write_calls(stream, images, &hot[i]);
        fprintf(stream, "%16" PRIu64 " %7.2f %16" PRIu64 " %7.2f ", costs->self_ns,
                (double)costs->self_ns * scale, costs->total_ns, (double)costs->total_ns * scale);
        if (takes_out)
            fprintf(stream, "%6.1f ", measuring_share(costs->self_ns, costs->measuring_ns));
        fprintf(stream, " %s\n", images->functions[hot[i].function].name);
    }
    putc('\n', stream);
}

static void write_most_called(FILE *stream, const struct profile *profile, const struct part *part,
                              const struct images *images, const struct hot *hot, size_t count)
{
    const char *counts = profile_counts(profile);

    fprintf(stream, "functions by %s\n%14s %7s  %s\n", counts, counts,
            profile_is_stacked(profile) ? "samples%" : "calls%", "function");
    for (size_t i = 0; i < count; i++) {
        const struct costs *costs = &hot[i].costs;
        double scale = part->calls ? 100.0 / (double)part->calls : 0;
        write_calls(stream, images, &hot[i]);
        fprintf(stream, "%7.2f  %s\n", (double)costs->calls * scale,
                images->functions[hot[i].function].name);
    }
    putc('\n', stream);
}

static void write_by_instructions(FILE *stream, const struct profile *profile,
                                  const struct part *part, const struct images *images,
                                  const struct hot *hot, size_t count)
{
    fprintf(stream, "functions by instructions\n%14s %16s %7s %16s %7s  function\n",
            profile_counts(profile), "self instr.", "self%", "inclusive instr.", "incl%");
    for (size_t i = 0; i < count; i++) {
        const struct costs *costs = &hot[i].costs;
        double scale = part->instructions ? 100.0 / (double)part->instructions : 0;
        write_calls(stream, images, &hot[i]);
        fprintf(stream, "%16" PRIu64 " %7.2f %16" PRIu64 " %7.2f  %s\n", costs->self_instructions,
                (double)costs->self_instructions * scale, costs->total_instructions,
                (double)costs->total_instructions * scale, images->functions[hot[i].function].name);
    }
    putc('\n', stream);
}

static void write_waits(FILE *stream, const struct images *images, const struct hot *hot,
                        size_t count, const char *title)
{
    fprintf(stream, "%s\n%14s %10s %16s %16s %16s  function\n", title, "calls", "waits",
            "waited ns", "inclusive ns", "longest ns");
    for (size_t i = 0; i < count && (hot[i].costs.wait.self_ns || hot[i].costs.wait.total_ns);
         i++) {
        const struct wait_cost *wait = &hot[i].costs.wait;
        fprintf(stream,
                "%14" PRIu64 " %10" PRIu64 " %16" PRIu64 " %16" PRIu64 " %16" PRIu64 "  %s\n",
                hot[i].costs.calls, wait->count, wait->self_ns, wait->total_ns, wait->longest_ns,
                images->functions[hot[i].function].name);
    }
    putc('\n', stream);
}

static void write_times(FILE *stream, const struct images *images,
                        const struct call_times_list *list)
{
    const struct call_times **slowest;

    if (!list->count)
        return;
    slowest = call_times_slowest(list);
    fprintf(stream, "times of calls, of functions whose calls were timed each\n%14s %12s",
            "timed calls", "mean ns");
    for (size_t i = 0; i < CALL_TIMES_QUANTILES; i++)
        fprintf(stream, " %9s ns", call_times_quantiles[i].name);
    fprintf(stream, " %16s %12s  function\n", "longest ns", "ended at s");
    for (size_t i = 0; i < list->count; i++) {
        const struct call_times *times = slowest[i];
        fprintf(stream, "%14" PRIu64 " %12" PRIu64, times->calls, call_times_mean_ns(times));
        for (size_t j = 0; j < CALL_TIMES_QUANTILES; j++)
            fprintf(stream, " %12" PRIu64,
                    call_times_quantile_ns(times, call_times_quantiles[j].share));
        fprintf(stream, " %16.0f %12.6f  %s\n", times->longest_ns, times->longest_at_ns / 1e9,
                images->functions[times->function].name);
    }
    free(slowest);
    putc('\n', stream);
}

/* A table in that order. */
static void write_table(FILE *stream, const struct profile *profile, const struct part *part,
                        const struct images *images, const struct hottest *hottest, size_t top,
                        enum hot_order order)
{
    bool is_sampled = profile_is_sampled(profile);
    const struct hot *hot = hottest->functions;

    hottest_sort(hottest, order);
    switch (order) {
    case HOT_SELF:
        write_hottest(stream, part, images, hot, top,
                      is_sampled ? "hottest functions by self time (CPU)"
                                 : "hottest functions by self time",
                      profile, !is_sampled);
        break;
    case HOT_INCLUSIVE:
        write_hottest(stream, part, images, hot, top,
                      is_sampled ? "hottest functions by inclusive time (CPU)"
                                 : "hottest functions by inclusive time",
                      profile, !is_sampled);
        break;
    case HOT_CALLS:
        write_most_called(stream, profile, part, images, hot, top);
        break;
    case HOT_WAIT:
        write_waits(stream, images, hot, top, "functions by time waited");
        break;
    case HOT_INCLUSIVE_WAIT:
        write_waits(stream, images, hot, top, "functions by inclusive time waited");
        break;
    case HOT_INSTRUCTIONS:
        write_by_instructions(stream, profile, part, images, hot, top);
        break;
    case HOT_P99: /* write_times */
        break;
    }
}

static void write_functions(FILE *stream, const struct summary *summary, const struct part *part)
{
    const struct profile *profile = summary->profile;
    struct hottest hottest = hottest_of(part);
    size_t top = summary->top < hottest.count ? summary->top : hottest.count;
    enum hot_order orders[HOT_ORDERS];
    size_t count = summary_orders(summary, part, orders);

    for (size_t i = 0; i < count; i++)
        write_table(stream, profile, part, summary->images, &hottest, top, orders[i]);
    hottest_free(&hottest);
}

void summary_write(FILE *stream, const struct summary *summary)
{
    const struct profile *profile = summary->profile;
    struct part none = {0};
    const struct part *part = profile->part_count ? &profile->parts[0] : &none;
    bool has_times = profile_has_times(profile);

    for (size_t i = 0; i < profile->process_count; i++) {
        write_process(stream, profile, &profile->processes[i]);
        if (profile->processes[i].header.source == TRACE_OF_STACKS)
            write_sampled_threads(stream, &profile->processes[i]);
        else
            write_threads(stream, &profile->processes[i], has_times);
        process_inherited_write(stream, &profile->processes[i]);
        write_modules(stream, &profile->processes[i], summary->images);
    }
    borrowed_times_write(stream, profile, summary->images);
    write_functions(stream, summary, part);
    write_times(stream, summary->images, &part->times);
    fputs("totals: ", stream);
    if (has_times)
        fprintf(stream, "%" PRIu64 " ns ", part->ns);
    fprintf(stream, "%" PRIu64 " %s %zu functions", part->calls, profile_counts(profile),
            part->functions.keys.count);
    if (profile_has_instructions(profile))
        fprintf(stream, " %" PRIu64 " instructions", part->instructions);
    if (has_times && !profile_is_sampled(profile))
        fprintf(stream, " %.1f%% measuring", measuring_share(part->ns, part->measuring_ns));
    putc('\n', stream);
}
