#include "hooks/stack.h"

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

static struct trace_stack_entry *entry_at(const struct thread *thread,
                                          const struct stack_copy *copy, uint32_t position)
{
    uint32_t place = stack_place(position);
    struct trace_stack *block = block_at(thread, copy, place / STACK_BLOCK_ENTRIES);

    return (struct trace_stack_entry *)(block + 1) + place % STACK_BLOCK_ENTRIES;
}

static bool add_block(struct thread *thread, struct stack_copy *copy, uint64_t lowest)
{
    struct trace_block *block = session_block(thread->entry->ordinal);
    struct trace_stack *stack = (struct trace_stack *)block;

    if (!block)
        return false;
    block->used = TRACE_BLOCK_UNITS;
    stack->copy = (uint32_t)(copy - thread->peak.copies);
    stack->first = copy->block_count * STACK_BLOCK_ENTRIES;
    if (!copy->block_count) {
        stack->high = thread->own_low + thread->own_size;
        stack->size = thread->own_size;
        stack->lowest = lowest;
    }
    block_commit(block, TRACE_BLOCK_STACK);
    copy->blocks[copy->block_count++] = trace_index(block);
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

static struct trace_stack_entry entry_of(const struct thread *thread, const struct record *record)
{
    uint64_t depth = thread->own_low + thread->own_size - record_slot(record);

    return (struct trace_stack_entry){
        .depth = record_is_live(record)
                     ? (uint32_t)((depth + STACK_DEPTH_UNIT - 1) / STACK_DEPTH_UNIT)
                     : 0,
        .node = trace_index(record->node),
        .number = (uint32_t)record->mark,
    };
}

/* Is this call noted at this position? Then it still lives, and so do the calls above it. */
static bool is_noted(const struct thread *thread, const struct stack_copy *copy, uint32_t position,
                     const struct record *record)
{
    struct trace_stack_entry is = entry_of(thread, record);
    const struct trace_stack_entry *was;

    if (position >= copy->count)
        return false;
    was = entry_at(thread, copy, position);
    return was->depth == is.depth && was->node == is.node && was->number == is.number;
}

/* How many of count calls, from the outermost on, are noted as they are. */
static uint32_t find_noted(const struct thread *thread, const struct stack_copy *copy,
                           uint32_t count)
{
    const struct record *record = thread->own.top;

    while (count && !is_noted(thread, copy, count - 1, record)) {
        record = stash_below(record);
        count--;
    }
    return count;
}

static void publish(struct thread *thread, struct stack_copy *copy, uint32_t count)
{
    uint64_t check = count ? entry_at(thread, copy, count - 1)->check : 0;

    copy->count = count;
    __atomic_store_n(&head_of(thread, copy)->chain, check << 32 | count, __ATOMIC_SEQ_CST);
}

static void write_entries(struct thread *thread, struct stack_copy *copy, uint32_t from,
                          uint32_t count)
{
    const struct record *record = thread->own.top;
    struct trace_stack_entry *entry;
    uint32_t check = from ? entry_at(thread, copy, from - 1)->check : 0;

    for (uint32_t position = count; position > from; position--) {
        if (stack_is_kept(position - 1, count))
            *entry_at(thread, copy, position - 1) = entry_of(thread, record);
        record = stash_below(record);
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
static void complete(struct thread *thread, struct stack_copy *copy, uint32_t noted, uint32_t count)
{
    if (noted < copy->count)
        publish(thread, copy, noted);
    write_entries(thread, copy, noted, count);
    publish(thread, copy, count);
}

static void make_current(struct thread *thread, uint32_t number)
{
    struct stack_peak *peak = &thread->peak;
    uint32_t sequence = head_of(thread, &peak->copies[peak->current])->sequence + 1;

    __atomic_store_n(&head_of(thread, &peak->copies[number])->sequence, sequence, __ATOMIC_RELEASE);
    peak->current = number;
}

static void note_chain(struct thread *thread, uint32_t count, uint64_t lowest)
{
    struct stack_peak *peak = &thread->peak;
    uint32_t number = peak->current, noted = find_noted(thread, &peak->copies[number], count);

    if (noted < peak->copies[number].count && count - noted > STACK_IN_PLACE) {
        number = !number;
        noted = find_noted(thread, &peak->copies[number], count);
    }
    if (!make_room(thread, &peak->copies[number], count, lowest))
        return;
    complete(thread, &peak->copies[number], noted, count);
    if (number != peak->current)
        make_current(thread, number);
}

/*
 * A handler may interrupt this, which makes no recorded calls then, and may leave by longjmp: the
 * copies' counts say what can be relied on the next time.
 */
void stack_note(struct thread *thread, uint64_t stack_pointer)
{
    struct stack_peak *peak = &thread->peak;

    if (stack_pointer >= peak->lowest)
        return;
    note_chain(thread, stash_depth(&thread->own), stack_pointer);
    if (peak->copies[0].block_count)
        __atomic_store_n(&head_of(thread, &peak->copies[0])->lowest, stack_pointer,
                         __ATOMIC_RELEASE);
    peak->lowest = stack_pointer;
}

void stack_begin(struct thread *thread)
{
    thread->peak.lowest = thread->own_low + thread->own_size;
}
