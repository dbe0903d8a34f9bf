/*
 * Copied bodies, where the hot path of linux/copies.S does not know the way: a new context, a call
 * that is to be timed, a new depth of the stack, frames that were left without a return, jumps.
 */
#include "hooks/generated.h"
#include "hooks/guard.h"
#include "hooks/invocation.h"
#include "hooks/session.h"
#include "hooks/shadow.h"
#include "hooks/slow_paths.h"
#include "hooks/live_calls.h"
#include "hooks/stack.h"
#include "hooks/tree.h"
#include "trace/image_manifest.h"

struct entry {
    uint64_t slot, ret, key;
    uint64_t site; /* ret, or where the code of a generator was called from (generated.h) */
    uint32_t function;
};

static struct entry read_entry(const uint64_t *slot, uint64_t key)
{
    uint64_t body = key + (uint64_t) * (const int32_t *)(key + COPY_BODY);

    return (struct entry){(uint64_t)slot, *slot, key, *slot, slow_path_function(body)};
}

/* Whether the hook of entry.S is to give it a thunk: a leaf that is to be timed, or is in the chain
   of a new peak of the stack. */
static bool needs_thunk(const struct thread *thread, const struct entry *entry, uint64_t weight)
{
    return entry->function & TRACE_FUNCTION_LEAF &&
           (weight || !session.is_adaptive || entry->slot < thread->peak.lowest);
}

static bool is_chosen(struct trace_node *node)
{
    return session.is_adaptive && invocation_is_chosen(node, node->calls + node->passed + 1);
}

static bool count(struct thread *thread, const struct entry *entry, struct trace_node *node)
{
    uint64_t weight = is_chosen(node);

    if (needs_thunk(thread, entry, weight))
        return false;
    if (entry->function & TRACE_FUNCTION_LEAF) {
        node->passed++;
        return true;
    }
    if (weight)
        weight = invocation_choose(node, node->calls + node->passed + 1);
    shadow_push(thread, entry->slot, node, entry->ret, weight);
    return true;
}

/* The context of the call, which may be one by a jump out of the frame that had this slot. */
static struct trace_node *context_of(struct thread *thread, const struct entry *entry)
{
    struct trace_node *from = slow_path_jumped_from(thread, entry->slot);
    struct shadow_entry *caller;

    if (from)
        return tree_child(thread, tree_tail_caller(thread, from), from->site | TRACE_SITE_TAIL,
                          entry->function);
    caller = shadow_caller(thread, entry->slot);
    return tree_child(thread, caller ? shadow_node(caller) : thread->own.top->node, entry->site,
                      entry->function);
}

/* In a slow path, on the own stack. Returns what umbra_slow_copy_entry does. */
static bool begin(struct thread *thread, const struct entry *entry)
{
    struct trace_node *node;

    invocations_unwind(thread, entry->slot, entry->slot, thread->now);
    if (record_slot(thread->own.top) <= entry->slot) /* the entry hook takes care of it */
        return false;
    if (!shadow_cover(thread, entry->slot))
        return false;
    node = context_of(thread, entry);
    if (!node) {
        thread->entry->dropped++;
        return true;
    }
    tree_hint(thread, node, entry->slot, entry->key);
    if (!count(thread, entry, node))
        return false;
    thread->jump = 0;
    {
        struct live_call top = live_call_of_top(thread);

        stack_note(thread, entry->slot, &top);
    }
    return true;
}

/*
 * A copy is entered; slot: of its return address. Returns whether it may go on: it was counted, or
 * is not to be. Else it goes through the entry hook.
 */
FROM_ASSEMBLY uint64_t umbra_slow_copy_entry(uint64_t *slot, uint64_t key)
{
    const uint64_t *frame = __builtin_frame_address(0);
    struct entry entry;
    struct thread *thread;
    bool is_done = false;

    if (session.state != SESSION_RUNNING || (session_is_paused() && !guard_forked()))
        return true;
    entry = read_entry(slot, key);
    thread = slow_path_enter(slot, frame, session_ticks());
    if (!thread)
        return true;
    /* Where the generator cannot be told, it walks past a frame as ever: that has no thunk. */
    generated_site(thread, slot, *frame, key, &entry.site);
    if (thread->own.ordered && slow_path_on_stack_of_order(thread, slot))
        is_done = begin(thread, &entry);
    thread_publish(thread);
    return is_done;
}

/* The frame at a slot, if its end is to be counted; and the thread's time then. */
static struct shadow_entry *frame_that_ends(struct thread *thread, uint64_t slot)
{
    if (session.state != SESSION_RUNNING || thread->busy)
        return 0;
    thread->now = session_ticks() - thread->stopped;
    return shadow_of_frame(thread, slot);
}

/* A frame in the shadow returns that is timed, began at another tick, or is not the innermost. */
FROM_ASSEMBLY void umbra_slow_copy_exit(uint64_t *slot)
{
    struct thread *thread = thread_current();
    struct shadow_entry *frame = frame_that_ends(thread, (uint64_t)slot);
    uint64_t below;

    if (!frame)
        return;
    if (shadow_is_parked(frame)) {
        shadow_revive(thread, frame);
        slow_path_lose_order(thread);
    }
    below = thread->caller == (uint64_t)slot ? shadow_below(frame) : thread->caller;
    shadow_end(thread, frame, thread->now, true);
    thread->caller = below;
}

/* The innermost frame ends by a jump to a copied function. */
FROM_ASSEMBLY void umbra_slow_copy_jump(uint64_t *slot)
{
    struct thread *thread = thread_current();
    struct shadow_entry *frame = frame_that_ends(thread, (uint64_t)slot);
    uint64_t below;

    if (!frame || session_is_paused()) /* the function's return is taken for the frame's */
        return;
    below = shadow_below(frame);
    shadow_end(thread, frame, thread->now, true);
    thread->jump_node = shadow_node(frame);
    thread->jump = (uint64_t)slot;
    thread->caller = below;
}

/* The frame gets a record, as if it had been called through its thunk. */
static void give_record(struct thread *thread, struct shadow_entry *frame, uint64_t *slot)
{
    struct record *record;
    struct shadow_entry was = *frame;

    invocations_unwind(thread, (uint64_t)slot + 1, (uint64_t)slot, thread->now);
    record = slow_path_push(thread, (uint64_t)slot);
    if (!record)
        return;
    record->ret = record->body = *slot;
    record->node = shadow_node(&was);
    record->t0 = shadow_is_timed(&was) ? was.time : shadow_tick(&was);
    record->weight = shadow_is_timed(&was) ? shadow_weight(&was) : 1;
    record->mark = shadow_node(&was)->calls;
    __atomic_store_n(&record->slot, (uint64_t)slot + SLOT_BIAS, __ATOMIC_RELEASE);
    thread->caller = shadow_below(&was);
    frame->ret = 0;
    *slot = record_thunk(record) + THUNK_RETURN;
}

/* The innermost frame ends by a jump to anything else. */
FROM_ASSEMBLY void umbra_slow_copy_leave(uint64_t *slot)
{
    struct thread *thread;
    struct shadow_entry *frame;

    if (session.state != SESSION_RUNNING)
        return;
    thread = slow_path_enter(slot, __builtin_frame_address(0), session_ticks());
    if (!thread)
        return;
    frame = shadow_of_frame(thread, (uint64_t)slot);
    if (frame && thread->own.ordered)
        give_record(thread, frame, slot);
    else if (frame) /* nobody would find the record by its slot */
        shadow_end(thread, frame, thread->now, true);
    thread_publish(thread);
}
