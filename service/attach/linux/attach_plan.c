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
#include "service/attach/linux/own_unwinder.h"
#include "service/base/message.h"

#define REACH (0x7fffffffull - (64u << 20)) /* of what is away, from the image's first byte */
#define FAR   (1ull << 30)                  /* from an image: its heap may grow meanwhile */
#define WHOLE UINT64_MAX                    /* libgcc: all of it is its unwinder */
#define TOP   0x7ffffffff000ull             /* where a program's addresses end */

/* Room for what is added to an image, beside twice its size. Functions of a dozen bytes, one behind
   the other, add nine times their code. There may be little room: 128 MB for all libraries, where
   addresses are not random. */
#define SPARE_OF_CODE 8
#define SPARE_LEAST   (256ull << 10)
#define SPARE_MOST    (32ull << 20)

/* An image of the process. */
struct planned {
    char *path;          /* as the process calls it */
    char file[PATH_MAX]; /* by which we open it */
    uint64_t base;
    uint64_t size;   /* from its first byte to its end */
    uint64_t linked; /* its first byte as linked */
    uint64_t code;   /* bytes of it */
    uint64_t away;   /* in the process */
    size_t seen;     /* its place among those that were seen */
    uint64_t unwinder_low,
        unwinder_high; /* where that is, as linked; high 0: other functions are planned */
    char folder[PATH_MAX], output[PATH_MAX];
};

struct plan {
    struct attached *attached;
    const struct attach_settings *settings;
    struct planned *images;     /* room for ATTACHED_IMAGES */
    struct instrumenting *work; /* for each */
    size_t count;
    bool lacks_unwinder; /* it is there, but cannot be hooked: */
    struct failure why;
};

/* The linker's own code stays as it is. */
static bool is_left_out(const char *path)
{
    const char *name = attached_base_name(path);
    size_t length = strlen(path);

    return path[0] != '/' || !strncmp(name, "ld-linux", 8) ||
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

/* By its first byte, whatever became of it. */
static bool was_seen(const struct attached *attached, uint64_t base)
{
    for (size_t i = 0; i < attached->seen_count; i++)
        if (attached->seen[i].base == base)
            return true;
    return false;
}

/* What we have mapped there ourselves. */
static bool is_ours(const struct plan *plan, const char *path)
{
    size_t length = strlen(plan->settings->folder);

    return !strcmp(path, plan->attached->agent.path) ||
           (!strncmp(path, plan->settings->folder, length) && path[length] == '/');
}

/* What it takes, and how long it takes. */
static bool measure(struct planned *image)
{
    struct bounded_file file;
    struct loaded_ranges ranges;
    struct failure ignored;
    bool is_image;

    if (!bounded_file_open(&file, image->file, &ignored))
        return false;
    is_image = loaded_ranges_read(&ranges, &file) && !ranges.is_pe;
    bounded_file_close(&file);
    if (!is_image)
        return false;
    image->size = ranges.end - ranges.base;
    image->linked = ranges.base & ~(uint64_t)(ATTACHED_PAGE - 1);
    for (size_t i = 0; i < ranges.count; i++)
        image->code += ranges.items[i].is_executable ? ranges.items[i].size : 0;
    loaded_ranges_free(&ranges);
    return true;
}

static bool make_folder(const char *path, struct failure *failure)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ||
           fail(failure, path, "cannot make it: %s", strerror(errno));
}

static uint64_t room_of(const struct planned *image)
{
    uint64_t spare = SPARE_LEAST + SPARE_OF_CODE * image->code;

    return 2 * image->size + (spare < SPARE_MOST ? spare : SPARE_MOST);
}

static bool reserve(struct planned *image, struct address_space *space, struct failure *failure)
{
    uint64_t end = image->base + image->size, room = room_of(image);
    uint64_t farthest = image->base + REACH < TOP ? image->base + REACH : TOP;

    image->away = address_space_gap(space, end + FAR, farthest, room);
    if (!image->away)
        image->away = address_space_gap(space, end, farthest, room);
    if (!image->away)
        return fail_because(failure, "no room for stubs within 2 GB of it");
    return address_space_take(space, image->away, image->away + room) ||
           fail_because(failure, "out of memory");
}

