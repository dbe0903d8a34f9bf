#include "grinder/views/process_facts.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "support/utf8.h"

#define MUCH       0.25 /* of a run, in hooks: short functions have less time than natively */
#define MUCH_UNFIT 1    /* percent of another run's samples: less is what any two runs differ by */

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

const char *process_how_it_ended(const struct trace_header *header, char how[64])
{
    if (header->end == TRACE_END_EXEC)
        return "replaced itself by exec";
    if (header->source == TRACE_OF_STACKS && header->end == TRACE_END_GONE &&
        (header->end_how == TRACE_END_HOW_UNKNOWN ||
         (header->end_how == TRACE_END_EXITED && !header->end_code)))
        return "ended"; /* nobody was there to see how */
    if (header->source == TRACE_OF_STACKS && header->end == TRACE_END_GONE &&
        header->end_how == TRACE_END_EXITED) {
        snprintf(how, 64, "ended, exit status %" PRIu32, header->end_code);
        return how;
    }
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
    if (header->end == TRACE_END_DETACHED)
        return "running; attach let go of it";
    if (header->end == TRACE_END_SNAPSHOT)
        return "running when this snapshot was taken";
    if (header->end == TRACE_END_GONE)
        return how_it_was_ended(header, how);
    return "running, or its end was not seen";
}

double process_seconds(const struct process *process)
{
    const struct trace_header *header = &process->header;
    uint64_t end = header->end_ticks ? header->end_ticks : header->end_seen_ticks;

    return end > header->start_ticks
               ? (double)(end - header->start_ticks) / (double)header->ticks_per_second
               : 0;
}

double measuring_share(uint64_t self_ns, uint64_t measuring_ns)
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
    double function_ns, hook_ns, wait_ns, processor_ns, answered_ns;
    double
        known_ns; /* of function_ns, what threads have whose clocks were read: perf forgets some */
    uint64_t answered;
    size_t by_perf, by_timers, by_none, stopped; /* threads */
};

static struct own_samples own_samples(const struct process *process)
{
    struct own_samples samples = {0};
    double ns_per_tick = 1e9 / (double)process->header.ticks_per_second;

    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_facts *facts = &process->threads[i];
        uint32_t how = facts->record.is_sampled;

        samples.count += facts->timed;
        samples.function_ns += (double)facts->self_ns;
        samples.wait_ns += (double)facts->wait_ns;
        samples.processor_ns += (double)facts->record.processor_ns;
        samples.known_ns += facts->record.processor_ns ? (double)facts->self_ns : 0;
        samples.hook_ns += (double)facts->record.in_hooks * ns_per_tick;
        samples.answered += facts->record.answered;
        samples.answered_ns += (double)facts->record.answered_ticks * ns_per_tick;
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
    if (process->header.source == TRACE_OF_STACKS)
        fprintf(stream, ": %.6f s, %.1f%% of them with all callers%s", ns / 1e9,
                samples.count ? 100 * (double)process->stacks.whole / (double)samples.count : 0,
                process->stacks.user_only ? "; time in the kernel is not among them" : "");
    else if (ns > 0)
        fprintf(stream, ": %.1f%% of %.6f s in functions, %.1f%% in hooks",
                100 * samples.function_ns / ns, ns / 1e9, 100 * samples.hook_ns / ns);
    putc('\n', stream);
    if (process->header.source != TRACE_OF_STACKS && samples.hook_ns > MUCH * ns)
        fprintf(stream,
                "  hint      much of this run was hooks; umbra record --twice has the times of a "
                "run without\n");
    if (process->stacks.lost)
        fprintf(stream, "  LOST      %" PRIu64 " samples, for want of room\n",
                process->stacks.lost);
    if (samples.processor_ns > 0)
        fprintf(stream, "  processor %.6f s by the threads' clocks, %.1f%% of it in samples\n",
                samples.processor_ns / 1e9,
                100 *
                    (process->header.source == TRACE_OF_STACKS ? samples.known_ns
                                                               : (double)process->samples.cpu_ns) /
                    samples.processor_ns);
    if (samples.wait_ns > 0)
        fprintf(stream, "  waiting   %.6f s in system calls that took more than 50 us\n",
                samples.wait_ns / 1e9);
    if (samples.answered)
        fprintf(stream,
                "  answers   %.6f s in %" PRIu64
                " system call%s that umbra record answered; nobody's\n",
                samples.answered_ns / 1e9, samples.answered, samples.answered == 1 ? "" : "s");
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
        return header->source == TRACE_OF_STACKS
                   ? "samples of whole stacks: nothing was instrumented, calls were not counted"
                   : "samples: counts are exact, times are of the processor, by samples";
    default:
        return "exact";
    }
}

