#include "grinder/views/summary.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/utf8.h"

/* What the kernel said of it; how must hold what is returned. */
static const char *how_it_was_ended(const struct trace_header *header, char how[64])
{
    static const char *const names[] = {
        [SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
        [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
        [SIGKILL] = "SIGKILL", [SIGSEGV] = "SIGSEGV", [SIGPIPE] = "SIGPIPE", [SIGTERM] = "SIGTERM",
    };
    uint32_t code = header->end_code;

    if (header->end_how == TRACE_END_EXITED)
        snprintf(how, 64, "ended without exit(), exit status %" PRIu32, code);
    else if (header->end_how != TRACE_END_KILLED)
        return "ended without exit(): by _exit, a signal or a crash";
    else if (code < sizeof(names) / sizeof(*names) && names[code])
        snprintf(how, 64, "killed by signal %" PRIu32 ", %s", code, names[code]);
    else
        snprintf(how, 64, "killed by signal %" PRIu32, code);
    return how;
}

static const char *how_it_ended(const struct trace_header *header, char how[64])
{
    if (header->end == TRACE_END_EXEC)
        return "replaced itself by exec";
    switch (header->state) {
    case TRACE_PREPARED:
        return "did not begin to record";
    case TRACE_ENDED:
        if (header->end_how == TRACE_END_KILLED)
            return how_it_was_ended(header, how); /* in its last moments */
        if (header->end_how != TRACE_END_EXITED || !header->end_code)
            return "ended through exit()";
        snprintf(how, 64, "ended through exit(), exit status %" PRIu32, header->end_code);
        return how;
    }
    if (header->end == TRACE_END_SNAPSHOT)
        return "running when this snapshot was taken";
    if (header->end == TRACE_END_GONE)
        return how_it_was_ended(header, how);
    return "running, or its end was not seen";
}

/* Ticks from the beginning of recording to its end as far as that is known; else 0. */
static uint64_t duration_ticks(const struct process *process)
{
    const struct trace_header *header = &process->header;
    uint64_t end = header->end_ticks ? header->end_ticks : header->end_seen_ticks;

    return end > header->start_ticks ? end - header->start_ticks : 0;
}

/* Of what was measured, in percent. */
static double measuring_share(uint64_t self_ns, uint64_t measuring_ns)
{
    double raw_ns = (double)self_ns + (double)measuring_ns;

    return raw_ns > 0 ? 100 * (double)measuring_ns / raw_ns : 0;
}

static void write_measuring(FILE *stream, const struct process *process)
{
    uint64_t self_ns = 0, measuring_ns = 0;

    for (size_t i = 0; i < process->thread_count; i++) {
        self_ns += process->threads[i].self_ns;
        measuring_ns += process->threads[i].measuring_ns;
    }
    fprintf(stream, "  measuring %.1f%% of %.6f s in functions, and taken out\n",
            measuring_share(self_ns, measuring_ns), ((double)self_ns + (double)measuring_ns) / 1e9);
}

static void write_samples(FILE *stream, const struct sample_facts *samples)
{
    uint64_t all = samples->in_functions + samples->in_hooks + samples->elsewhere;
    double scale = all ? 100 / (double)all : 0;

    if (all)
        fprintf(stream,
                "  samples   %" PRIu64 ": %.1f%% in functions, %.1f%% in hooks, %.1f%% elsewhere\n",
                all, (double)samples->in_functions * scale, (double)samples->in_hooks * scale,
                (double)samples->elsewhere * scale);
}

/* What threads have taken themselves. */
struct own_samples {
    uint64_t count;
    double function_ns, hook_ns, wait_ns, processor_ns;
    size_t by_perf, by_timers, by_none, stopped; /* threads */
};

static struct own_samples own_samples(const struct process *process)
{
    struct own_samples samples = {0};

    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_facts *facts = &process->threads[i];
        uint32_t how = facts->record.is_sampled;

        samples.count += facts->timed;
        samples.function_ns += (double)facts->self_ns;
        samples.wait_ns += (double)facts->wait_ns;
        samples.processor_ns += (double)facts->record.processor_ns;
        samples.hook_ns +=
            (double)facts->record.in_hooks * 1e9 / (double)process->header.ticks_per_second;
        samples.by_perf += how & TRACE_SAMPLED_BY_PERF ? 1 : 0;
        samples.by_timers +=
            (how & ~TRACE_SAMPLED_STOPPED) == TRACE_SAMPLED_BY_TIMER && facts->timed;
        samples.stopped += how & TRACE_SAMPLED_STOPPED ? 1 : 0;
        samples.by_none += !how;
    }
    return samples;
}

static bool is_unsampled(uint32_t how)
{
    return !how;
}

static bool has_stopped(uint32_t how)
{
    return how & TRACE_SAMPLED_STOPPED;
}

/* Their numbers. */
static void write_sampled_threads(FILE *stream, const struct process *process,
                                  bool (*is_meant)(uint32_t how))
{
    const char *between = " ";

    for (size_t i = 0; i < process->thread_count; i++) {
        if (!is_meant(process->threads[i].record.is_sampled))
            continue;
        fprintf(stream, "%s%" PRIu32, between, process->threads[i].record.ordinal);
        between = ", ";
    }
}

static void write_unsampled(FILE *stream, const struct process *process)
{
    fputs("  UNSAMPLED thread", stream);
    write_sampled_threads(stream, process, is_unsampled);
    fputs(": no times of what it did\n", stream);
}

static void write_stopped(FILE *stream, const struct process *process)
{
    fputs("  SAMPLES STOPPED in thread", stream);
    write_sampled_threads(stream, process, has_stopped);
    fputs(": no times of what it did after the program asked for SIGURG, or forbade timers; "
          "--timing=exact has their times\n",
          stream);
}

static void write_untold_times(FILE *stream, const struct process *process)
{
    uint64_t untold = 0;

    for (size_t i = 0; i < process->thread_count; i++)
        untold += process->threads[i].record.untold_times;
    if (untold)
        fprintf(stream, "  UNTOLD    times of %" PRIu64 " calls, for want of room\n", untold);
}

static void write_own_samples(FILE *stream, const struct process *process)
{
    struct own_samples samples = own_samples(process);
    double ns = samples.function_ns + samples.hook_ns;

    fprintf(stream, "  samples   %" PRIu64, samples.count);
    if (samples.by_perf && samples.by_timers)
        fprintf(stream, ", by perf in %zu threads, by timers in %zu", samples.by_perf,
                samples.by_timers);
    else if (samples.by_perf || samples.by_timers)
        fprintf(stream, ", by %s", samples.by_perf ? "perf" : "timers");
    if (ns > 0)
        fprintf(stream, ": %.1f%% of %.6f s in functions, %.1f%% in hooks",
                100 * samples.function_ns / ns, ns / 1e9, 100 * samples.hook_ns / ns);
    putc('\n', stream);
    if (samples.processor_ns > 0)
        fprintf(stream, "  processor %.6f s by the threads' clocks, %.1f%% of it in samples\n",
                samples.processor_ns / 1e9, 100 * ns / samples.processor_ns);
    if (samples.wait_ns > 0)
        fprintf(stream, "  waiting   %.6f s in system calls that took more than 50 us\n",
                samples.wait_ns / 1e9);
    if (samples.by_none)
        write_unsampled(stream, process);
    if (samples.stopped)
        write_stopped(stream, process);
}

static const char *timing_of(const struct trace_header *header)
{
    switch (header->timing) {
    case TRACE_TIMING_ADAPTIVE:
        return "adaptive: counts are exact, times of short and frequent calls estimated";
    case TRACE_TIMING_NONE:
        return "none: counts are exact, there are no times";
    case TRACE_TIMING_SAMPLES:
        return "samples: counts are exact, times are of the processor, by samples";
    default:
        return "exact";
    }
}

static void write_process(FILE *stream, const struct process *process, bool has_times)
{
    const struct trace_header *header = &process->header;
    uint64_t ticks = duration_ticks(process);
    char how[64];

    fprintf(stream, "process %" PRIu32 "  ", header->pid);
    utf8_write_plain(stream, header->command);
    fprintf(stream, "\n  trace     ");
    utf8_write_plain(stream, process->trace_path);
    fprintf(stream, "\n  state     %s\n", how_it_ended(header, how));
    if (header->pauses)
        fprintf(stream, "  paused    %s%" PRIu32 " time%s\n",
                !header->paused                 ? ""
                : header->end == TRACE_END_GONE ? "at its end, "
                                                : "now, ",
                header->pauses, header->pauses == 1 ? "" : "s");
    if (header->fork_of_pid)
        fprintf(stream, "  fork of   %" PRIu32 "\n", header->fork_of_pid);
    if (ticks)
        fprintf(stream, "  duration  %.6f s\n", (double)ticks / (double)header->ticks_per_second);
    fprintf(stream, "  timing    %s\n", timing_of(header));
    write_samples(stream, &process->samples);
    if (header->timing == TRACE_TIMING_SAMPLES)
        write_own_samples(stream, process);
    else if (has_times)
        write_measuring(stream, process);
    write_untold_times(stream, process);
    if (header->skipped)
        fprintf(stream, "  skipped   %" PRIu64 " calls in threads that had no state yet\n",
                header->skipped);
    if (process->missing_bytes)
        fprintf(stream, "  CUT OFF   %" PRIu64 " bytes are missing at its end\n",
                process->missing_bytes);
    if (process->lost_contexts)
        fprintf(stream, "  LOST      %" PRIu64 " contexts whose callers are missing\n",
                process->lost_contexts);
}

static const char *balance(const struct thread_facts *facts)
{
    if (!facts->balanced)
        return "BROKEN";
    return facts->live_is_derived ? "derived" : "holds";
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

static void write_inherited(FILE *stream, const struct process *process)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct trace_thread *record = &process->threads[i].record;
        if (record->inherited)
            fprintf(stream,
                    "  thread %" PRIu32 " returned from %" PRIu64
                    " calls made before the fork; the parent's trace has them\n",
                    record->ordinal, record->inherited);
    }
}