/* Its instrumented file is to be FOLDER/NUMBER/NAME. */
static bool place(struct planned *image, const char *folder, size_t number, struct failure *failure)
{
    if (snprintf(image->folder, PATH_MAX, "%s/%zu", folder, number) >= PATH_MAX ||
        snprintf(image->output, PATH_MAX, "%s/%s", image->folder,
                 attached_base_name(image->path)) >= PATH_MAX)
        return fail_because(failure, "the path of its traces is too long");
    return make_folder(image->folder, failure);
}

static void leave_alone(struct plan *plan, const struct planned *image, const struct failure *why)
{
    if (image->unwinder_high) {
        plan->lacks_unwinder = true;
        plan->why = *why;
    } else if (!plan->settings->is_quiet) {
        message("%s: left alone: %s", image->path, why->text);
    }
}

/* It has its path and its file. */
static void plan_image(struct plan *plan, uint64_t base, uint64_t inode,
                       struct address_space *space)
{
    struct attached *attached = plan->attached;
    struct planned *image = &plan->images[plan->count];
    struct failure why;

    image->base = base;
    image->seen = attached->seen_count;
    attached->seen[attached->seen_count++] = (struct seen_image){base, inode, ATTACHED_IMAGES};
    if (!measure(image))
        fail_because(&why, "cannot be read as an ELF file");
    else if (reserve(image, space, &why) &&
             place(image, plan->settings->folder, image->seen, &why)) {
        plan->work[plan->count++] = (struct instrumenting){
            .original = image->file,
            .name = attached->files.are_ours ? NULL : image->path,
            .output = image->output,
            .away = image->away - base + image->linked,
            .is_unwinder = image->unwinder_high,
            .work = image->code,
        };
        return;
    }
    leave_alone(plan, image, &why);
    free(image->path);
}

/* The next one that is planned. Null: there is no room. */
static struct planned *next_image(const struct plan *plan, const char *path, const char *file)
{
    struct planned *image = &plan->images[plan->count];

    if (plan->attached->seen_count == ATTACHED_IMAGES)
        return NULL;
    *image = (struct planned){.path = strdup(path)};
    strcpy(image->file, file);
    return image->path ? image : NULL;
}

/* Of libgcc the unwinder alone; what was linked with it is planned once more, for that. Places that
   are taken move the ranges. */
static void plan_file(struct plan *plan, const char *path, const char *file, uint64_t base,
                      uint64_t inode, struct address_space *space)
{
    bool is_libgcc = attached_is_unwinder(attached_base_name(path));
    uint64_t low = 0, high = 0;
    struct planned *image;

    if (!is_libgcc && next_image(plan, path, file))
        plan_image(plan, base, inode, space);
    if (!is_libgcc && !own_unwinder_find(file, &low, &high))
        return;
    image = next_image(plan, path, file);
    if (!image)
        return;
    image->unwinder_low = low;
    image->unwinder_high = is_libgcc ? WHOLE : high;
    plan_image(plan, base, inode, space);
}

/* Of each image of the process that was not seen before, its place. */
static void plan_images(struct plan *plan, struct address_space *space)
{
    for (size_t i = 0; i < space->count; i++) {
        const struct address_range *range = &space->ranges[i];
        const struct program_files *files = &plan->attached->files;
        char file[PATH_MAX], *path;
        uint64_t base = range->is_executable && !range->is_shared && !is_left_out(range->path) &&
                                !is_ours(plan, range->path)
                            ? base_of(space, i)
                            : 0;

        if (!base || was_seen(plan->attached, base) || !program_files_reach(files, range, file))
            continue;
        path = strdup(program_files_name(files, range->path));
        if (path)
            plan_file(plan, path, file, base, range->inode, space);
        free(path);
    }
}

/* What was added may be more than was thought. */
static bool fits(const struct planned *planned, const struct hooked_image *image,
                 struct failure *failure)
{
    const struct added_range *last = &image->added[image->added_count - 1];

    return last->address + last->size - planned->away <= room_of(planned) ||
           fail_because(failure, "its stubs need more room than %llu KB",
                        (unsigned long long)room_of(planned) >> 10);
}

