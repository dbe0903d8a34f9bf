#include "service/attach/linux/attach_hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/elf_file.h"
#include "service/attach/linux/address_space.h"
#include "service/attach/linux/attach_leave.h"
#include "service/attach/linux/attach_samples.h"
#include "service/attach/linux/signal_frames.h"

typedef void visit_fn(struct attached *attached, struct hook *hook);

/* Of the images from that one on. */
static void each_hook(struct attached *attached, size_t first, visit_fn *visit)
{
    for (size_t i = first; i < attached->image_count; i++)
        for (size_t k = 0; k < attached->images[i].hook_count; k++)
            visit(attached, &attached->images[i].hooks[k]);
}

/* Something else has changed these bytes: a debugger, the program itself. */
static void find_changed(struct attached *attached, struct hook *hook)
{
    uint8_t bytes[HOOK_SIZE];

    if (pread(attached->memory, bytes, hook->size, (off_t)hook->at) != hook->size ||
        memcmp(bytes, hook->before, hook->size) != 0)
        hook->state = HOOK_CHANGED;
}

/* A short jump leads to the jump in a hole, which has to be there. */
static void leave_without_hole(const struct hooked_image *image)
{
    for (size_t i = 0; i < image->hook_count; i++) {
        uint64_t at = hook_hole(&image->hooks[i]);
        const struct hook *hole = at ? hooked_image_at(image, at) : NULL;

        if (at && (!hole || hole->state == HOOK_CHANGED))
            image->hooks[i].state = HOOK_CHANGED;
    }
}

/* The byte that is there, so that the kernel has made the page the process's own before all stand.
 */
static void touch_page(struct attached *attached, struct hook *hook)
{
    if (hook->state == HOOK_OUT)
        attached_put(attached, hook->at, hook->before, 1);
}

static struct hook *hook_amid(const struct attached *attached, uint64_t address)
{
    struct hook *hook = NULL;

    for (size_t i = 0; i < attached->image_count && !hook; i++)
        hook = hooked_image_amid(&attached->images[i], address);
    return hook && hook->state == HOOK_OUT && !hook->unwanted ? hook : NULL;
}

/* Where control goes on that was at the address; the address itself if nothing is hooked there. */
static uint64_t moved(const struct attached *attached, uint64_t address)
{
    struct hook *hook = hook_amid(attached, address);

    if (!hook)
        return address;
    if (!hook->moved)
        hook->state = HOOK_WAITS;
    return hook->moved ? hook->moved + (address - hook->at) : address;
}

static void see_word(void *with, const struct signal_frame_word *word)
{
    const struct attached *attached = with;
    struct hook *hook = hook_amid(attached, word->value);

    if (hook && (!word->is_pointer || !hook->moved))
        hook->state = HOOK_WAITS;
}

/* The same when the hooks go: who has taken the first of two jumps goes on at the second one's
   target, since the bytes in the hole are none that anybody comes to. */
static uint64_t moved_out(const struct attached *attached, uint64_t address)
{
    for (size_t i = 0; i < attached->image_count; i++) {
        const struct hook *hook = hooked_image_at(&attached->images[i], address);

        if (hook && hook->hole_target && hook->state == HOOK_IN)
            return hook->hole_target;
    }
    return address;
}

typedef uint64_t place_fn(const struct attached *attached, uint64_t address);

/* How who is amid hooks is moved: as they come, or as they go. */
struct move {
    const struct attached *attached;
    place_fn *place;
};

static void move_word(void *with, const struct signal_frame_word *word)
{
    const struct move *move = with;
    uint64_t to = word->is_pointer ? move->place(move->attached, word->value) : word->value;

    if (to != word->value)
        attached_put(move->attached, word->address, &to, sizeof(to));
}

/* Calls see for each word on the threads' stacks. False: a stack cannot be read. */
static bool each_word(struct attached *attached, struct tracees *tracees,
                      void (*see)(void *, const struct signal_frame_word *), void *with,
                      struct failure *failure)
{
    struct address_space space;
    bool is_seen = true;

    if (!address_space_read(&space, attached->pid, failure))
        return false;
    for (size_t i = 0; is_seen && i < tracees->count; i++) {
        struct user_regs_struct registers;

        if (!tracee_registers(&tracees->items[i], &registers))
            continue;
        is_seen = signal_frames_each_word(attached->memory, &space, registers.rsp, see, with) ||
                  fail_because(failure, "a stack cannot be read");
    }
    address_space_free(&space);
    return is_seen;
}

