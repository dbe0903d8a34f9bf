#include "grinder/unwind/unwind.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/base/pair_index.h"
#include "support/confinement.h"
#include "support/memory.h"

#define ANY_PID   1
#define BEGINNING 64 /* bytes of code: from _start to its call */

struct frame {
    uint64_t address; /* where it is, or made its call */
    uint64_t stack_pointer;
};

/* What a thread's last sample was. */
struct last {
    struct frame *frames;
    uint32_t count, room;
    bool is_whole;
};

struct child {
    struct stacks_file *file;
    const struct unwind_module *modules;
    size_t module_count;               /* mapped so far */
    const struct unwind_module **live; /* images in whose place there is nothing later */
    size_t live_count, live_room;
    const struct libdw *libdw;
    Dwfl_Callbacks callbacks;
    Dwfl *dwfl;                            /* null: it knew of something that is gone */
    const struct unwind_module **reported; /* what dwfl knows of */
    size_t reported_count, reported_room;
    bool has_news; /* there may be live ones that it does not know of */
    bool is_attached;
    const struct stacks_sample *sample;
    const struct stacks_dump *dump;
    struct pair_index tids; /* (tid, 0): place in lasts */
    struct last *lasts;
    size_t last_count, last_room;
    struct last *last, nobody; /* the sample's thread; all of those that are too many */
    struct frame frames[UNWIND_MOST_FRAMES];
    uint32_t count, same; /* frames; and of the last sample's, those behind them */
    bool is_cut; /* there are more frames than are wanted, or more stack than the sample has */
    int pipe;
    unsigned char bytes[1 << 16];
    size_t filled;
};

static int find_no_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                              const char *file, const char *link, GElf_Word crc, char **found)
{
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc;
    (void)found;
    return -1;
}

static int find_no_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                       char **file, Elf **elf)
{
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)elf;
    return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *user, void **thread)
{
    (void)dwfl;
    if (*thread)
        return 0;
    *thread = user;
    return ANY_PID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *user, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = user;
    return true;
}

