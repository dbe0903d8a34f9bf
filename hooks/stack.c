#include "hooks/stack.h"

#include "hooks/live_calls.h"
#include "hooks/session.h"
#include "hooks/thread.h"

static struct trace_stack *block_at(const struct thread *thread, const struct stack_copy *copy,
                                    uint32_t number)
{
    uint64_t unit = copy->blocks[number];

    return (struct trace_stack *)(thread->trace + unit * TRACE_UNIT);
}

static struct trace_stack *head_of(const struct thread *thread, const struct stack_copy *copy)
{
    return block_at(thread, copy, 0);
}

/* How many entries the chain has that a reader finds in a copy. */
static uint32_t count_in(const struct thread *thread, const struct stack_copy *copy)
{
    return copy->block_count ? (uint32_t)head_of(thread, copy)->chain : 0;
}

/* The copy that a reader looks at. */
static uint32_t current_of(const struct thread *thread)
{
    const struct stack_copy *copies = thread->peak.copies;

    return copies[1].block_count &&
           head_of(thread, &copies[1])->sequence > head_of(thread, &copies[0])->sequence;
}

static struct trace_stack_entry *entry_at(const struct thread *thread,
                                          const struct stack_copy *copy, uint32_t position)
{
    uint32_t place = stack_place(position);
    struct trace_stack *block = block_at(thread, copy, place / STACK_BLOCK_ENTRIES);

    return (struct trace_stack_entry *)(block + 1) + place % STACK_BLOCK_ENTRIES;
}

static uint32_t number_of(const struct thread *thread, const struct stack_copy *copy)
{
    return (uint32_t)(copy - thread->peak.copies);
}

static bool add_block(struct thread *thread, struct stack_copy *copy, uint64_t lowest)
{
    struct trace_block *block = session_block(thread->entry->ordinal);
    struct trace_stack *stack = (struct trace_stack *)block;

    if (!block)
        return false;
    block->used = TRACE_BLOCK_UNITS;
    stack->copy = number_of(thread, copy);
    stack->first = copy->block_count * STACK_BLOCK_ENTRIES;
    if (!copy->block_count) {
        stack->high = thread->own_low + thread->own_size;
        stack->size = thread->own_size;
        stack->lowest = lowest;
    }
    block_commit(block, TRACE_BLOCK_STACK);
    copy->blocks[copy->block_count] = trace_index(block);
    __atomic_store_n(&copy->block_count, copy->block_count + 1, __ATOMIC_RELEASE);
    return true;
}

static bool make_room(struct thread *thread, struct stack_copy *copy, uint32_t count,
                      uint64_t lowest)
{
    uint32_t places = count < STACK_KEPT ? count : STACK_KEPT;

    while (copy->block_count * STACK_BLOCK_ENTRIES < places)
        if (!add_block(thread, copy, lowest))
            return false;
    return true;
}

static uint32_t depth_of(const struct thread *thread, uint64_t slot)
{
    uint64_t depth = thread->own_low + thread->own_size - slot;

    return (uint32_t)((depth + STACK_DEPTH_UNIT - 1) / STACK_DEPTH_UNIT);
}

/* What a record counts tells its call from others; a frame is told by its context and its place. */
static struct trace_stack_entry entry_of(const struct thread *thread, const struct live_call *call)
{
    return (struct trace_stack_entry){
        .depth = call->slot ? depth_of(thread, call->slot) : 0,
        .node = trace_index(call->node ? call->node : thread->root),
        .number = call->record ? (uint32_t)call->record->mark : 0,
    };
}

static bool is_same(const struct trace_stack_entry *was, const struct trace_stack_entry *is)
{
    return was->depth == is->depth && was->node == is->node && was->number == is->number;
}

/* How many of the live calls are in a copy, from the outermost on, and how many are not. */
struct extent {
    uint32_t noted, newer;
};

/* The slot of the innermost one of the first `count` calls in a copy that is above this one's; or
   0. Frames are looked for there first. */
static uint64_t noted_above(const struct thread *thread, const struct stack_copy *copy,
                            uint32_t count, const struct live_call *call)
{
    uint32_t depth = call->slot ? depth_of(thread, call->slot) : UINT32_MAX, noted = 0;

    while (count && (!noted || noted >= depth))
        noted = entry_at(thread, copy, --count)->depth;
    return noted && noted < depth
               ? thread->own_low + thread->own_size - (uint64_t)noted * STACK_DEPTH_UNIT
               : 0;
}

