/*
 * The grinder: traces in, a profile, a summary or what changed out.
 *
 *      trace files ─ tree_load ─> calling-context tree ─ profile_add ─> figures by function, edge
 *                                                                                │
 *      instrumented files, debug files ───────────────── symbolize ──────────────┤
 *                                                                                v
 *                                                              mode, format ─> output file
 *
 * A trace that cannot be read is named and left out. A trace that is cut off gives what is there.
 * Both, contexts whose callers are missing, and a thread whose figures do not balance make the
 * exit status 1 (of a diff, 2), after the output was written.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "grinder/base/message.h"
#include "grinder/command_line.h"
#include "grinder/coverage/coverage_tree.h"
#include "grinder/mode.h"
#include "grinder/profile/baseline.h"
#include "grinder/profile/borrowed_times.h"
#include "grinder/profile/copied_spots.h"
#include "grinder/profile/images.h"
#include "grinder/profile/own_name.h"
#include "grinder/profile/process_list.h"
#include "grinder/profile/profile.h"
#include "grinder/profile/symbolize.h"
#include "grinder/profile/traces.h"
#include "grinder/profile/tree_load.h"
#include "support/memory.h"
#include "support/progress.h"

/* Says what is wrong with a process's trace. 0 if nothing is. */
static int check_process(const struct process *process)
{
    int result = 0;

    if (process->missing_bytes) {
        message("%s: cut off: expected %" PRIu64 " bytes more at its end; showing what is there",
                process->trace_path, process->missing_bytes);
        result = -1;
    }
    if (process->lost_contexts) {
        message("%s: %" PRIu64 " contexts left out: expected their callers, found none",
                process->trace_path, process->lost_contexts);
        result = -1;
    }
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct thread_facts *facts = &process->threads[i];
        if (facts->balanced)
            continue;
        message("%s: thread %" PRIu32 ": expected entries = exits + unwound + live, found "
                "%" PRIu64 " = %" PRIu64 " + %" PRIu64 " + %" PRIu64,
                process->trace_path, facts->record.ordinal, facts->entries, facts->exits,
                facts->record.unwound, facts->live);
        result = -1;
    }
    return result;
}

/* The tree of a selected process; 1 if the trace is of another one, -1 after a message. Progress is
   said here: reading takes most of the time. chains: of its stacks, if they are wanted. */
static int load_selected(struct tree *tree, const char *path, struct selection *selection,
                         struct images *images, struct chains *chains)
{
    struct failure failure;
    struct trace_file file;
    int result = -1;

    if (!trace_file_open(&file, path, &failure)) {
        message_failure(&failure);
        return -1;
    }
    if (!selection_match_process(selection, &file.header))
        result = 1;
    else if ((!chains || chains_read(chains, &file, &failure)) &&
             tree_load(tree, &file, images, &failure)) {
        coverage_fill_tree(tree, images);
        result = 0;
    } else
        message_failure(&failure);
    trace_file_close(&file);
    return result;
}

/* 0, or -1 after a message. */
static int add_baseline(const char *path, struct profile *profile, struct images *images)
{
    const struct selection *selection = profile->selection;
    struct failure failure;

    if (!profile->takes_baselines) {
        message("%s: expected a trace, found a baseline, which --mode=diff compares with one",
                path);
        return -1;
    }
    if (selection->processes.count || selection->threads.count || selection->functions.count) {
        message("%s: expected no --process, --thread or --function, as a baseline has neither "
                "processes nor calls",
                path);
        return -1;
    }
    if (baseline_read(profile, path, images, &failure))
        return 0;
    message_failure(&failure);
    return -1;
}

/* 0 if it was read and found sound, or is not selected. */
static int add_trace(const char *trace, struct profile *profile, struct images *images)
{
    struct chains chains = {0};
    struct tree tree;
    int result;

    if (baseline_is(trace))
        return add_baseline(trace, profile, images);
    result = load_selected(&tree, trace, profile->selection, images,
                           profile->keeps_peaks ? &chains : NULL);

    if (result == 0) {
        if (profile->keeps_hits)
            copied_spots_resolve(&tree, images);
        profile_add(profile, &tree, images);
        if (profile->keeps_peaks)
            profile_keep_peaks(profile, &chains, &tree, images);
        tree_free(&tree);
        result = check_process(&profile->processes[profile->process_count - 1]);
    }
    chains_free(&chains);
    return result < 0 ? -1 : 0;
}

/* 0 if every trace was read and found sound. */
static int add_traces(char *const *traces, struct profile *profile, struct images *images)
{
    size_t count = traces_count(traces);
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        progress_show(i + 1, count, traces[i]);
        if (add_trace(traces[i], profile, images) < 0)
            result = -1;
    }
    progress_clear();
    return result;
}

/* What a trace's contexts cost depends on the functions that are chosen, these on their names, and
   the names on which functions the traces have: so with --function they are read twice. What is
   wrong with them is said the second time. */
static void choose_functions(char **const sides[], size_t count, struct images *images,
                             const struct options *options, struct selection *selection)
{
    struct profile none = {0};

    message_mute(true);
    for (size_t side = 0; side < count; side++) {
        for (char *const *trace = sides[side]; *trace; trace++) {
            struct tree tree;
            if (load_selected(&tree, *trace, selection, images, NULL) == 0)
                tree_free(&tree);
        }
    }
    symbolize(images, &none, (const char *const *)options->debug_dirs);
    message_mute(false);
    selection_choose_functions(selection, images);
    symbolize_forget(images);
}

static void begin_images(struct images *images, const struct options *options)
{
    images_begin(images);
    images->path_maps = (const char *const *)options->path_maps;
    images->jit_maps = (const char *const *)options->jit_maps;
}

