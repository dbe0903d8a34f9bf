#include "grinder/mode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/format.h"
#include "grinder/memory.h"
#include "grinder/message.h"
#include "grinder/output.h"
#include "grinder/summary.h"

static int write_parts(const struct profile *profile, const struct images *images, const char *path,
                       size_t first, size_t count)
{
    struct output output;

    if (output_open(&output, path) < 0)
        return -1;
    formats[0].write(output.stream, profile, images, first, count);
    return output_commit(&output);
}

/* NAME-01, NAME-02 …: as many digits as the last one needs, at least two. */
static int write_split(const struct profile *profile, const struct images *images, const char *path)
{
    int digits = snprintf(NULL, 0, "%zu", profile->part_count);
    size_t size = strlen(path) + (size_t)digits + 4;
    char *name = memory_zeroed(size, 1);
    int result = 0;

    for (size_t i = 0; i < profile->part_count && !result; i++) {
        snprintf(name, size, "%s-%0*zu", path, digits < 2 ? 2 : digits, i + 1);
        result = write_parts(profile, images, name, i, 1);
    }
    free(name);
    return result;
}

static int run_profile(const struct options *options, const struct profile *profile,
                       const struct images *images)
{
    char by_default[64];
    const char *path = options->output;

    snprintf(by_default, sizeof(by_default), "callgrind.out.%" PRIu32,
             profile->processes[0].header.pid);
    if (!path)
        path = by_default;
    if (options->split)
        return write_split(profile, images, path);
    return write_parts(profile, images, path, 0, profile->part_count);
}

static int run_summary(const struct options *options, const struct profile *profile,
                       const struct images *images)
{
    struct output output;

    if (output_open(&output, options->output ? options->output : "-") < 0)
        return -1;
    summary_write(output.stream, profile, images, options->top);
    return output_commit(&output);
}

const struct mode modes[] = {
    {"profile", false, run_profile},
    {"summary", true, run_summary},
    {NULL, false, NULL},
};

const struct mode *mode_named(const char *name)
{
    for (const struct mode *mode = modes; mode->name; mode++)
        if (!strcmp(mode->name, name))
            return mode;
    return NULL;
}