/* A call that is noted still lives, and so do those above it: positions are what they were. */
static struct extent find_noted(const struct thread *thread, const struct stack_copy *copy,
                                struct live_call call)
{
    struct extent extent = {count_in(thread, copy), 0};

    for (; call.node; extent.newer++) {
        struct trace_stack_entry is = entry_of(thread, &call);
        const struct trace_stack_entry *was = NULL;

        for (; is.depth && extent.noted; extent.noted--) {
            was = entry_at(thread, copy, extent.noted - 1);
            if (was->depth && was->depth <= is.depth)
                break;
        }
        if (was && extent.noted && is_same(was, &is))
            return extent;
        live_call_go_up(thread, &call, noted_above(thread, copy, extent.noted, &call));
    }
    extent.noted = 0;
    return extent;
}

static void publish(struct thread *thread, struct stack_copy *copy, uint32_t count)
{
    uint64_t check = count ? entry_at(thread, copy, count - 1)->check : 0;

    __atomic_store_n(&head_of(thread, copy)->chain, check << 32 | count, __ATOMIC_SEQ_CST);
}

static void write_entries(struct thread *thread, struct stack_copy *copy, uint32_t from,
                          uint32_t count, struct live_call call)
{
    struct trace_stack_entry *entry;
    uint32_t check = from ? entry_at(thread, copy, from - 1)->check : 0;

    for (uint32_t position = count; position > from; position--) {
        if (stack_is_kept(position - 1, count))
            *entry_at(thread, copy, position - 1) = entry_of(thread, &call);
        if (position > from + 1)
            live_call_go_up(thread, &call, 0);
    }
    for (uint32_t position = from; position < count; position++) {
        if (!stack_is_kept(position, count))
            continue;
        entry = entry_at(thread, copy, position);
        entry->check = check = stack_check(check, entry);
        if (position == STACK_OUTER - 1)
            head_of(thread, copy)->outer_check = check;
    }
}

/* The first `noted` ones of count calls are in the copy already. */
static void complete(struct thread *thread, struct stack_copy *copy, uint32_t noted, uint32_t count,
                     const struct live_call *innermost)
{
    if (noted < count_in(thread, copy))
        publish(thread, copy, noted);
    write_entries(thread, copy, noted, count, *innermost);
    publish(thread, copy, count);
}

static void make_current(struct thread *thread, uint32_t number)
{
    struct stack_copy *copies = thread->peak.copies;
    uint32_t sequence = head_of(thread, &copies[!number])->sequence + 1;

    __atomic_store_n(&head_of(thread, &copies[number])->sequence, sequence, __ATOMIC_RELEASE);
}

static void note_chain(struct thread *thread, uint64_t lowest, const struct live_call *innermost)
{
    uint32_t current = current_of(thread), number = current;
    struct stack_copy *copy = &thread->peak.copies[number];
    struct extent found = find_noted(thread, copy, *innermost);

    if (found.noted < count_in(thread, copy) && found.newer > STACK_IN_PLACE) {
        number = !current;
        copy = &thread->peak.copies[number];
        found = find_noted(thread, copy, *innermost);
    }
    if (!make_room(thread, copy, found.noted + found.newer, lowest))
        return;
    complete(thread, copy, found.noted, found.noted + found.newer, innermost);
    if (number != current)
        make_current(thread, number);
}

/*
 * A handler may interrupt this, which makes no recorded calls then, and may leave by longjmp. So
 * the words that tell a reader where the chain is and how long tell it here, too.
 */
void stack_note(struct thread *thread, uint64_t stack_pointer, const struct live_call *innermost)
{
    struct stack_peak *peak = &thread->peak;

    if (stack_pointer >= peak->lowest)
        return;
    note_chain(thread, stack_pointer, innermost);
    if (peak->copies[0].block_count)
        __atomic_store_n(&head_of(thread, &peak->copies[0])->lowest, stack_pointer,
                         __ATOMIC_RELEASE);
    peak->lowest = stack_pointer;
}

void stack_begin(struct thread *thread)
{
    thread->peak.lowest = thread->own_low + thread->own_size;
}
