/*
 * Who may come to our memory, once the hooks are out:
 *
 *      a thread whose instruction pointer is there, in the agent, a thunk or a stub, or was when a
 *      handler interrupted it. Such places are left soon, for good: we wait.
 *
 *      a call that is under way returns through its thunk. The true return address is put into the
 *      slot, wherever that is. Nothing else has a thunk's address: who copies return addresses to
 *      come back by them (setjmp, swapcontext) is not hooked.
 *
 *      an unwinder that is at work: it has read a thunk's address, and where that was, and reads
 *      there again. A thread that has libgcc's code on its stack keeps its slots until later.
 *
 *      libgcc, for exceptions to come: once all that is over, its hook goes, too (attach_hooks.c).
 *
 * So threads get their return addresses back one by one, as they are found clear of all that. In
 * the turn in which the last one is, all others have to be clear as well, for the calls that are on
 * no thread's stack, but on coroutines', say: these were resumed meanwhile, perhaps.
 */
#include "service/attach/linux/attach_leave.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/attach/linux/signal_frames.h"
#include "trace/attached_agent.h"

bool attach_leave_begin(struct attached *attached, const struct tracees *tracees,
                        struct failure *failure)
{
    free(attached->inside);
    attached->inside_count = 0;
    attached->inside = malloc((tracees->count + 1) * sizeof(*attached->inside));
    if (!attached->inside)
        return fail_because(failure, "out of memory");
    for (size_t i = 0; i < tracees->count; i++)
        attached->inside[attached->inside_count++] = tracees->items[i].tid;
    return true;
}

/* What a turn needs. */
struct turn {
    const struct attached *attached;
    struct tracees *tracees;
    struct address_space space;
    struct attached_memory memory;
    bool all_are_clear; /* they were found to be, each, in this turn */
};

/* What is found of one thread. */
struct look {
    const struct turn *turn;
    bool is_amid; /* our code */
    bool unwinds;
};

static bool is_within(uint64_t address, uint64_t start, uint64_t size)
{
    return address - start < size;
}

/* The agent, thunks, stubs. */
static bool is_our_code(const struct attached *attached, uint64_t address)
{
    if (is_within(address, attached->agent.base, attached->agent.room))
        return true;
    for (size_t i = 0; i < attached->image_count; i++)
        for (size_t k = 0; k < attached->images[i].added_count; k++) {
            const struct added_range *range = &attached->images[i].added[k];

            if (range->is_executable && is_within(address, range->address, range->size))
                return true;
        }
    return false;
}

static bool is_unwinder(const struct attached *attached, uint64_t address)
{
    for (size_t i = 0; i < attached->image_count; i++) {
        const struct hooked_image *image = &attached->images[i];

        if (image->is_unwinder &&
            is_within(address, image->unwinder_low, image->unwinder_high - image->unwinder_low))
            return true;
    }
    return false;
}

static void see_where(void *with, const struct signal_frame_word *word)
{
    struct look *look = with;

    look->is_amid |= word->is_pointer && is_our_code(look->turn->attached, word->value);
    look->unwinds |= is_unwinder(look->turn->attached, word->value);
}

/* The call of the record, if it is under way with its return address there, gets that back. */
static void put_back(const struct attached *attached, const struct attached_record *record,
                     uint64_t slot)
{
    uint64_t live = (int64_t)record->slot > 0 ? record->slot : record->slot ? 0 : record->parked;

    if (slot && live == slot)
        attached_put(attached, slot, &record->ret, sizeof(record->ret));
}

static void see_slot(void *with, const struct signal_frame_word *word)
{
    const struct look *look = with;
    const struct turn *turn = look->turn;
    uint64_t thunk = word->value - ATTACHED_THUNK_RETURN;
    struct attached_record record;

    if (is_within(thunk, turn->memory.stash, turn->memory.stash_size) &&
        pread(turn->attached->memory, &record, sizeof(record),
              (off_t)(thunk + ATTACHED_BLOCK_SIZE / 2)) == sizeof(record))
        put_back(turn->attached, &record, word->address);
}

/* False: a stack cannot be read. */
static bool each_word(const struct tracee *tracee, struct look *look,
                      void (*see)(void *, const struct signal_frame_word *))
{
    struct user_regs_struct registers;

    return !tracee_registers(tracee, &registers) ||
           signal_frames_each_word(look->turn->attached->memory, &look->turn->space, registers.rsp,
                                   see, look);
}

static bool look_at(const struct turn *turn, const struct tracee *tracee, struct look *look)
{
    struct user_regs_struct registers;

    *look = (struct look){.turn = turn};
    if (!tracee_registers(tracee, &registers))
        return true;
    look->is_amid = is_our_code(turn->attached, registers.rip);
    look->unwinds = is_unwinder(turn->attached, registers.rip);
    return each_word(tracee, look, see_where);
}