/* Says which hooks wait, for what a thread is amid of. */
static bool look_at_threads(struct attached *attached, struct tracees *tracees,
                            struct failure *failure)
{
    for (size_t i = 0; i < tracees->count; i++) {
        struct user_regs_struct registers;

        if (!tracee_registers(&tracees->items[i], &registers))
            continue;
        if (registers.gs_base && !attached->is_hooked)
            return fail_because(failure, "uses gs for itself, as Wine does; the agent needs it");
        if (!registers.fs_base)
            return fail_because(failure, "has not begun yet");
        moved(attached, registers.rip);
    }
    return each_word(attached, tracees, see_word, attached, failure);
}

/* The names end with null. */
static bool has_section(pid_t pid, const char *const *names)
{
    char path[64];
    struct bounded_file file;
    struct elf_file elf;
    struct failure ignored;
    bool has = false;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (!bounded_file_open(&file, path, &ignored) || !elf_open(&elf, file, &ignored))
        return false;
    for (; *names && !has; names++)
        has = elf_section_named(&elf, *names) != NULL;
    elf_close(&elf);
    return has;
}

/* Whether the program throws by an unwinder that is not libgcc_s.so: it has one inside. */
static bool throws_by_itself(pid_t pid)
{
    return has_section(pid, (const char *const[]){".gcc_except_table", NULL});
}

/* Whose stacks move, with the return addresses that are on them. */
static bool is_of_go(pid_t pid)
{
    return has_section(
        pid, (const char *const[]){".note.go.buildid", ".gopclntab", ".go.buildinfo", NULL});
}

/* Whether exceptions find their way by a libgcc that is hooked. */
static bool has_hooked_unwinder(const struct attached *attached)
{
    for (size_t i = 0; i < attached->image_count; i++)
        if (attached->images[i].is_unwinder && attached->images[i].hook_count)
            return true;
    return false;
}

bool attach_hooks_prepare(struct attached *attached, size_t first, struct failure *failure)
{
    if (is_of_go(attached->pid))
        return fail_because(failure, "is a Go program, whose stacks move with all that is on them");
    if (!has_hooked_unwinder(attached) && throws_by_itself(attached->pid))
        return fail_because(
            failure, "throws exceptions by an unwinder of its own, which cannot be told of hooks; "
                     "instrument the program before it starts");
    each_hook(attached, first, find_changed);
    for (size_t i = first; i < attached->image_count; i++)
        leave_without_hole(&attached->images[i]);
    each_hook(attached, first, touch_page);
    return true;
}

/* False: a stack cannot be read, and nobody was moved. */
static bool move_all(struct attached *attached, struct tracees *tracees, place_fn *place,
                     struct failure *failure)
{
    struct move move = {attached, place};

    if (!each_word(attached, tracees, move_word, &move, failure))
        return false;
    for (size_t i = 0; i < tracees->count; i++) {
        struct user_regs_struct registers;

        if (!tracee_registers(&tracees->items[i], &registers))
            continue;
        registers.rip = place(attached, registers.rip);
        tracee_set_registers(&tracees->items[i], &registers);
    }
    return true;
}

/* At first none has words of its own. */
static void give_words_of_nobody(const struct attached *attached, const struct tracees *tracees)
{
    for (size_t i = 0; i < tracees->count; i++)
        tracee_set_gs(&tracees->items[i], attached->agent.base + attached->agent.nobody);
}

/*
 * Writes hooks, or takes them out, a page's in one write: what lies between them is read first, and
 * stays as it is.
 *
 *      | …  | hook | code | hook | code | hook | … |
 *           ^ start                            ^ end, in the next page at most HOOK_SIZE
 */
struct page_write {
    uint64_t start, end;
    uint8_t bytes[ATTACHED_PAGE + HOOK_SIZE];
};

/* The first hook behind those that go with the one at `first`. */
static size_t end_of_page(const struct hooked_image *image, size_t first)
{
    size_t next = first;

    while (next < image->hook_count &&
           image->hooks[next].at / ATTACHED_PAGE == image->hooks[first].at / ATTACHED_PAGE)
        next++;
    return next;
}

/* Which hooks change. */
struct hook_change {
    enum hook_state from, to;
    bool is_put;                       /* the hook's bytes are written; else the original's */
    bool is_of_wanted, is_of_unwanted; /* these alone */
};

/* Those in the one state get to the other, if the bytes are as they should be: a library that the
   program has closed meanwhile has made room for another. */
static void write_page(const struct attached *attached, const struct hooked_image *image,
                       size_t first, size_t end, const struct hook_change *change)
{
    struct page_write page = {.start = image->hooks[first].at};
    size_t size;

    page.end = image->hooks[end - 1].at + image->hooks[end - 1].size;
    size = page.end - page.start;
    if (pread(attached->memory, page.bytes, size, (off_t)page.start) != (ssize_t)size)
        return;
    for (size_t i = first; i < end; i++) {
        struct hook *hook = &image->hooks[i];
        uint8_t *there = page.bytes + (hook->at - page.start);

        if (hook->state != change->from ||
            (hook->unwanted ? change->is_of_wanted : change->is_of_unwanted))
            continue;
        hook->state = HOOK_CHANGED;
        if (memcmp(there, change->is_put ? hook->before : hook->after, hook->size))
            continue;
        memcpy(there, change->is_put ? hook->after : hook->before, hook->size);
        hook->state = change->to;
    }
    attached_put(attached, page.start, page.bytes, size);
}