/* libdw takes a return address that cannot be read for none. */
static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *user)
{
    struct child *child = user;
    const struct stacks_dump *dump = child->dump;
    uint64_t at = address - dump->address;

    (void)dwfl;
    if (at > dump->size || dump->size - at < sizeof(*word)) {
        child->is_cut = true;
        return false;
    }
    memcpy(word, dump->bytes + at, sizeof(*word));
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *user)
{
    const struct child *child = user;
    Dwarf_Word registers[STACKS_REGISTERS];

    for (int i = 0; i < STACKS_REGISTERS; i++)
        registers[i] = child->sample->registers[i];
    return child->libdw->dwfl_thread_state_registers(thread, 0, STACKS_REGISTERS, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

/* The frame of the last sample that is this one, if all that lies above it in the stack is as it
 * was. */
static uint32_t place_in_last(const struct child *child, const struct frame *frame)
{
    const struct last *last = child->last;

    if (frame->stack_pointer < child->dump->kept)
        return last->count;
    for (uint32_t i = 0; i < last->count; i++)
        if (last->frames[i].stack_pointer == frame->stack_pointer)
            return last->frames[i].address == frame->address ? i : last->count;
    return last->count;
}

static int see_frame(Dwfl_Frame *state, void *user)
{
    struct child *child = user;
    struct frame frame;
    Dwarf_Addr address;
    Dwarf_Word stack_pointer;
    bool is_activation;
    uint32_t place;

    if (!child->libdw->dwfl_frame_pc(state, &address, &is_activation) || !address)
        return DWARF_CB_ABORT;
    if (child->libdw->dwfl_frame_reg(state, STACKS_RSP, &stack_pointer) != 0)
        stack_pointer = 0;
    frame = (struct frame){is_activation ? address : address - 1, stack_pointer};
    place = child->count ? place_in_last(child, &frame) : child->last->count;
    if (place < child->last->count) {
        child->same = child->last->count - place;
        return DWARF_CB_ABORT;
    }
    if (child->count == UNWIND_MOST_FRAMES) {
        child->is_cut = true;
        return DWARF_CB_ABORT;
    }
    child->frames[child->count++] = frame;
    return DWARF_CB_OK;
}

static bool is_same(const struct unwind_module *a, const struct unwind_module *b)
{
    return a->fd >= 0 && a->fd == b->fd && a->bias == b->bias;
}

static bool is_reported(const struct child *child, const struct unwind_module *module)
{
    for (size_t i = 0; i < child->reported_count; i++)
        if (is_same(child->reported[i], module))
            return true;
    return false;
}

static void report(struct child *child, const struct unwind_module *module)
{
    int fd = module->fd < 0 || is_reported(child, module) ? -1 : dup(module->fd);

    if (fd < 0)
        return;
    child->reported = memory_grow(child->reported, child->reported_count, &child->reported_room,
                                  sizeof(*child->reported));
    child->reported[child->reported_count++] = module;
    child->libdw->dwfl_report_begin_add(child->dwfl);
    if (!child->libdw->dwfl_report_elf(child->dwfl, module->name, module->name, fd, module->bias,
                                       true))
        close(fd);
    child->libdw->dwfl_report_end(child->dwfl, NULL, NULL);
}

static bool overlap(const struct unwind_module *a, const struct unwind_module *b)
{
    return a->address < b->address + b->length && b->address < a->address + a->length;
}

static bool is_within(const struct unwind_module *part, const struct unwind_module *whole)
{
    return part->address >= whole->address &&
           part->address + part->length <= whole->address + whole->length;
}

static void forget_dwfl(struct child *child)
{
    if (child->dwfl)
        child->libdw->dwfl_end(child->dwfl);
    child->dwfl = NULL;
    child->reported_count = 0;
    child->is_attached = false;
}

/* Where others were before, these are gone: libdw knows of no such thing, and begins anew with what
 * is left. A part of an image that is mapped once more is still of that image. */
static void add_module(struct child *child)
{
    const struct unwind_module *module = &child->modules[child->module_count++];
    size_t kept = 0;
    bool is_gone = false;

    for (size_t i = 0; i < child->live_count; i++) {
        const struct unwind_module *live = child->live[i];
        if (!overlap(live, module) || (is_same(live, module) && !is_within(live, module)))
            child->live[kept++] = live;
        else
            is_gone |= !is_same(live, module) && is_reported(child, live);
    }
    child->live_count = kept;
    if (is_gone)
        forget_dwfl(child);
    child->has_news |= is_gone || module->fd >= 0;
    if (module->fd < 0)
        return;
    child->live = memory_grow(child->live, kept, &child->live_room, sizeof(*child->live));
    child->live[child->live_count++] = module;
}

/* When it is needed: between two samples any number of images may come and go. */
static void report_modules(struct child *child)
{
    if (!child->has_news)
        return;
    child->has_news = false;
    if (!child->dwfl)
        child->dwfl = child->libdw->dwfl_begin(&child->callbacks);
    if (!child->dwfl)
        return;
    for (size_t i = 0; i < child->live_count; i++)
        report(child, child->live[i]);
    if (!child->is_attached)
        child->is_attached =
            child->libdw->dwfl_attach_state(child->dwfl, NULL, ANY_PID, &thread_callbacks, child);
}

static struct last *last_of(struct child *child, uint32_t tid)
{
    uint32_t place;

    if (!pair_index_find(&child->tids, tid, 0, &place)) {
        if (child->last_count == UNWIND_MOST_THREADS)
            return &child->nobody;
        place = pair_index_add(&child->tids, tid, 0);
    }
    if (place == child->last_count) {
        child->lasts =
            memory_grow(child->lasts, child->last_count, &child->last_room, sizeof(*child->lasts));
        child->lasts[child->last_count++] = (struct last){0};
    }
    return &child->lasts[place];
}

static void flush(struct child *child)
{
    size_t done = 0;

    while (done < child->filled) {
        ssize_t count = write(child->pipe, child->bytes + done, child->filled - done);
        if (count <= 0)
            _exit(1);
        done += (size_t)count;
    }
    child->filled = 0;
}

static void put(struct child *child, const void *bytes, size_t size)
{
    if (child->filled + size > sizeof(child->bytes))
        flush(child);
    memcpy(child->bytes + child->filled, bytes, size);
    child->filled += size;
}

static void put_frames(struct child *child, bool is_whole)
{
    const uint32_t head[2] = {child->count | (is_whole ? UNWIND_IS_WHOLE : 0), child->same};

    put(child, head, sizeof(head));
    for (uint32_t i = 0; i < child->count; i++)
        put(child, &child->frames[i].address, sizeof(child->frames[i].address));
}

static void remember(struct child *child, bool is_whole)
{
    struct last *last = child->last;
    uint32_t count = child->count + child->same;

    if (last == &child->nobody)
        return;
    if (count > last->room) {
        last->room = count;
        last->frames = memory_or_exit(realloc(last->frames, count * sizeof(*last->frames)), count);
    }
    memmove(last->frames + child->count, last->frames + (last->count - child->same),
            child->same * sizeof(*last->frames));
    memcpy(last->frames, child->frames, child->count * sizeof(*last->frames));
    last->count = count;
    last->is_whole = is_whole;
}

/* What an image begins with has no caller, and need not say so: the dynamic linker's does not. */
static bool is_beginning(const struct child *child)
{
    uint64_t address = child->frames[child->count - 1].address;

    for (size_t i = 0; i < child->live_count; i++)
        if (child->live[i]->entry && address - child->live[i]->entry < BEGINNING)
            return true;
    return false;
}

/* The innermost frame is there in any case. */
static void unwind_sample(struct child *child)
{
    bool is_whole = false;

    child->last = last_of(child, child->sample->tid);
    child->count = child->same = 0;
    child->is_cut = false;
    report_modules(child);
    if (child->is_attached)
        is_whole = child->libdw->dwfl_getthread_frames(child->dwfl, ANY_PID, see_frame, child) == 0;
    if (!child->count)
        child->frames[child->count++] = (struct frame){child->sample->registers[STACKS_RIP], 0};
    is_whole = (is_whole && !child->is_cut) || is_beginning(child);
    if (child->same > UNWIND_MOST_FRAMES - child->count) {
        child->same = 0;
        is_whole = false;
    } else if (child->same) {
        is_whole = child->last->is_whole;
    }
    put_frames(child, is_whole);
    remember(child, is_whole);
}

int unwind_write(const struct libdw *libdw, struct stacks_file *file,
                 const struct unwind_module *modules, size_t module_count, int pipe)
{
    struct child *child = memory_zeroed(1, sizeof(*child));
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    int kind;

    child->libdw = libdw;
    child->callbacks = (Dwfl_Callbacks){
        .find_elf = find_no_elf,
        .find_debuginfo = find_no_debug_file,
        .section_address = libdw->dwfl_offline_section_address,
    };
    child->file = file;
    child->modules = modules;
    child->pipe = pipe;
    confine(pipe);
    stacks_file_rewind(file);
    while ((kind = stacks_file_next(file, &mapping, &sample, &dump))) {
        child->sample = &sample;
        child->dump = dump;
        if (kind == STACKS_SAMPLE)
            unwind_sample(child);
        else if (child->module_count < module_count)
            add_module(child);
    }
    flush(child);
    return 0;
}