static bool read_image(const struct planned *planned, struct hooked_image *image,
                       struct failure *failure)
{
    if (!hooked_image_read(image, planned->output, planned->base, planned->away, failure))
        return false;
    if (planned->unwinder_high) {
        image->is_unwinder = true;
        image->functions = 0; /* none is recorded */
        image->unwinder_low = planned->base + planned->unwinder_low - planned->linked;
        image->unwinder_high = planned->base + (planned->unwinder_high == WHOLE
                                                    ? planned->size
                                                    : planned->unwinder_high - planned->linked);
    }
    if (fits(planned, image, failure))
        return true;
    hooked_image_free(image);
    return false;
}

/* What could be instrumented becomes the images to be hooked. */
static void read_images(struct plan *plan, struct attached *attached)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct planned *planned = &plan->images[i];
        struct instrumenting *work = &plan->work[i];

        if (work->is_done &&
            read_image(planned, &attached->images[attached->image_count], &work->failure)) {
            attached->seen[planned->seen].image = attached->image_count++;
            continue;
        }
        rmdir(planned->folder);
        leave_alone(plan, planned, &work->failure);
    }
}

static bool plan_begin(struct plan *plan, struct failure *failure)
{
    struct attached *attached = plan->attached;

    plan->images = calloc(ATTACHED_IMAGES, sizeof(*plan->images));
    plan->work = calloc(ATTACHED_IMAGES, sizeof(*plan->work));
    if (!attached->images)
        attached->images = calloc(ATTACHED_IMAGES, sizeof(*attached->images));
    if (!attached->seen)
        attached->seen = calloc(ATTACHED_IMAGES, sizeof(*attached->seen));
    return (plan->images && plan->work && attached->images && attached->seen) ||
           fail_because(failure, "out of memory");
}

static void plan_free(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->images[i].path);
    free(plan->images);
    free(plan->work);
}

/* False: out of memory, or an unwinder cannot be hooked. */
static bool plan_new_images(struct attached *attached, const struct attach_settings *settings,
                            struct address_space *space, struct failure *failure)
{
    struct plan plan = {.attached = attached, .settings = settings};
    bool is_begun = plan_begin(&plan, failure);

    if (is_begun) {
        plan_images(&plan, space);
        instrumenting_run(plan.work, plan.count, attached->agent.path, settings->filters);
        read_images(&plan, attached);
    }
    if (is_begun && plan.lacks_unwinder)
        is_begun = fail_because(
            failure,
            "has an unwinder that hooks cannot be told to: %s; instrument the program before it starts",
            plan.why.text);
    plan_free(&plan);
    return is_begun;
}

bool attach_plan(struct attached *attached, const struct attach_settings *settings,
                 struct failure *failure)
{
    struct address_space space;
    bool is_planned;

    if (!make_folder(settings->folder, failure) ||
        !address_space_read(&space, attached->pid, failure))
        return false;
    is_planned = attach_check_mapped(&space, failure) &&
                 plan_new_images(attached, settings, &space, failure);
    address_space_free(&space);
    return is_planned && (attached->image_count ||
                          fail_because(failure, "expected functions to hook, found none"));
}

/* Its hooks have gone with it; what was added for it stays, as calls may be under way. */
static void forget_closed(struct attached *attached, const struct address_space *space)
{
    for (size_t i = 0; i < attached->seen_count; i++) {
        struct seen_image *seen = &attached->seen[i];
        const struct address_range *range = seen->base ? address_space_at(space, seen->base) : NULL;

        if (!seen->base || (range && range->inode == seen->inode))
            continue;
        seen->base = 0;
        if (seen->image < ATTACHED_IMAGES)
            hooked_image_close(&attached->images[seen->image]);
    }
}

bool attach_plan_later(struct attached *attached, const struct attach_settings *settings,
                       struct failure *failure)
{
    struct address_space space;
    bool is_planned;

    if (!address_space_read(&space, attached->pid, failure))
        return false;
    forget_closed(attached, &space);
    is_planned = plan_new_images(attached, settings, &space, failure);
    address_space_free(&space);
    return is_planned;
}