/* A module is seen mapped before it is seen to be instrumented, at its first call. */
static bool is_instrumented_later(const struct process *process, const struct module_facts *module)
{
    for (size_t i = 0; i < process->module_count && !module->image; i++)
        if (process->modules[i].image && !strcmp(process->modules[i].path, module->path))
            return true;
    return false;
}

static void write_modules(FILE *stream, const struct process *process, const struct images *images)
{
    if (process->module_count)
        fprintf(stream, "\n  %9s %9s %9s  %s\n", "functions", "hooked", "skipped", "module");
    for (size_t i = 0; i < process->module_count; i++) {
        const struct module_facts *module = &process->modules[i];
        const struct image *image = &images->images[module->image];
        if (is_instrumented_later(process, module))
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

struct hot {
    uint32_t function;
    struct costs costs;
};

/* Larger times first, then more calls, then the order in which functions turned up. */
static int compare_hot(uint64_t a_ns, uint64_t b_ns, const struct hot *a, const struct hot *b)
{
    if (a_ns != b_ns)
        return a_ns > b_ns ? -1 : 1;
    if (a->costs.calls != b->costs.calls)
        return a->costs.calls > b->costs.calls ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

static int compare_self(const void *left, const void *right)
{
    const struct hot *a = left, *b = right;

    return compare_hot(a->costs.self_ns, b->costs.self_ns, a, b);
}

static int compare_total(const void *left, const void *right)
{
    const struct hot *a = left, *b = right;

    return compare_hot(a->costs.total_ns, b->costs.total_ns, a, b);
}

static void write_hottest(FILE *stream, const struct part *part, const struct images *images,
                          const struct hot *hot, size_t count, const char *title, bool takes_out)
{
    fprintf(stream, "%s\n%14s %16s %7s %16s %7s ", title, "calls", "self ns", "self%",
            "inclusive ns", "incl%");
    fprintf(stream, "%s function\n", takes_out ? " meas% " : "");
    for (size_t i = 0; i < count; i++) {
        const struct costs *costs = &hot[i].costs;
        double scale = part->ns ? 100.0 / (double)part->ns : 0;
        fprintf(stream, "%14" PRIu64 " %16" PRIu64 " %7.2f %16" PRIu64 " %7.2f ", costs->calls,
                costs->self_ns, (double)costs->self_ns * scale, costs->total_ns,
                (double)costs->total_ns * scale);
        if (takes_out)
            fprintf(stream, "%6.1f ", measuring_share(costs->self_ns, costs->measuring_ns));
        fprintf(stream, " %s\n", images->functions[hot[i].function].name);
    }
    putc('\n', stream);
}

static int compare_calls(const void *left, const void *right)
{
    return compare_hot(0, 0, left, right);
}

static void write_most_called(FILE *stream, const struct part *part, const struct images *images,
                              const struct hot *hot, size_t count)
{
    fprintf(stream, "functions by calls\n%14s %7s  %s\n", "calls", "calls%", "function");
    for (size_t i = 0; i < count; i++) {
        const struct costs *costs = &hot[i].costs;
        double scale = part->calls ? 100.0 / (double)part->calls : 0;
        fprintf(stream, "%14" PRIu64 " %7.2f  %s\n", costs->calls, (double)costs->calls * scale,
                images->functions[hot[i].function].name);
    }
    putc('\n', stream);
}

static int compare_waits(const void *left, const void *right)
{
    const struct hot *a = left, *b = right;

    return compare_hot(a->costs.wait.self_ns, b->costs.wait.self_ns, a, b);
}

static int compare_total_waits(const void *left, const void *right)
{
    const struct hot *a = left, *b = right;

    return compare_hot(a->costs.wait.total_ns, b->costs.wait.total_ns, a, b);
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
    if (!list->count)
        return;
    fprintf(stream, "times of calls, of functions whose calls were timed each\n%14s",
            "timed calls");
    for (size_t i = 0; i < CALL_TIMES_QUANTILES; i++)
        fprintf(stream, " %9s ns", call_times_quantiles[i].name);
    fprintf(stream, " %16s %12s  function\n", "longest ns", "ended at s");
    for (size_t i = 0; i < list->count; i++) {
        const struct call_times *times = &list->items[i];
        fprintf(stream, "%14" PRIu64, times->calls);
        for (size_t j = 0; j < CALL_TIMES_QUANTILES; j++)
            fprintf(stream, " %12" PRIu64,
                    call_times_quantile_ns(times, call_times_quantiles[j].share));
        fprintf(stream, " %16.0f %12.6f  %s\n", times->longest_ns, times->longest_at_ns / 1e9,
                images->functions[times->function].name);
    }
    putc('\n', stream);
}

static void write_functions(FILE *stream, const struct profile *profile, const struct part *part,
                            const struct images *images, size_t top)
{
    bool has_times = profile_has_times(profile), is_sampled = profile_is_sampled(profile);
    size_t count = part->functions.keys.count;
    struct hot *hot = memory_zeroed(count, sizeof(*hot));

    for (size_t i = 0; i < count; i++)
        hot[i] = (struct hot){(uint32_t)part->functions.keys.pairs[i].a, part->functions.costs[i]};
    if (top > count)
        top = count;
    qsort(hot, count, sizeof(*hot), has_times ? compare_self : compare_calls);
    if (has_times) {
        write_hottest(stream, part, images, hot, top,
                      is_sampled ? "hottest functions by self time (CPU)"
                                 : "hottest functions by self time",
                      !is_sampled);
        qsort(hot, count, sizeof(*hot), compare_total);
        write_hottest(stream, part, images, hot, top,
                      is_sampled ? "hottest functions by inclusive time (CPU)"
                                 : "hottest functions by inclusive time",
                      !is_sampled);
        if (part->wait_ns) {
            qsort(hot, count, sizeof(*hot), compare_waits);
            write_waits(stream, images, hot, top, "functions by time waited");
            qsort(hot, count, sizeof(*hot), compare_total_waits);
            write_waits(stream, images, hot, top, "functions by inclusive time waited");
        }
    } else {
        write_most_called(stream, part, images, hot, top);
    }
    free(hot);
}

void summary_write(FILE *stream, const struct profile *profile, const struct images *images,
                   size_t top)
{
    struct part none = {0};
    const struct part *part = profile->part_count ? &profile->parts[0] : &none;
    bool has_times = profile_has_times(profile);

    for (size_t i = 0; i < profile->process_count; i++) {
        write_process(stream, &profile->processes[i], has_times);
        write_threads(stream, &profile->processes[i], has_times);
        write_inherited(stream, &profile->processes[i]);
        write_modules(stream, &profile->processes[i], images);
    }
    write_functions(stream, profile, part, images, top);
    write_times(stream, images, &part->times);
    fputs("totals: ", stream);
    if (has_times)
        fprintf(stream, "%" PRIu64 " ns ", part->ns);
    fprintf(stream, "%" PRIu64 " calls %zu functions", part->calls, part->functions.keys.count);
    if (has_times && !profile_is_sampled(profile))
        fprintf(stream, " %.1f%% measuring", measuring_share(part->ns, part->measuring_ns));
    putc('\n', stream);
}
