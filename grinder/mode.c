#include "grinder/mode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/base/output.h"
#include "grinder/coverage/coverage_format.h"
#include "grinder/events/event_summary.h"
#include "grinder/formats/format.h"
#include "grinder/formats/peak_format.h"
#include "grinder/profile/traces.h"
#include "grinder/report/report_write.h"
#include "grinder/views/diff.h"
#include "grinder/views/fit.h"
#include "grinder/views/process_tree.h"
#include "grinder/views/same_build.h"
#include "grinder/views/summary.h"
#include "grinder/views/summary_screen.h"
#include "grinder/views/terminal.h"
#include "grinder/views/top.h"
#include "support/memory.h"

#define EXCEEDED 1
#define FAILED   2 /* of diff, where 1 is taken; wrong usage */

/* This and the next say why not. */
static bool begin_output(struct output *output, const char *path)
{
    struct failure failure;

    if (output_open(output, path, &failure))
        return true;
    message_failure(&failure);
    return false;
}

static bool end_output(struct output *output)
{
    struct failure failure;

    if (output_commit(output, &failure))
        return true;
    message_failure(&failure);
    return false;
}

static int write_view(const struct format *format, const struct view *view, const char *path)
{
    struct output output;
    bool is_sound;

    if (!begin_output(&output, path))
        return -1;
    if (!format->write_times) {
        format->write(output.stream, view);
        return end_output(&output) ? 0 : -1;
    }
    is_sound = format->write_times(output.stream, view);
    return end_output(&output) && is_sound ? 0 : -1;
}

/* NAME-01, NAME-02 …: as many digits as the last one needs, at least two. */
static int write_split(const struct format *format, struct view view, const char *path)
{
    size_t count = view.profile->part_count;
    int digits = snprintf(NULL, 0, "%zu", count);
    size_t size = strlen(path) + (size_t)digits + 4;
    char *name = memory_zeroed(size, 1);
    int result = 0;

    view.count = 1;
    for (view.first = 0; view.first < count && !result; view.first++) {
        snprintf(name, size, "%s-%0*zu", path, digits < 2 ? 2 : digits, view.first + 1);
        result = write_view(format, &view, name);
    }
    free(name);
    return result;
}

static const struct format *format_of(const char *name)
{
    return name ? format_named(name) : &formats[0];
}

static bool profile_has_format(const char *name)
{
    return format_of(name) != NULL;
}

static bool profile_needs_stacks(const struct options *options)
{
    const struct format *format = format_of(options->format);

    return format->needs_stacks || format->write == baseline_write;
}

static bool needs_events(const struct options *options, const struct format *format)
{
    return format->needs_events || options->from_ns || options->to_ns != UINT64_MAX;
}

/* Reads the traces of a profile once more, for their blocks. */
static void read_coverage(struct coverage *coverage, const struct options *options,
                          const struct profile *profile)
{
    struct failure failure;

    coverage_begin(coverage);
    coverage->images_are_known = true;
    coverage->images.path_maps = (const char *const *)options->path_maps;
    for (size_t i = 0; i < profile->process_count; i++)
        if (!coverage_add(coverage, profile->processes[i].trace_path, &failure))
            message_failure(&failure);
    coverage_resolve(coverage, (const char *const *)options->debug_dirs);
}

/* Blocks are counted by process: they are known of a part if it has all that the processes ran. */
static bool shows_lines(const struct options *options, const struct format *format,
                        const struct profile *profile, const struct images *images)
{
    const struct selection *selection = &options->selection;

    return format->write == callgrind_write && profile->part_count == 1 &&
           profile_has_instructions(profile) && coverage_has_counts(images) &&
           !selection->threads.count && !selection->functions.count;
}