/* may_unwind: what it has on its stack does not lead to us. */
static bool is_clear(const struct turn *turn, const struct tracee *tracee, bool may_unwind,
                     struct failure *failure)
{
    struct look look;

    if (!look_at(turn, tracee, &look))
        return fail_because(failure, "the stack of thread %d cannot be read", (int)tracee->tid);
    if (look.is_amid)
        return fail_because(failure, "thread %d is in a hook", (int)tracee->tid);
    return may_unwind || !look.unwinds ||
           fail_because(failure, "thread %d throws an exception", (int)tracee->tid);
}

static bool leaves(const struct turn *turn, const struct tracee *tracee, struct failure *failure)
{
    struct look look = {.turn = turn};

    return is_clear(turn, tracee, false, failure) && each_word(tracee, &look, see_slot);
}

/* All that may still come to our memory, with what they have on their stacks. */
static bool have_left(struct attached *attached, struct turn *turn, struct failure *failure)
{
    size_t kept = 0, found = 0;

    for (size_t i = 0; i < attached->inside_count; i++) {
        const struct tracee *tracee = tracees_find(turn->tracees, attached->inside[i]);

        found += tracee != NULL;
        if (tracee && !leaves(turn, tracee, failure))
            attached->inside[kept++] = attached->inside[i];
    }
    attached->inside_count = kept;
    turn->all_are_clear = !kept && found == turn->tracees->count;
    return !kept;
}

static bool all_are_clear(const struct turn *turn, bool may_unwind, struct failure *failure)
{
    for (size_t i = 0; i < turn->tracees->count && !turn->all_are_clear; i++)
        if (!is_clear(turn, &turn->tracees->items[i], may_unwind, failure))
            return false;
    return true;
}

/* How many records of a range are of calls that are under way; they get their return addresses
   back, if they are to. -1: it cannot be read. */
static long each_in_range(const struct turn *turn, const struct address_range *range,
                          bool is_put_back)
{
    uint64_t size = range->end - range->start, found;
    struct attached_record *records = malloc(size);
    int memory = turn->attached->memory;
    bool is_read = records && pread(memory, records, size, (off_t)range->start) == (ssize_t)size;
    long count = 0;

    for (uint64_t i = 0; is_read && i < size / sizeof(*records); i++) {
        uint64_t slot = records[i].slot ? records[i].slot : records[i].parked;
        uint64_t thunk = range->start + i * sizeof(*records) - ATTACHED_BLOCK_SIZE / 2;

        if ((int64_t)slot <= 0 ||
            pread(memory, &found, sizeof(found), (off_t)slot) != sizeof(found) ||
            found != thunk + ATTACHED_THUNK_RETURN)
            continue;
        count++;
        if (is_put_back)
            put_back(turn->attached, &records[i], slot);
    }
    free(records);
    return is_read ? count : -1;
}

/* What is mapped of the stash for writing is records. */
static long each_record(const struct turn *turn, bool is_put_back)
{
    long all = 0;

    for (size_t i = 0; i < turn->space.count; i++) {
        const struct address_range *range = &turn->space.ranges[i];
        long count = range->is_writable &&
                             is_within(range->start, turn->memory.stash, turn->memory.stash_size)
                         ? each_in_range(turn, range, is_put_back)
                         : 0;

        if (count < 0)
            return -1;
        all += count;
    }
    return all;
}

/* Calls that are on no thread's stack get their return addresses back: of coroutines that wait. */
static bool put_rest_back(const struct turn *turn, struct failure *failure)
{
    long count = each_record(turn, false);

    if (count < 0)
        return fail_because(failure, "the records of its calls cannot be read");
    return all_are_clear(turn, !count, failure) && (!count || each_record(turn, true) >= 0);
}

static void give_gs_back(const struct tracees *tracees)
{
    for (size_t i = 0; i < tracees->count; i++)
        tracee_set_gs(&tracees->items[i], 0);
}

static bool leave(struct attached *attached, struct turn *turn, struct failure *failure)
{
    if (pread(attached->memory, &turn->memory, sizeof(turn->memory),
              (off_t)(attached->agent.base + attached->agent.memory)) != sizeof(turn->memory))
        return fail_because(failure, "the agent cannot be read");
    if (!have_left(attached, turn, failure) || !put_rest_back(turn, failure))
        return false;
    give_gs_back(turn->tracees);
    return true;
}

bool attach_leave(struct attached *attached, struct tracees *tracees, struct failure *failure)
{
    struct turn turn = {.attached = attached, .tracees = tracees};
    bool is_left;

    if (!address_space_read(&turn.space, attached->pid, failure))
        return false;
    is_left = leave(attached, &turn, failure);
    address_space_free(&turn.space);
    return is_left;
}
