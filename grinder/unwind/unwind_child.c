#include "grinder/unwind/unwind.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    uint32_t tid;
    struct frame *frames; /* UNWIND_MOST_FRAMES */
    uint32_t count;
    bool is_whole;
};

struct child {
    struct stacks_file *file;
    const struct unwind_module *modules;
    size_t module_count; /* mapped so far */
    const struct libdw *libdw;
    Dwfl_Callbacks callbacks;
    Dwfl *dwfl;
    size_t first_module; /* of those that dwfl may know */
    bool is_attached;
    const struct stacks_sample *sample;
    const struct stacks_dump *dump;
    struct last **lasts;
    size_t last_count, last_room;
    struct last *last;
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

static void begin_dwfl(struct child *child)
{
    if (child->dwfl)
        child->libdw->dwfl_end(child->dwfl);
    child->dwfl = child->libdw->dwfl_begin(&child->callbacks);
    child->is_attached = false;
}

static void report(struct child *child, const struct unwind_module *module)
{
    int fd = module->fd < 0 ? -1 : dup(module->fd);

    if (fd < 0 || !child->dwfl)
        return;
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

/* Where others were before, these are gone: libdw knows of no such thing, and begins anew with what
 * is left. */
static void add_module(struct child *child)
{
    const struct unwind_module *module = &child->modules[child->module_count++];
    bool is_again = false;

    for (size_t i = child->first_module; i + 1 < child->module_count; i++)
        is_again |= overlap(&child->modules[i], module);
    if (!is_again && child->dwfl) {
        report(child, module);
        return;
    }
    begin_dwfl(child);
    for (size_t i = 0; i < child->module_count; i++) {
        bool is_gone = false;
        for (size_t k = i + 1; k < child->module_count; k++)
            is_gone |= overlap(&child->modules[i], &child->modules[k]);
        if (!is_gone)
            report(child, &child->modules[i]);
    }
}

static struct last *last_of(struct child *child, uint32_t tid)
{
    struct last *last;

    for (size_t i = child->last_count; i-- > 0;)
        if (child->lasts[i]->tid == tid)
            return child->lasts[i];
    child->lasts =
        memory_grow(child->lasts, child->last_count, &child->last_room, sizeof(*child->lasts));
    last = memory_zeroed(1, sizeof(*last));
    last->tid = tid;
    last->frames = memory_zeroed(UNWIND_MOST_FRAMES, sizeof(*last->frames));
    return child->lasts[child->last_count++] = last;
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

    memmove(last->frames + child->count, last->frames + (last->count - child->same),
            child->same * sizeof(*last->frames));
    memcpy(last->frames, child->frames, child->count * sizeof(*last->frames));
    last->count = child->count + child->same;
    last->is_whole = is_whole;
}

/* What an image begins with has no caller, and need not say so: the dynamic linker's does not. */
static bool is_beginning(const struct child *child)
{
    uint64_t address = child->frames[child->count - 1].address;

    for (size_t i = 0; i < child->module_count; i++)
        if (child->modules[i].entry && address - child->modules[i].entry < BEGINNING)
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
    if (child->dwfl && !child->is_attached)
        child->is_attached =
            child->libdw->dwfl_attach_state(child->dwfl, NULL, ANY_PID, &thread_callbacks, child);
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
                 const struct unwind_module *modules, int pipe)
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
        if (kind == STACKS_MAP)
            add_module(child);
        else
            unwind_sample(child);
    }
    flush(child);
    return 0;
}