/* Who let go of it has paused it first. */
static void write_pauses(FILE *stream, const struct trace_header *header)
{
    bool is_let_go = header->end == TRACE_END_DETACHED && header->paused;
    uint32_t pauses = header->pauses - (is_let_go && header->pauses);

    if (pauses)
        fprintf(stream, "  paused    %s%" PRIu32 " time%s\n",
                !header->paused || is_let_go    ? ""
                : header->end == TRACE_END_GONE ? "at its end, "
                                                : "now, ",
                pauses, pauses == 1 ? "" : "s");
}

static void write_unhooked(FILE *stream, const struct unhooked_facts *unhooked)
{
    if (!unhooked->times)
        return;
    fprintf(stream, "  UNHOOKED  %" PRIu32 " function%s for a while, ", unhooked->functions,
            unhooked->functions == 1 ? "" : "s");
    if (unhooked->percent > 0)
        fprintf(stream, "since hooks cost more than %g%%%s", unhooked->percent,
                unhooked->by_user ? ", or " : "");
    fprintf(stream, "%s: calls are at least what is shown (>)\n",
            unhooked->by_user ? "by `unhook`" : "");
}

void process_facts_write(FILE *stream, const struct profile *profile, const struct process *process)
{
    const struct trace_header *header = &process->header;
    bool has_own_times = profile_has_times(profile) && !profile->borrowed.path;
    double seconds = process_seconds(process);
    char how[64];

    fprintf(stream, "  trace     ");
    utf8_write_plain(stream, process->trace_path);
    fprintf(stream, "\n  state     %s\n", process_how_it_ended(header, how));
    write_pauses(stream, header);
    if (header->fork_of_pid)
        fprintf(stream, "  fork of   %" PRIu32 "\n", header->fork_of_pid);
    if (seconds > 0)
        fprintf(stream, "  duration  %.6f s\n", seconds);
    fprintf(stream, "  timing    %s\n",
            profile->borrowed.path ? "none of its own: counts are exact, times are of another run"
                                   : timing_of(header));
    write_samples(stream, &process->samples);
    if (header->timing == TRACE_TIMING_SAMPLES)
        write_own_samples(stream, process);
    else if (has_own_times)
        write_measuring(stream, process);
    write_untold_times(stream, process);
    write_unhooked(stream, &process->unhooked);
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

void borrowed_times_write(FILE *stream, const struct profile *profile, const struct images *images)
{
    const struct borrowed_times *borrowed = &profile->borrowed;
    double scale = borrowed->samples ? 100 / (double)borrowed->samples : 0;

    if (!borrowed->path)
        return;
    fprintf(stream, "times from ");
    utf8_write_plain(stream, borrowed->path);
    fprintf(stream, ": %" PRIu64 " samples, %.1f%% of them below functions that were counted\n",
            borrowed->samples, 100 - (double)borrowed->outside * scale);
    if (borrowed->function && (double)borrowed->uncounted * scale >= MUCH_UNFIT)
        fprintf(stream,
                "DOES NOT FIT: %.1f%% of them are in functions without calls here, most in %s\n",
                (double)borrowed->uncounted * scale, images->functions[borrowed->function].name);
    putc('\n', stream);
}

bool module_is_instrumented_later(const struct process *process, const struct module_facts *module)
{
    for (size_t i = 0; i < process->module_count && !module->image; i++)
        if (process->modules[i].image && !strcmp(process->modules[i].path, module->path))
            return true;
    return false;
}

void process_inherited_write(FILE *stream, const struct process *process)
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
