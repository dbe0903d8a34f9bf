/*
 * In:
 *
 *      program runs      from its files, `instrument` plans the hooks of each image: what was added
 *                        gets a free place within reach of the image (--away)
 *      a thread stands   and maps the agent, and what was added, by system calls
 *      all stand         the hooks are written; threads that were amid the bytes go on in the
 *                        stubs, and all threads' gs leads to nobody's words
 *                        (trace/attached_agent.h)
 *      program runs      the hook words are set, libgcc's first, and calls are recorded
 *
 * libgcc has one hook, by which exceptions find their way through thunks
 * (hooks/linux/own_frames.h).
 *
 * Out: all stand, the bytes are what they were, and calls that are under way get their return
 * addresses back. Once nobody is in our code any more, libgcc's hook goes, our memory is unmapped,
 * and gs is 0 again (attach_leave.c).
 *
 * A thread is amid the bytes where its instruction pointer is, or one that a signal frame on its
 * stack has: these are known by the segments that the kernel keeps behind the pointer, and by the
 * code that they return to. Any other word that looks so may be a number, or a pointer to where
 * control will be. That function is not hooked.
 */
#include "service/attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/attach/linux/address_space.h"
#include "service/attach/linux/attach_check.h"
#include "service/attach/linux/attach_filters.h"
#include "service/attach/linux/attach_hooks.h"
#include "service/attach/linux/attach_map.h"
#include "service/attach/linux/attach_plan.h"
#include "service/attach/linux/attach_samples.h"
#include "service/attach/linux/attached.h"
#include "service/attach/linux/tracees.h"
#include "service/base/message.h"

#define FEW_STOPS   5  /* while the service has others to serve */
#define MOST_STOPS  40 /* tries to find all threads where they can be stopped: 5 s */
#define TRIES_ALIKE 8
#define MOST_TURNS  20 /* for functions that threads are amid of */
#define PAUSE_NS    20000000

const char *attached_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool attached_is_unwinder(const char *name)
{
    return !strncmp(name, "libgcc_s.so", 11);
}

bool attached_put(const struct attached *attached, uint64_t address, const void *bytes, size_t size)
{
    return pwrite(attached->memory, bytes, size, (off_t)address) == (ssize_t)size;
}

typedef bool act_fn(struct attached *attached, struct tracees *tracees, struct failure *failure);

/* 20 ms at first, then 40, 80, 160, 320: one of a thousand threads may have its turn seldom. */
static void pause_after(int tries)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS << (tries - 1) / TRIES_ALIKE}, NULL);
}

/* Tries until all threads can be stopped, and may be. */
static bool while_standing(struct attached *attached, act_fn *act, int tries,
                           struct failure *failure)
{
    struct tracees tracees;
    bool is_done = false;

    for (int i = 0; i < tries && !is_done; i++) {
        if (i)
            pause_after(i);
        if (!tracees_stop(&tracees, attached->pid, failure))
            continue;
        is_done = act(attached, &tracees, failure);
        tracees_release(&tracees);
        if (tracees.stood_ms > attached->stopped_ms)
            attached->stopped_ms = tracees.stood_ms;
    }
    return is_done;
}

/* Of libgcc, or of all others. */
static bool set_hook_words_of(const struct attached *attached, size_t first, bool is_unwinder)
{
    const struct attached_agent *agent = &attached->agent;
    uint64_t entry = agent->base + (is_unwinder ? agent->finder : agent->entry);

    for (size_t i = first; i < attached->image_count; i++) {
        const struct hooked_image *image = &attached->images[i];

        if (image->hook_count && image->is_unwinder == is_unwinder &&
            !attached_put(attached, image->hook_word, &entry, sizeof(entry)))
            return false;
    }
    return true;
}

static bool set_hook_words(const struct attached *attached, size_t first, struct failure *failure)
{
    return (set_hook_words_of(attached, first, true) &&
            set_hook_words_of(attached, first, false)) ||
           fail_because(failure, "cannot be written to: %s", strerror(errno));
}

static bool open_memory(struct attached *attached, struct failure *failure)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)attached->pid);
    attached->memory = open(path, O_RDWR | O_CLOEXEC);
    if (attached->memory < 0 && errno == ENOENT)
        return fail_because(failure, "has ended before it could be hooked");
    return attached->memory >= 0 ||
           fail_because(failure, "cannot be written to: %s", strerror(errno));
}

static bool put_hooks_in(struct attached *attached, struct tracees *tracees,
                         struct failure *failure)
{
    return attach_filters_allow(attached, tracees, failure) &&
           attach_hooks_in(attached, tracees, failure);
}