static int run_profile(const struct options *options, const struct profile *profile,
                       const struct images *images)
{
    const struct format *format = format_of(options->format);
    struct view view = {.profile = profile,
                        .images = images,
                        .count = profile->part_count,
                        .weight = options->weight,
                        .from_ns = options->from_ns,
                        .to_ns = options->to_ns,
                        .say = message_failure};
    uint32_t pid = profile->processes[0].header.pid;
    char by_default[64];
    const char *path = options->output;
    struct coverage coverage = {0};
    int result;

    if (needs_events(options, format) && !profile_has_events(profile)) {
        message("%s%s needs a call-trace recording (%s --mode=calltrace); %s is a profile",
                format->needs_events ? "--output-format=" : "--from or --to of ", format->name,
                strcmp(message_own_name(), "grinder") ? "umbra record" : "call_trace_service start",
                options->traces[0]);
        return FAILED;
    }
    if (format->write == baseline_write && profile_is_stacked(profile)) {
        message("--output-format=baseline needs calls; %s has samples alone", options->traces[0]);
        return FAILED;
    }
    if (format == &formats[0])
        snprintf(by_default, sizeof(by_default), "callgrind.out.%" PRIu32, pid);
    else
        snprintf(by_default, sizeof(by_default), "profile.%" PRIu32 ".%s", pid, format->suffix);
    if (!path)
        path = by_default;
    if (shows_lines(options, format, profile, images)) {
        read_coverage(&coverage, options, profile);
        view.coverage = &coverage;
    }
    result = options->split ? write_split(format, view, path) : write_view(format, &view, path);
    coverage_free(&coverage);
    return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool is_to_terminal(const struct options *options)
{
    return (!options->output || !strcmp(options->output, "-")) && isatty(STDOUT_FILENO);
}

/* 0 if the recording has what its functions are to be sorted by; -1 after a message. */
static int check_sort(const struct options *options, const struct profile *profile)
{
    if (!options->has_sort || options->sort == HOT_CALLS)
        return 0;
    if (options->sort == HOT_INSTRUCTIONS) {
        if (profile_has_instructions(profile))
            return 0;
        message("%s has no instructions to sort by: record with --count=instructions",
                options->traces[0]);
        return -1;
    }
    if (options->sort == HOT_P99) {
        if (profile->part_count && profile->parts[0].times.count)
            return 0;
        message("%s has no times of each call to sort by: umbra record --time=PATTERN has them of "
                "functions that match",
                options->traces[0]);
        return -1;
    }
    if (!profile_has_times(profile))
        message("%s has no times to sort by: it was recorded with --timing=none; see --sort=calls",
                profile->untimed);
    else if (options->sort == HOT_WAIT && !profile_is_sampled(profile))
        message("%s has no waits to sort by: they are measured with --timing=samples; elsewhere "
                "waiting is in the times of --sort=self",
                profile->clocked ? profile->clocked : options->traces[0]);
    else
        return 0;
    return -1;
}

static int write_summary(const struct options *options, const struct summary *summary)
{
    struct output output;
    bool is_sound;

    if (!begin_output(&output, options->output ? options->output : "-"))
        return -1;
    if (process_tree_write(output.stream, options->processes, options->shown, PROCESS_TREE_COLUMNS,
                           options->shown ? "; * is shown below, another with --process=PID|NAME"
                                          : ""))
        putc('\n', output.stream);
    is_sound = event_summary_write(output.stream, summary->profile, false, summary->say);
    summary_write(output.stream, summary);
    return end_output(&output) && is_sound ? 0 : -1;
}

static int show_summary(const struct options *options, const struct summary *summary)
{
    const struct terminal terminal = terminal_look();
    char *text = NULL;
    size_t size;
    FILE *stream = memory_or_exit(open_memstream(&text, &size), sizeof(FILE));
    bool is_sound = summary_screen_write(stream, summary, &terminal);
    struct failure failure;

    fclose(stream);
    if (!terminal.is_utf8)
        fit_to_ascii(text);
    if (!terminal_show(&terminal, text, !options->no_pager, &failure)) {
        message_failure(&failure);
        is_sound = false;
    }
    free(text);
    return is_sound ? 0 : -1;
}

static int run_summary(const struct options *options, const struct profile *profile,
                       const struct images *images)
{
    struct summary summary = {
        .profile = profile,
        .images = images,
        .top = options->top,
        .has_order = options->has_sort,
        .order = options->sort,
        .processes = options->processes,
        .shown = options->shown,
        .say = message_failure,
    };
    int result;

    if (check_sort(options, profile) < 0)
        return FAILED;
    if (is_to_terminal(options)) {
        summary.top = options->has_top ? options->top : SUMMARY_SCREEN_TOP;
        result = show_summary(options, &summary);
    } else {
        result = write_summary(options, &summary);
    }
    return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Whatever is selected. */
static bool has_calls(const struct profile *profile)
{
    for (size_t i = 0; i < profile->process_count; i++)
        for (size_t k = 0; k < profile->processes[i].thread_count; k++)
            if (profile->processes[i].threads[k].entries)
                return true;
    return false;
}

static int run_report(const struct options *options, const struct profile *profile,
                      const struct images *images)
{
    struct coverage coverage = {0};
    struct report report = {
        .profile = profile,
        .images = images,
        .processes = options->processes,
        .shown = options->shown,
        .path_maps = (const char *const *)options->path_maps,
        .source_roots = (const char *const *)options->source_roots,
        .verbose = options->verbose,
        .quiet = options->quiet,
    };
    uint32_t pid = profile->processes[0].header.pid;
    const char *path = options->output;
    char by_default[64];
    struct failure failure;
    size_t length;
    bool is_written;

    if (coverage_is_noted(images) && !has_calls(profile)) {
        message("%s has neither calls nor times, which --mode=report needs, as --no-calls records "
                "none; see which lines ran with --mode=coverage",
                options->traces[0]);
        return FAILED;
    }
    snprintf(by_default, sizeof(by_default),
             options->split ? "report.%" PRIu32 : "report.%" PRIu32 ".html", pid);
    if (!path)
        path = by_default;
    length = strlen(path);
    if (coverage_is_noted(images)) {
        read_coverage(&coverage, options, profile);
        report.coverage = coverage.room ? &coverage : NULL;
    }
    is_written = report_write(&report, path, options->split || (length && path[length - 1] == '/'),
                              &failure);
    if (!is_written)
        message_failure(&failure);
    coverage_free(&coverage);
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool diff_has_format(const char *name)
{
    return diff_format_named(name, true) != NULL;
}

static bool diff_needs_stacks(const struct options *options)
{
    const struct diff_format *format = diff_format_named(options->format, is_to_terminal(options));

    return format->needs_stacks || (format->has_contexts && options->weight != WEIGHT_NS);
}

/* Nothing that counts differs between runs of a deterministic program. */
static void explain_noise(const struct options *options, const struct profile *profiles,
                          const struct diff *diff)
{
    char *causes;

    if (options->weight == WEIGHT_NS || !diff_exceeds(diff, 0) ||
        !same_build(diff->images, &profiles[BEFORE], &profiles[AFTER]))
        return;
    causes = same_build_causes(diff->images, &profiles[BEFORE], &profiles[AFTER]);
    message("%s and %s are of the same build, which differs from run to run; see to %s",
            options->traces[BEFORE], options->traces[AFTER], causes);
    free(causes);
}

/* False after a message: it is not what the second recording of --again can be. */
static bool check_again(const struct options *options, const struct profile *profiles,
                        const struct images *images)
{
    if (options->weight == WEIGHT_NS) {
        message(
            "--again is for --weight=calls and instructions: how far times differ by chance is known from samples");
        return false;
    }
    if (same_build(images, &profiles[BEFORE], &profiles[AGAIN]))
        return true;
    message("--again=%s: expected a recording of the build that %s is of, found another%s",
            options->again, options->traces[BEFORE],
            profiles[BEFORE].listed || profiles[AGAIN].listed
                ? ", or a baseline that does not know; --output-format=baseline writes it anew"
                : "");
    return false;
}

/* False after a message: the format shows what a baseline does not have. */
static bool check_baselines(const struct diff_format *format, const struct profile *profiles)
{
    for (int side = 0; side < SIDES && format->needs_stacks; side++) {
        if (!profiles[side].listed)
            continue;
        message("%s: expected a recording for --output-format=%s, found a baseline, which has "
                "not all stacks",
                profiles[side].listed, format->name);
        return false;
    }
    return true;
}

static int run_diff(const struct options *options, const struct profile *profiles,
                    const struct images *images)
{
    const struct diff_format *format = diff_format_named(options->format, is_to_terminal(options));
    struct diff diff;
    struct output output;
    int result = EXIT_SUCCESS;

    if (!check_baselines(format, profiles) ||
        (options->again && !check_again(options, profiles, images)) ||
        !begin_output(&output, options->output ? options->output : "-"))
        return FAILED;
    diff_begin(&diff, profiles, images, options->weight);
    if (options->again)
        diff_note_noise(&diff, profiles);
    format->write(output.stream, &diff, options->top);
    explain_noise(options, profiles, &diff);
    if (options->has_threshold && diff_exceeds(&diff, options->threshold))
        result = EXCEEDED;
    diff_free(&diff);
    return end_output(&output) ? result : FAILED;
}

static bool stack_has_format(const char *name)
{
    return peak_format_named(name, true) != NULL;
}

static int run_stack(const struct options *options, const struct profile *profile,
                     const struct images *images)
{
    const struct peak_format *format = peak_format_named(options->format, is_to_terminal(options));
    struct output output;

    if (!begin_output(&output, options->output ? options->output : "-"))
        return EXIT_FAILURE;
    format->write(output.stream, profile, images);
    return end_output(&output) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_top(const struct options *options)
{
    const struct top_options top = {
        .weight = options->weight,
        .once = options->once,
        .times = options->times,
        .interval = options->interval,
        .rows = options->top,
        .feed = options->feed,
        .traces = (const char *const *)options->traces,
        .debug_dirs = (const char *const *)options->debug_dirs,
        .path_maps = (const char *const *)options->path_maps,
    };

    return top_run(&top);
}

static bool coverage_has_format(const char *name)
{
    return coverage_format_named(name) != NULL;
}

/* 0; -1 after messages. */
static int add_traces(struct coverage *coverage, const struct options *options)
{
    int result = 0;
    char **traces = traces_of((const char *const *)options->traces, &result);
    struct failure failure;

    for (char **trace = traces; *trace; trace++)
        if (!coverage_add(coverage, *trace, &failure)) {
            message_failure(&failure);
            result = -1;
        }
    traces_free(traces);
    if (!result && !coverage->room)
        message("%s has no blocks: record with umbra record --count=blocks, or a program that "
                "instrument --count=blocks has made",
                options->traces[0]);
    return coverage->room ? result : -1;
}

static int run_coverage(const struct options *options)
{
    struct coverage coverage;
    struct output output;
    int result;

    coverage_begin(&coverage);
    coverage.images.path_maps = (const char *const *)options->path_maps;
    result = add_traces(&coverage, options);
    if (coverage.room && !coverage.is_counted &&
        coverage_format_named(options->format)->needs_counts) {
        message("--output-format=%s: expected how often blocks ran, found whether they did: record "
                "without --once",
                options->format);
        result = -1;
    } else if (coverage.room && begin_output(&output, options->output ? options->output : "-")) {
        coverage_resolve(&coverage, (const char *const *)options->debug_dirs);
        coverage_format_named(options->format)->write(output.stream, &coverage, options->top);
        if (!end_output(&output))
            result = -1;
    } else {
        result = -1;
    }
    coverage_free(&coverage);
    return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

size_t mode_side_count(const struct options *options)
{
    return options->mode->sides + (options->again ? 1 : 0);
}

static void warn_of_kinds(const struct options *options, const struct profile *profiles)
{
    const char *sampled = NULL, *clocked = NULL;

    for (size_t side = 0; side < mode_side_count(options); side++) {
        sampled = sampled ? sampled : profiles[side].sampled;
        clocked = clocked ? clocked : profiles[side].clocked;
    }
    if (sampled && clocked && !options->mode->needs_peaks)
        message("%s has times of the processor (--timing=samples), %s has times of the clock, "
                "waiting included: their calls compare, their times do not",
                sampled, clocked);
}

/* The program computed for less than a period of samples: there is nothing to show by times. */
static bool is_unmet(const struct options *options, const struct profile *profile)
{
    const struct format *format = options->format ? format_named(options->format) : NULL;
    uint64_t ns = 0;

    if (options->mode->sides > 1 || !format || !format->needs_stacks ||
        !profile_is_sampled(profile))
        return false;
    for (size_t i = 0; i < profile->part_count; i++)
        ns += profile->parts[i].ns;
    return !ns;
}

/* False after a message: they are asked for, and were not counted. */
static bool has_instructions(const struct options *options, const struct profile *profiles)
{
    for (size_t side = 0; side < mode_side_count(options); side++) {
        if (options->weight != WEIGHT_INSTRUCTIONS || !profiles[side].process_count ||
            profile_has_instructions(&profiles[side]))
            continue;
        message("%s has no instructions for --weight=instructions: record with "
                "--count=instructions, or choose --weight=calls",
                profiles[side].uncounted);
        return false;
    }
    return true;
}

int mode_choose_weight(struct options *options, const struct profile *profiles,
                       const struct images *images)
{
    const struct mode *mode = options->mode;
    const char *timed = NULL, *untimed = NULL;
    bool asks_for_counts = options->has_weight && options->weight != WEIGHT_NS;

    if (!has_instructions(options, profiles))
        return FAILED;
    for (size_t side = 0; side < mode_side_count(options); side++) {
        timed = timed ? timed : profiles[side].timed;
        untimed = untimed ? untimed : profiles[side].untimed;
    }
    if (!asks_for_counts)
        warn_of_kinds(options, profiles);
    if (!options->has_weight && is_unmet(options, profiles)) {
        message("%s: no sample met it, as it computed for too short: shown by calls; "
                "--timing=exact records the time of each call",
                profiles->sampled);
        options->weight = WEIGHT_CALLS;
    }
    if (!untimed || mode->needs_peaks)
        return 0;
    if (!mode->needs_times && (asks_for_counts || (!options->has_weight && !timed))) {
        options->weight = asks_for_counts ? options->weight : WEIGHT_CALLS;
        return 0;
    }
    if (mode->needs_times)
        message("%s has no times, which --mode=%s needs: it was recorded with --timing=none; "
                "record with --timing=adaptive, or see %s",
                untimed, mode->name,
                coverage_is_noted(images) ? "which lines ran with --mode=coverage"
                                          : "its calls with --mode=summary or profile");
    else if (options->has_weight)
        message("%s has no times for --weight=ns: it was recorded with --timing=none; record with "
                "--timing=adaptive, or choose --weight=calls",
                untimed);
    else
        message("%s has no times (it was recorded with --timing=none), and %s has: expected "
                "recordings of one kind; --weight=calls shows the calls of both",
                untimed, timed);
    return FAILED;
}

bool mode_needs_events(const struct options *options)
{
    const struct format *format = options->format ? format_named(options->format) : NULL;

    if (!format || !format->write_times)
        return options->mode->counts_events;
    return format->needs_events ||
           !(options->merged || options->split || options->weight != WEIGHT_NS);
}

const struct mode modes[] = {
    {.name = "profile",
     .sides = 1,
     .failure = EXIT_FAILURE,
     .has_format = profile_has_format,
     .needs_stacks = profile_needs_stacks,
     .run = run_profile},
    {.name = "summary",
     .merges = true,
     .sides = 1,
     .failure = EXIT_FAILURE,
     .counts_events = true,
     .run = run_summary},
    {.name = "report",
     .sides = 1,
     .failure = EXIT_FAILURE,
     .needs_times = true,
     .needs_hits = true,
     .run = run_report},
    {.name = "diff",
     .merges = true,
     .sides = SIDES,
     .failure = FAILED,
     .has_format = diff_has_format,
     .needs_stacks = diff_needs_stacks,
     .run = run_diff},
    {.name = "stack",
     .merges = true,
     .sides = 1,
     .failure = EXIT_FAILURE,
     .needs_peaks = true,
     .has_format = stack_has_format,
     .run = run_stack},
    {.name = "coverage",
     .merges = true,
     .sides = 1,
     .failure = EXIT_FAILURE,
     .has_format = coverage_has_format,
     .run_alone = run_coverage},
    {.name = "top", .merges = true, .sides = 1, .failure = EXIT_FAILURE, .run_alone = run_top},
    {.name = NULL},
};

const struct mode *mode_named(const char *name)
{
    for (const struct mode *mode = modes; mode->name; mode++)
        if (!strcmp(mode->name, name))
            return mode;
    return NULL;
}
