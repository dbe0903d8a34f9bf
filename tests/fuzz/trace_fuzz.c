/* The trace reader, and the grinder's trees, profiles, chains of calls and figures made of what it
 * hands over. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/coverage/coverage.h"
#include "grinder/profile/copied_spots.h"
#include "grinder/profile/profile.h"
#include "grinder/profile/tree_load.h"
#include "tests/fuzz/harness.h"

/* In place of the grinder's own: images that the trace names and that are not there. */
void message(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!*text)
        check_refusal(text);
}

void message_mute(bool on)
{
    (void)on;
}

/* A chain's bytes add up to the peak, whatever it is made of. */
static void check_peaks(const struct process *process)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct peak *peak = &process->peaks[i];
        uint64_t sum = 0;

        for (size_t j = 0; j < peak->row_count; j++)
            sum += peak->rows[j].bytes;
        if (sum != (peak->row_count ? peak->bytes : 0))
            abort();
    }
}

static void check_coverage(const char *path)
{
    static const char *const none[] = {NULL};
    struct failure failure = {{0}};
    struct coverage coverage;

    coverage_begin(&coverage);
    if (!coverage_add(&coverage, path, &failure))
        check_refusal(failure.text);
    coverage_resolve(&coverage, none);
    coverage_free(&coverage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memory_file(data, size);
    struct profile profile = {.keeps_hits = true};
    struct failure failure = {{0}};
    struct chains chains = {0};
    struct images images;
    struct trace_file trace;
    struct tree tree;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    images_begin(&images);
    if (!trace_file_open(&trace, path, &failure)) {
        check_refusal(failure.text);
        goto end;
    }
    if (!chains_read(&chains, &trace, &failure) || !tree_load(&tree, &trace, &images, &failure)) {
        check_refusal(failure.text);
    } else {
        copied_spots_resolve(&tree, &images);
        profile_add(&profile, &tree, &images);
        profile_keep_peaks(&profile, &chains, &tree, &images);
        check_peaks(&profile.processes[0]);
        tree_free(&tree);
    }
    trace_file_close(&trace);
    check_coverage(path);
end:
    chains_free(&chains);
    profile_free(&profile);
    images_free(&images);
    close(file);
    return 0;
}
