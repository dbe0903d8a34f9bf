#include "service/attach/linux/attach_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/loaded_ranges.h"
#include "service/attach/linux/address_space.h"
#include "service/attach/linux/attach_check.h"
#include "service/attach/linux/instrumenting.h"
#include "service/base/message.h"

#define REACH (0x7fffffffull - (64u << 20)) /* of what is away, from the image's first byte */
#define FAR   (1ull << 30)                  /* from an image: its heap may grow meanwhile */
#define SPARE (32ull << 20) /* room for what is added to an image, beside twice its size */

/* The linker's own code, and what unwinding needs, stay as they are. */
static bool is_left_out(const char *path)
{
    const char *name = attached_base_name(path);
    size_t length = strlen(path);

    return path[0] != '/' || !strncmp(name, "ld-linux", 8) || attached_is_unwinder(name) ||
           (length > 10 && !strcmp(path + length - 10, " (deleted)"));
}

/* Where an image has its first byte; 0: it is none. */
static uint64_t base_of(const struct address_space *space, size_t executable)
{
    const struct address_range *code = &space->ranges[executable];

    for (size_t i = executable + 1; i-- > 0;) {
        const struct address_range *range = &space->ranges[i];

        if (range->inode == code->inode && !strcmp(range->path, code->path) && range->offset == 0)
            return range->start;
    }
    return 0;
}

static bool is_that_file(const struct address_range *range)
{
    struct stat status;

    return stat(range->path, &status) == 0 && status.st_ino == range->inode;
}

static bool has_image(const struct attached *attached, uint64_t base)
{
    for (size_t i = 0; i < attached->image_count; i++)
        if (attached->images[i].base == base)
            return true;
    return false;
}

/* From the image's first byte to its end, and its first byte as linked. */
static bool measure(const char *path, uint64_t *size, uint64_t *linked)
{
    struct bounded_file file;
    struct loaded_ranges ranges;
    struct failure ignored;
    bool is_image;

    if (!bounded_file_open(&file, path, &ignored))
        return false;
    is_image = loaded_ranges_read(&ranges, &file) && !ranges.is_pe;
    bounded_file_close(&file);
    if (!is_image)
        return false;
    *size = ranges.end - ranges.base;
    *linked = ranges.base & ~(uint64_t)(ATTACHED_PAGE - 1);
    loaded_ranges_free(&ranges);
    return true;
}

static bool make_folder(const char *path, struct failure *failure)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ||
           fail(failure, path, "cannot make it: %s", strerror(errno));
}

/* Makes the instrumented file FOLDER/NUMBER/NAME, and reads it. */
static bool plan_image(struct attached *attached, const struct attach_settings *settings,
                       const char *path, uint64_t base, struct address_space *space,
                       struct failure *failure)
{
    struct hooked_image *image = &attached->images[attached->image_count];
    char folder[PATH_MAX], output[PATH_MAX];
    uint64_t size, linked, away;

    if (!measure(path, &size, &linked))
        return fail_because(failure, "cannot be read as an ELF file");
    away = address_space_gap(space, base + size + FAR, base + REACH, 2 * size + SPARE);
    if (!away)
        away = address_space_gap(space, base + size, base + REACH, 2 * size + SPARE);
    if (!away)
        return fail_because(failure, "no room for stubs within 2 GB of it");
    if (snprintf(folder, sizeof(folder), "%s/%zu", settings->folder, attached->image_count) >=
            PATH_MAX ||
        snprintf(output, sizeof(output), "%s/%s", folder, attached_base_name(path)) >= PATH_MAX)
        return fail_because(failure, "the path of its traces is too long");
    if (!make_folder(folder, failure))
        return false;
    if (!instrumenting_run(&(struct instrumenting){.original = path,
                                                   .output = output,
                                                   .agent = attached->agent.path,
                                                   .away = away - base + linked,
                                                   .filters = settings->filters},
                           failure) ||
        !hooked_image_read(image, output, base, away, failure)) {
        rmdir(folder);
        return false;
    }
    attached->image_count++;
    return address_space_take(space, away, away + 2 * size + SPARE) ||
           fail_because(failure, "out of memory");
}

bool attach_plan(struct attached *attached, const struct attach_settings *settings,
                 struct failure *failure)
{
    struct address_space space;
    size_t count;

    if (!make_folder(settings->folder, failure) ||
        !address_space_read(&space, attached->pid, failure))
        return false;
    attached->images = calloc(ATTACHED_IMAGES, sizeof(*attached->images));
    if (!attached->images || !attach_check_mapped(&space, failure)) {
        address_space_free(&space);
        return attached->images ? false : fail_because(failure, "out of memory");
    }
    count = space.count;
    for (size_t i = 0; i < count && attached->image_count < ATTACHED_IMAGES; i++) {
        const struct address_range *range = &space.ranges[i];
        uint64_t base = range->is_executable && !range->is_shared && !is_left_out(range->path) &&
                                is_that_file(range)
                            ? base_of(&space, i)
                            : 0;
        char *path;

        if (!base || has_image(attached, base))
            continue;
        path = strdup(range->path);
        if (path && !plan_image(attached, settings, path, base, &space, failure) &&
            !settings->is_quiet)
            message("%s: left alone: %s", path, failure->text);
        free(path);
        count = space.count;
    }
    address_space_free(&space);
    return attached->image_count || fail_because(failure, "expected functions to hook, found none");
}