/* What all processes took, and the choice of one. Their trees are read once more for that; what is
   wrong with them is said now. Returns -1 if something is. */
static int choose_largest(char *const *traces, struct options *options, char pid[16])
{
    size_t count = traces_count(traces);
    struct images images; /* of all: what is shown has those of one process */
    int result = 0;

    begin_images(&images, options);

    for (size_t i = 0; i < count; i++) {
        struct profile one = {.merged = true, .selection = &options->selection};
        progress_show(i + 1, count, traces[i]);
        if (add_trace(traces[i], &one, &images) < 0)
            result = -1;
        if (one.process_count)
            process_list_add(options->processes, &one.processes[0]);
        profile_free(&one);
    }
    progress_clear();
    images_free(&images);
    if (options->processes->count < 2)
        return result;
    options->shown = process_list_largest(options->processes);
    snprintf(pid, 16, "%" PRIu32, options->shown);
    patterns_add(&options->selection.processes, pid);
    return result;
}

static void list_processes(const struct options *options, const struct profile *profile)
{
    for (size_t i = 0; i < profile->process_count && !options->shown; i++)
        process_list_add(options->processes, &profile->processes[i]);
}

/* Where processes are chosen, the times are those of processes of the same programs. */
static void choose_programs(struct selection *selection, const struct options *options,
                            const struct profile *profile, char (*names)[OWN_NAME_SIZE])
{
    for (size_t i = 0; options->selection.processes.count && i < profile->process_count; i++) {
        own_name(names[i], &profile->processes[i].header);
        patterns_add(&selection->processes, names[i]);
    }
}

/* 0, or -1 after a message. */
static int borrow_times(const struct options *options, struct profile *profile,
                        struct images *images)
{
    const char *one[] = {options->times_from, NULL};
    char(*names)[OWN_NAME_SIZE] = memory_zeroed(profile->process_count + 1, sizeof(*names));
    struct selection selection = {0};
    struct profile times = {.merged = true, .selection = &selection};
    int result = 0;
    char **traces = traces_of(one, &result);

    choose_programs(&selection, options, profile, names);
    images->joins = true;
    if (add_traces(traces, &times, images) < 0)
        result = -1;
    if (!times.process_count || !profile_is_stacked(&times)) {
        message(
            "%s: expected whole stacks of %s, as umbra record --how=samples makes them, found %s",
            options->times_from, options->selection.processes.count ? names[0] : "the same program",
            times.process_count ? "another recording" : "none");
        result = -1;
    } else {
        times_borrow(profile, &times, options->times_from);
    }
    profile_free(&times);
    selection_free(&selection);
    traces_free(traces);
    free(names);
    return result;
}

/* Names everything and shows it. Returns the exit status. */
static int show(const struct options *options, const struct profile *profiles,
                struct images *images)
{
    const struct mode *mode = options->mode;

    for (size_t side = 0; side < mode_side_count(options); side++)
        if (!profiles[side].process_count)
            return mode->failure;
    symbolize(images, &profiles[0], (const char *const *)options->debug_dirs);
    return mode->run(options, profiles, images);
}

/* Left alone, glibc raises its threshold to the largest array that was freed, and the trees of one
   trace after the other spread over a heap that names and figures hold together: 200 traces of
   8 MB took 211 MB, and take 13. */
static void give_large_arrays_back(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

int main(int argc, char **argv)
{
    struct profile profiles[MODE_SIDES] = {{0}};
    char **sides[MODE_SIDES] = {NULL};
    struct options options;
    struct process_list processes = {0};
    struct images images;
    char pid[16];
    size_t count;
    int result = 0, status;

    give_large_arrays_back();
    message_name(argv[0]);
    options_read(&options, argc, argv);
    if (options.quiet)
        progress_disable();
    if (options.mode->run_alone) {
        status = options.mode->run_alone(&options);
        options_free(&options);
        return status;
    }
    begin_images(&images, &options);
    count = mode_side_count(&options);
    for (size_t side = 0; side < count; side++) {
        const char *one[] = {side < options.mode->sides ? options.traces[side] : options.again,
                             NULL};
        sides[side] = traces_of(count == 1 ? (const char *const *)options.traces : one, &result);
    }
    options.processes = &processes;
    if (options.largest && count == 1 && !options.selection.processes.count) {
        result |= choose_largest(sides[0], &options, pid);
        if (!options.shown)
            process_list_free(&processes);
    }
    if (options.selection.functions.count)
        choose_functions(sides, count, &images, &options, &options.selection);
    for (size_t side = 0; side < count; side++) {
        profiles[side].merged = options.merged || options.mode->merges || options.times_from;
        profiles[side].keeps_stacks =
            options.mode->needs_stacks && options.mode->needs_stacks(&options);
        profiles[side].keeps_hits = options.mode->needs_hits;
        profiles[side].keeps_nodes = mode_needs_events(&options);
        profiles[side].keeps_peaks = options.mode->needs_peaks;
        profiles[side].takes_baselines = count > 1;
        profiles[side].selection = &options.selection;
        if (add_traces(sides[side], &profiles[side], &images) < 0)
            result = -1;
    }
    if (options.times_from && profiles[0].process_count &&
        borrow_times(&options, &profiles[0], &images) < 0)
        result = -1;
    if (selection_check(&options.selection) < 0)
        result = -1;
    list_processes(&options, &profiles[0]);
    status = mode_choose_weight(&options, profiles, &images);
    if (!status)
        status = show(&options, profiles, &images);
    if (result < 0)
        status = options.mode->failure;
    for (size_t side = 0; side < count; side++) {
        profile_free(&profiles[side]);
        traces_free(sides[side]);
    }
    process_list_free(&processes);
    images_free(&images);
    options_free(&options);
    return status;
}