/* The program may have added filters since they were looked at. What tells of a thousand threads
   takes 30 ms, so that is asked while they run. */
static bool bring_hooks_in(struct attached *attached, struct failure *failure)
{
    return attach_filters_are_readable(attached->pid, &attached->has_filters, failure) &&
           while_standing(attached, put_hooks_in, MOST_STOPS, failure);
}

/* Threads do not stay where they are. */
static void hook_what_waits(struct attached *attached, struct attach_counts *counts)
{
    struct failure ignored;

    attach_hooks_count(attached, &counts->waiting, &counts->changed);
    for (int i = 0; i < MOST_TURNS && counts->waiting; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        while_standing(attached, attach_hooks_in, FEW_STOPS, &ignored);
        attach_hooks_count(attached, &counts->waiting, &counts->changed);
    }
}

/* Reaped or not. */
static bool has_ended(const struct attached *attached)
{
    struct failure ignored;
    struct address_space space;

    if (!address_space_read(&space, attached->pid, &ignored))
        return true;
    address_space_free(&space);
    return false;
}

static void count_images(const struct attached *attached, size_t first,
                         struct attach_counts *counts)
{
    for (size_t i = first; i < attached->image_count; i++) {
        counts->images += !attached->images[i].is_unwinder;
        counts->functions += attached->images[i].functions;
    }
}

bool attach_later(struct attached *attached, const struct attach_settings *settings,
                  struct attach_counts *counts, struct failure *failure)
{
    size_t first = attached->image_count;

    *counts = (struct attach_counts){0};
    if (!attach_plan_later(attached, settings, failure) ||
        (attached->image_count > first && !attach_map_later(attached, settings, first, failure)) ||
        !attach_hooks_prepare(attached, first, failure))
        return false;
    if (attached->image_count == first)
        return true;
    attached->stopped_ms = 0;
    if (!bring_hooks_in(attached, failure) || !set_hook_words(attached, first, failure))
        return false;
    counts->stopped_ms = attached->stopped_ms;
    count_images(attached, first, counts);
    return true;
}

/* Once: each stop interrupts what the program does. */
static bool see_filters(struct attached *attached, struct tracees *tracees, struct failure *failure)
{
    attached->is_confined = !attach_filters_allow(attached, tracees, failure);
    return true;
}

/* Before anything else is done. */
static bool may_make_calls(struct attached *attached, struct failure *failure)
{
    if (!attach_filters_are_readable(attached->pid, &attached->has_filters, failure))
        return false;
    return !attached->has_filters ||
           (while_standing(attached, see_filters, MOST_STOPS, failure) && !attached->is_confined);
}

static bool want(struct hook *hook, enum hook_owner owner, bool is_wanted)
{
    if (!hook)
        return false;
    hook->unwanted = (uint8_t)(is_wanted ? hook->unwanted & ~owner : hook->unwanted | owner);
    return true;
}

bool attach_want(struct attached *attached, uint64_t base, uint32_t place, bool is_wanted)
{
    struct hook *hook = NULL;

    for (size_t i = 0; i < attached->image_count && !hook; i++)
        if (attached->images[i].base == base && !attached->images[i].is_unwinder)
            hook = hooked_image_hook_of(&attached->images[i], place);
    return want(hook, HOOK_OF_OVERHEAD, is_wanted);
}

bool attach_want_at(struct attached *attached, uint64_t function, bool is_wanted,
                    struct attached_function *found)
{
    for (size_t i = 0; i < attached->image_count; i++) {
        const struct hooked_image *image = &attached->images[i];
        struct hook *hook = image->is_unwinder ? NULL : hooked_image_hook_at(image, function);

        if (!hook)
            continue;
        *found = (struct attached_function){image->base, hook->place};
        return want(hook, HOOK_OF_USER, is_wanted);
    }
    return false;
}

bool attach_apply(struct attached *attached, struct failure *failure)
{
    return while_standing(attached, attach_hooks_change, FEW_STOPS, failure);
}

static bool unmap(const struct attached *attached, struct failure *failure)
{
    bool is_unmapped = attach_unmap(attached, failure);

    for (int i = 1; i < MOST_STOPS && !is_unmapped; i++) {
        pause_after(i);
        is_unmapped = attach_unmap(attached, failure);
    }
    return is_unmapped;
}

/* Each thread has a timer, for each of which one makes a call: the others run meanwhile. */
static void end_samples(const struct attached *attached)
{
    struct tracees tracees;
    struct failure ignored;

    if (!attached->is_sampled || !tracees_stop_one(&tracees, attached->pid, &ignored))
        return;
    attach_samples_end(attached, &tracees, &ignored);
    tracees_release(&tracees);
}

