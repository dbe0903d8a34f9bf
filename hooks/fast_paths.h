/*
 * The hot paths of a call and of its return in C, for processors whose hooks are not written in assembly: what
 * x86_64/entry.inc does, by the same rules, for calls of functions that are not copied. Each says whether it did all
 * there is to do. What is new or unusual is left to the slow paths (slow_paths.h), and nothing was done then.
 *
 * A signal may come between any two instructions, as entry.S says. So a record is filled in before it becomes the
 * top, and looked at again then; counts are stored in the order that layout.h draws, which barriers keep. Other threads
 * read nothing but the trace.
 */
#ifndef UMBRA_HOOKS_FAST_PATHS_H
#define UMBRA_HOOKS_FAST_PATHS_H

#include "hooks/gap.h"
#include "hooks/thread.h"
#include "hooks/tree.h"
#include "trace/image_manifest.h"

/* What stands before it in the source is stored before what stands behind. */
#define BARRIER() __asm__ volatile("" : : : "memory")

static inline uint32_t fast_function(uintptr_t body)
{
    const struct image_header *image =
        (const struct image_header *)(body + (uintptr_t) * (const int32_t *)(body + STUB_HEADER_DISTANCE));

    return image->first_function + *(const uint32_t *)(body + STUB_INDEX);
}

/* The context of a call out of `caller`: by the hints, or by the table. Null: it is new. */
static inline struct trace_node *fast_context(struct thread *thread, const uintptr_t *slot, uintptr_t body,
                                              const struct trace_node *caller)
{
    uint32_t parent = caller->context, function = fast_function(body);
    uintptr_t site = *slot;
    uint32_t offset = (uint32_t)((uintptr_t)slot ^ site ^ body) & (HINTS_SIZE - 4);
    struct trace_node *node =
        (struct trace_node *)(thread->trace + (uintptr_t)thread->hints[offset / 4] * TRACE_UNIT);

    return node->parent == parent && node->function == function && node->site == site
               ? node
               : tree_find(thread, caller, (uintptr_t)slot, site, body, function);
}

/* Makes the record above the top that of a call of `node`; its t0 is still to come. Null: there is none. */
static inline struct record *fast_record(struct thread *thread, struct trace_node *node, const uintptr_t *slot,
                                         uintptr_t body)
{
    struct record *record = thread->top + 1;
    uint64_t calls;

    if (record->slot == SLOT_PARKED)
        return NULL;
    do {
        record->slot = (uintptr_t)slot + SLOT_BIAS;
        record->node = node;
        record->ret = *slot;
        record->body = body;
        calls = node->calls + 1;
        record->mark = calls;
        BARRIER();
        thread->top = record;
        BARRIER();
    } while (record->slot != (uintptr_t)slot + SLOT_BIAS); /* used by a handler before it became the top */
    node->calls = calls;
    return record;
}

static inline uint64_t fast_time(const struct thread *thread)
{
    return ticks_now() - thread->stopped;
}

/* While a process is recorded, with the timing that is its session's. Where a call goes on: its record's thunk, or the body itself (*is_thunk). 0: by the slow path. */
static inline uintptr_t fast_entry(uintptr_t *slot, uintptr_t body, bool is_adaptive, bool *is_thunk)
{
    struct thread *thread = thread_current();
    struct trace_node *node;
    struct record *record;
    uint32_t number;

    if (!thread || (uintptr_t)slot - (uintptr_t)thread->stack_low >= (uintptr_t)thread->stack_size ||
        thread->top->slot <= (uintptr_t)slot + SLOT_BIAS)
        return 0;
    node = fast_context(thread, slot, body, thread->top->node);
    if (!node || (is_adaptive && node->function & TRACE_FUNCTION_TIMED))
        return 0;
    if (is_adaptive && node->function & TRACE_FUNCTION_LEAF) {
        if ((int32_t)((uint32_t)node->calls + (uint32_t)node->passed + 1 - node->next) >= 0)
            return 0;
        node->passed++;
        *is_thunk = false;
        return body;
    }
    record = fast_record(thread, node, slot, body);
    if (!record)
        return 0;
    *is_thunk = true;
    number = (uint32_t)node->calls;
    if (!is_adaptive) {
        record->t0 = fast_time(thread);
        return (uintptr_t)record_thunk(record);
    }
    if ((int32_t)(number - node->next) >= 0) {
        if (node->gap) {
            record->weight = gap_take(node, number);
            record->t0 = fast_time(thread);
            return (uintptr_t)record_thunk(record);
        }
        node->next = number + TIMING_NEVER;
    }
    record->t0 = ((const struct trace_header *)thread->trace)->tick;
    return (uintptr_t)record_thunk(record);
}

static inline void fast_count_exit(struct thread *thread, struct record *record)
{
    struct trace_node *node = record->node;
    uint64_t exits = node->exits + 1;

    __atomic_store_n(&record->slot, ~exits, __ATOMIC_RELAXED); /* at once: half of it would be another number */
    BARRIER();
    node->exits = exits;
    BARRIER();
    thread->top = record - 1;
}

/* The call of this record has returned. False: the slow path is to count it. */
static inline bool fast_exit(struct record *record, bool is_adaptive)
{
    struct thread *thread = thread_current();
    uint64_t ticks;
    uint32_t clock;

    if (!thread || thread->top != record)
        return false;
    if (is_adaptive && record->t0 & TRACE_TICK_FLAG) {
        if (record->t0 != ((const struct trace_header *)thread->trace)->tick)
            return false;
        fast_count_exit(thread, record);
        return true;
    }
    ticks = ticks_now();
    clock = (uint32_t)ticks;
    ticks -= thread->stopped + record->t0;
    if ((int64_t)ticks < 0) /* a handler's slow path came after the clock was read */
        return false;
    record->node->ticks += is_adaptive ? gap_ticks(ticks, record->weight) : ticks;
    if (is_adaptive)
        gap_adapt(record->node, ticks, clock);
    fast_count_exit(thread, record);
    return true;
}

#endif
