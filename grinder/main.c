/*
 * The grinder: traces in, a profile or a summary out.
 *
 *      trace files ─ tree_load ─> calling-context tree ─ profile_add ─> figures by function, edge
 *                                                                                │
 *      instrumented files, debug files ───────────────── symbolize ──────────────┤
 *                                                                                v
 *                                                              mode, format ─> output file
 *
 * A trace that cannot be read is named and left out. A trace that is cut off gives what is there.
 * Both, contexts whose callers are missing, and a thread whose figures do not balance make the
 * exit status 1, after the output was written.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "grinder/images.h"
#include "grinder/message.h"
#include "grinder/mode.h"
#include "grinder/options.h"
#include "grinder/profile.h"
#include "grinder/symbolize.h"
#include "grinder/tree.h"

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

/* 0 if every trace was read and found sound. */
static int add_traces(char *const *traces, struct profile *profile, struct images *images)
{
    int result = 0;

    for (; *traces; traces++) {
        struct trace_error error;
        struct tree tree;
        if (tree_load(&tree, *traces, images, &error) < 0) {
            message("%s", error.text);
            result = -1;
            continue;
        }
        profile_add(profile, &tree, images);
        tree_free(&tree);
        if (check_process(&profile->processes[profile->process_count - 1]) < 0)
            result = -1;
    }
    return result;
}

int main(int argc, const char **argv)
{
    struct options options;
    struct images images;
    struct profile profile = {0};
    int result;

    options_read(&options, argc, argv);
    images_begin(&images);
    images.path_maps = (const char *const *)options.path_maps;
    profile.merged = options.merged || options.mode->merges;
    result = add_traces(options.traces, &profile, &images);
    if (profile.process_count) {
        symbolize(&images, &profile, (const char *const *)options.debug_dirs);
        if (options.mode->run(&options, &profile, &images) < 0)
            result = -1;
    }
    profile_free(&profile);
    images_free(&images);
    options_free(&options);
    return result < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