enum attach_ended attach_end(struct attached *attached, struct failure *failure)
{
    end_samples(attached);
    if (while_standing(attached, attach_hooks_out, MOST_STOPS, failure) && unmap(attached, failure))
        return ATTACH_GONE;
    if (has_ended(attached))
        return ATTACH_GONE;
    return attached->is_hooked ? ATTACH_HOOKED : ATTACH_STAYS;
}

static void count(const struct attached *attached, struct attach_counts *counts)
{
    counts->stopped_ms = attached->stopped_ms;
    count_images(attached, 0, counts);
    counts->functions -= counts->waiting + counts->changed;
}

/* Without them, a profile begins with what was called since. */
static void write_stacks(struct attached *attached, const struct attach_settings *settings)
{
    struct failure failure;

    if (!taken_stacks_write(&attached->stacks, attached->pid, settings->folder, &failure) &&
        !settings->is_quiet)
        message("%s; calls that are under way are not shown", failure.text);
    taken_stacks_free(&attached->stacks);
}

static bool enter(struct attached *attached, const struct attach_settings *settings,
                  struct attach_counts *counts, struct failure *failure)
{
    struct failure ignored;

    if (!attach_map(attached, settings, failure))
        return false;
    if (attach_hooks_prepare(attached, 0, failure) && bring_hooks_in(attached, failure)) {
        write_stacks(attached, settings);
        hook_what_waits(attached, counts);
        if (set_hook_words(attached, 0, failure)) /* from here on, the service has to answer soon */
            return true;
    }
    if (attached->is_hooked)
        attach_end(attached, &ignored);
    else
        attach_unmap(attached, &ignored);
    return false;
}

/* What was executed just now has no thread pointer until its linker has mapped all that it needs.
 */
static bool has_begun(pid_t pid)
{
    struct tracees tracees;
    struct user_regs_struct registers;
    struct failure ignored;
    bool is;

    if (!tracees_stop_one(&tracees, pid, &ignored))
        return true; /* whatever it is, it will be said later */
    is = !tracee_registers(tracees_caller(&tracees), &registers) || registers.fs_base;
    tracees_release(&tracees);
    return is;
}

static void wait_until_begun(pid_t pid)
{
    for (int i = 1; i < MOST_STOPS && !has_begun(pid); i++)
        pause_after(i);
}

static bool begin(struct attached *attached, const struct attach_settings *settings,
                  struct attach_counts *counts, struct failure *failure)
{
    if (!attach_check_process(attached->pid, failure) ||
        !program_files_find(&attached->files, attached->pid, failure) ||
        !may_make_calls(attached, failure) || !attached_agent_read(&attached->agent, failure))
        return false;
    wait_until_begun(attached->pid);
    return attach_plan(attached, settings, failure) && open_memory(attached, failure) &&
           enter(attached, settings, counts, failure);
}

struct attached *attach_begin(const struct attach_settings *settings, struct attach_counts *counts,
                              struct failure *failure)
{
    struct attached *attached = calloc(1, sizeof(*attached));
    struct failure why;

    *counts = (struct attach_counts){0};
    if (!attached) {
        fail_because(failure, "out of memory");
        return NULL;
    }
    attached->pid = settings->pid;
    attached->is_sampled = settings->is_sampled;
    attached->memory = attached->listener = -1;
    if (!begin(attached, settings, counts, &why)) {
        fail_because(failure, "process %d %s", (int)settings->pid, why.text);
        attached_free(attached);
        return NULL;
    }
    count(attached, counts);
    return attached;
}

bool attach_again(struct attached *attached, const struct attach_settings *settings,
                  struct attach_counts *counts, struct failure *failure)
{
    struct failure why;

    *counts = (struct attach_counts){0};
    attached->stopped_ms = 0;
    if (!enter(attached, settings, counts, &why))
        return fail_because(failure, "process %d %s", (int)attached->pid, why.text);
    count(attached, counts);
    return true;
}

int attached_listener(const struct attached *attached)
{
    return attached->listener;
}

void attached_free(struct attached *attached)
{
    for (size_t i = 0; i < attached->image_count; i++)
        hooked_image_free(&attached->images[i]);
    free(attached->images);
    free(attached->seen);
    free(attached->inside);
    taken_stacks_free(&attached->stacks);
    attached_agent_free(&attached->agent);
    if (attached->memory >= 0)
        close(attached->memory);
    if (attached->listener >= 0)
        close(attached->listener);
    free(attached);
}