static void write_hooks_of(const struct attached *attached, const struct hooked_image *image,
                           const struct hook_change *change)
{
    for (size_t first = 0, end; first < image->hook_count; first = end) {
        end = end_of_page(image, first);
        write_page(attached, image, first, end, change);
    }
}

static void write_hooks(struct attached *attached, const struct hook_change *change)
{
    for (size_t i = 0; i < attached->image_count; i++)
        write_hooks_of(attached, &attached->images[i], change);
}

static const struct hook_change coming = {HOOK_OUT, HOOK_IN, .is_put = true, .is_of_wanted = true};
static const struct hook_change going = {HOOK_IN, HOOK_OUT, .is_put = false};

/* Of libgcc, which has to find its way through thunks, or of all others. */
static void take_out(struct attached *attached, bool is_of_unwinder)
{
    for (size_t i = 0; i < attached->image_count; i++)
        if (attached->images[i].is_unwinder == is_of_unwinder)
            write_hooks_of(attached, &attached->images[i], &going);
}

/* Without its hook there can be no other. */
static bool can_hook_unwinder(const struct attached *attached, struct failure *failure)
{
    for (size_t i = 0; i < attached->image_count; i++)
        for (size_t k = 0; attached->images[i].is_unwinder && k < attached->images[i].hook_count;
             k++)
            switch (attached->images[i].hooks[k].state) {
            case HOOK_WAITS:
                return fail_because(failure, "has its unwinder at work all the time");
            case HOOK_CHANGED:
                return fail_because(failure, "has a libgcc that something else has changed");
            case HOOK_OUT:
            case HOOK_IN:
                break;
            }
    return true;
}

static void wait_no_more(struct attached *attached, struct hook *hook)
{
    (void)attached;
    if (hook->state == HOOK_WAITS)
        hook->state = HOOK_OUT;
}

bool attach_hooks_in(struct attached *attached, struct tracees *tracees, struct failure *failure)
{
    each_hook(attached, 0, wait_no_more);
    if (!look_at_threads(attached, tracees, failure) || !can_hook_unwinder(attached, failure))
        return false;
    if (!attached->is_hooked) {
        taken_stacks_free(&attached->stacks);
        taken_stacks_take(&attached->stacks, attached->memory, tracees);
    }
    if (!move_all(attached, tracees, moved, failure))
        return false;
    if (!attached->is_hooked)
        give_words_of_nobody(attached, tracees);
    write_hooks(attached, &coming);
    attached->is_hooked = true;
    return true;
}

bool attach_hooks_out(struct attached *attached, struct tracees *tracees, struct failure *failure)
{
    if (attached->is_hooked) {
        if (!move_all(attached, tracees, moved_out, failure))
            return false;
        take_out(attached, false);
        attached->is_hooked = false;
        if (!attach_leave_begin(attached, tracees, failure))
            return false;
    }
    /* A thread that was in a hook may have begun to sample itself since (attach.c, end_samples). */
    if (!attach_leave(attached, tracees, failure) ||
        !attach_samples_end(attached, tracees, failure) ||
        !move_all(attached, tracees, moved_out, failure))
        return false;
    take_out(attached, true);
    return true;
}

static bool is_missing(const struct hook *hook)
{
    return !hook->unwanted && (hook->state == HOOK_OUT || hook->state == HOOK_WAITS);
}

bool attach_hooks_change(struct attached *attached, struct tracees *tracees,
                         struct failure *failure)
{
    bool is_any_missing = false;

    write_hooks(attached,
                &(struct hook_change){HOOK_IN, HOOK_OUT, .is_put = false, .is_of_unwanted = true});
    for (size_t i = 0; i < attached->image_count; i++)
        for (size_t k = 0; k < attached->images[i].hook_count; k++)
            is_any_missing |= is_missing(&attached->images[i].hooks[k]);
    return !is_any_missing || attach_hooks_in(attached, tracees, failure);
}

void attach_hooks_count(const struct attached *attached, unsigned long *waiting,
                        unsigned long *changed)
{
    *waiting = *changed = 0;
    for (size_t i = 0; i < attached->image_count; i++)
        for (size_t k = 0; k < attached->images[i].hook_count; k++) {
            *waiting += attached->images[i].hooks[k].state == HOOK_WAITS;
            *changed += attached->images[i].hooks[k].state == HOOK_CHANGED;
        }
}
