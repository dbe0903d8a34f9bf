#include "hooks/slow_paths.h"

#include "hooks/agent.h"
#include "hooks/cover.h"
#include "hooks/events.h"
#include "hooks/frames.h"
#include "hooks/generated.h"
#include "hooks/guard.h"
#include "hooks/hook_word.h"
#include "hooks/interrupted.h"
#include "hooks/invocation.h"
#include "hooks/live_calls.h"
#include "hooks/modules.h"
#include "hooks/session.h"
#include "hooks/stack.h"
#include "hooks/system.h"
#include "hooks/times.h"
#include "hooks/tree.h"
#include "thunkstash/pages.h"
#include "trace/image_manifest.h"

#define NEAR 65536 /* bytes within which a frame on a foreign stack is taken for the caller's */

extern void umbra_pass(void) __attribute__((visibility("hidden")));

static struct image_header *image_of(uint64_t body)
{
    return (
        struct image_header *)(uintptr_t)(body +
                                          (uint64_t) *
                                              (int32_t *)(uintptr_t)(body + STUB_HEADER_DISTANCE));
}

static uint32_t function_of(uint64_t body)
{
    return image_of(body)->first_function + *(uint32_t *)(uintptr_t)(body + STUB_INDEX);
}

FROM_ASSEMBLY void *umbra_first_call(uint64_t body)
{
    struct image_header *image = image_of(body);
    struct guard guard;
    void *hook = NULL;

    if (!agent_begun() || image->version != IMAGE_VERSION)
        return (void *)umbra_pass;
    thread_begin_in_child(); /* an image is noted in the trace, and the parent's is not here */
    guard = guard_take();
    if (session.state == SESSION_RUNNING)
        hook = session_entry_hook();
    if (hook && !image->first_function) {
        module_register(image);
        cover_bind(image);
    }
    if (image->flags & IMAGE_COUNTS_NO_CALLS)
        hook = NULL;
    if (hook || !image->first_function || image->flags & IMAGE_COUNTS_NO_CALLS)
        hook_word_bind(image, hook); /* else it is the trace's word, bound already */
    if (image->flags & IMAGE_COUNTS_NO_CALLS)
        hook = cover_watch(image);
    guard_release(guard);
    return hook && !session_is_paused() ? hook : (void *)umbra_pass;
}

bool slow_path_on_own_stack(const struct thread *thread, const uintptr_t *slot)
{
    return (uintptr_t)slot - thread->own_low < thread->own_size && thread->own.top;
}

/* The frame of the slow path under way shows that it is no more. */
static bool is_frame_gone(const struct thread *thread)
{
    uint64_t found;

    return !thread->busy_frame ||
           (pages_read(thread->busy_frame, &found) && found != thread->busy_return);
}

/*
 * A slow path that was left by longjmp out of a signal handler holds nothing but its mark. A
 * handler that interrupts it may have a stack of its own, which lies above; the kernel knows. Where
 * stacks are known to lie within the own one, a handler may also have switched to another of them.
 */
static bool is_abandoned(const struct thread *thread, const uintptr_t *slot)
{
    if ((uintptr_t)slot == thread->busy_slot)
        return true;
    if ((uintptr_t)slot < thread->busy_slot ||
        slow_path_on_own_stack(thread, slot) !=
            slow_path_on_own_stack(thread, (const uintptr_t *)(uintptr_t)thread->busy_slot))
        return false;
    return thread->own.ordered ? !system_on_signal_stack((uintptr_t)slot) ||
                                     system_on_signal_stack(thread->busy_slot)
                               : is_frame_gone(thread);
}

static struct destination pass(uint64_t body)
{
    return (struct destination){body, false};
}

static void suspend(struct thread *thread, const uintptr_t *slot, const uintptr_t *frame,
                    uint64_t ticks)
{
    thread_suspend(thread, (uintptr_t)slot, ticks);
    thread->busy_return = frame[1];
    thread->busy_frame = (uintptr_t)&frame[1];
}

/* A call of a thread that has no state is counted as skipped. A child that has yet to begin its own
   trace has its parent's header, and counts nothing. */
static void count_as_skipped_outside(void)
{
    if (session.state == SESSION_RUNNING && !guard_forked())
        __atomic_fetch_add(&session.header->skipped, 1, __ATOMIC_RELAXED);
}

/* A signal's handler, amid a slow path or while its thread's state is made. */
static void count_as_skipped(struct thread *thread)
{
    if (thread->entry)
        thread->entry->skipped++;
    else if (thread_is_in_the_making(thread))
        count_as_skipped_outside();
}

struct thread *slow_path_enter(uintptr_t *slot, const uintptr_t *frame, uint64_t ticks,
                               bool is_call)
{
    struct thread *thread = thread_current();

    if (session.state != SESSION_RUNNING)
        return NULL;
    if (!thread || !thread->begun)
        thread = thread_begin();
    if (!thread) {
        count_as_skipped_outside();
        return NULL;
    }
    if (thread->busy && !is_abandoned(thread, slot)) {
        if (is_call)
            count_as_skipped(thread);
        return NULL;
    }
    suspend(thread, slot, frame, ticks);
    if (thread->sampler_waits)
        thread_take_samples(thread);
    return thread;
}

/* On a stack without order: the youngest live record of a frame right above the slot. */
struct caller_search {
    uint64_t slot;
    struct record *found;
};

static void consider_caller(struct record *record, void *with)
{
    struct caller_search *search = with;

    if (record_is_live(record) && record_slot(record) > search->slot &&
        record_slot(record) - search->slot < NEAR &&
        (!search->found || record->slot < search->found->slot))
        search->found = record;
}

static bool is_caller(const struct record *record, uint64_t slot)
{
    return record && record_is_live(record) && record_slot(record) > slot &&
           record_slot(record) - slot < NEAR;
}

static struct record *caller_on_other_stack(struct thread *thread, uint64_t slot)
{
    struct caller_search search = {slot, NULL};

    if (is_caller(thread->other.top, slot))
        return thread->other.top;
    stash_each(&thread->other, consider_caller, &search);
    if (thread->own.first_block && !thread->own.ordered)
        stash_each(&thread->own, consider_caller, &search);
    return search.found;
}

static struct trace_node *context_of_caller(const struct thread *thread,
                                            const struct record *caller)
{
    return caller ? caller->node : thread->root;
}

struct trace_node *slow_path_context_elsewhere(struct thread *thread, uint64_t stack_pointer)
{
    return context_of_caller(thread, caller_on_other_stack(thread, stack_pointer));
}

struct record *slow_path_record_of(struct thread *thread, uintptr_t *slot, uint64_t own)
{
    struct record *record = slow_path_on_own_stack(thread, slot) && thread->own.ordered
                                ? thread->own.top
                                : caller_on_other_stack(thread, own - sizeof(own));

    return record && record_slot(record) == own ? record : NULL;
}

/* A record from the stash of foreign stacks. */
static struct record *push_other(struct thread *thread)
{
    if (!thread->other_begun) {
        thread->other_begun = stash_begin(&thread->other, false, session.number, thread->root);
        if (!thread->other_begun)
            return NULL;
    }
    if (!thread->other.free)
        invocations_collect(thread, thread->now, true);
    return stash_push(&thread->other, NULL);
}

/*
 * The function was entered by a jump out of an invocation of this thread, whose thunk is where it
 * will return to: that invocation ends, and its record serves the new one. Its context is below
 * that of the function that jumped; in a chain of jumps, below that of the first, so that a loop of
 * tail calls does not grow the tree.
 *
 * Control then goes to the body, not through the thunk, whose call was made already: a second one
 * would have no return, and the processor, which foretells returns from calls, would be wrong about
 * all those of the callers.
 */
static bool tail_call(struct thread *thread, struct record *record, uint64_t body)
{
    struct trace_node *node = tree_child(thread, tree_tail_caller(thread, record->node),
                                         record->ret | TRACE_SITE_TAIL, function_of(body));
    uint64_t slot = record_slot(record);
    struct timed_call timed = {0};

    if (!node)
        return false;
    if (times_are_of(record))
        timed = times_leave(thread, record, node);
    invocation_end(thread, record, thread->now, true);
    invocation_begin(record, node, record->ret, body, slot, thread->now);
    if (timed.context)
        times_carry(thread, record, timed);
    event_entry(thread, node, thread->now);
    return true;
}

/* Does on the way what tail_call does, for a context that is known, when no clock has to be read.
 */
static bool tail_call_at_once(const uintptr_t *slot, uint64_t body)
{
    struct thread *thread = thread_current();
    struct record *top = thread ? thread->top : NULL;
    struct trace_node *node;

    if (!top || times_are_of(top) || record_slot(top) != (uintptr_t)slot ||
        *slot != record_thunk(top) + THUNK_RETURN)
        return false;
    node = tree_find(thread, tree_tail_caller(thread, top->node), (uintptr_t)slot,
                     top->ret | TRACE_SITE_TAIL, body, function_of(body));
    return node && !times_has(node) && invocation_replace(top, node);
}

static struct destination count_as_dropped(struct thread *thread, uint64_t body)
{
    thread->entry->dropped++;
    return pass(body);
}

/* A call out of the context `from`. */
static struct destination begin(struct thread *thread, struct record *record,
                                struct trace_node *from, uintptr_t *slot, uint64_t body)
{
    const struct record *chained = record_of_return(*slot);
    uint64_t site = chained ? chained->ret | TRACE_SITE_TAIL : *slot;
    struct trace_node *node;

    if (!chained && !generated_site(thread, slot, thread->frame, image_of(body), &site)) {
        thread->entry->skipped++;
        return pass(body);
    }
    node = tree_child(thread, from, site, function_of(body));
    if (!node)
        return count_as_dropped(thread, body);
    invocation_begin(record, node, *slot, body, (uintptr_t)slot, thread->now);
    event_entry(thread, node, thread->now);
    return (struct destination){record_thunk(record), true};
}

struct call {
    struct thread *thread;
    uint64_t slot;
};

static bool end_if_over(struct record *record, void *with)
{
    const struct call *call = with;

    return invocation_end_if_over(call->thread, record, call->slot);
}

/* The frame of a copied body that had this slot has ended by a jump to the function. */
static struct destination begin_jumped_to(struct thread *thread, struct record *record,
                                          struct trace_node *from, const uintptr_t *slot,
                                          uint64_t body)
{
    struct trace_node *node = tree_child(thread, tree_tail_caller(thread, from),
                                         *slot | TRACE_SITE_TAIL, function_of(body));

    if (!node)
        return count_as_dropped(thread, body);
    invocation_begin(record, node, *slot, body, (uintptr_t)slot, thread->now);
    event_entry(thread, node, thread->now);
    return (struct destination){record_thunk(record), true};
}

struct record *slow_path_push(struct thread *thread, uint64_t slot)
{
    struct call call = {thread, slot};
    struct reclaim reclaim = {end_if_over, &call};
    struct record *record = stash_push(&thread->own, &reclaim);

    if (record)
        note_keep(record);
    return record;
}

/* A copy above the newest records has called since they began: they are over. */
static void unwind_below_note(struct thread *thread, uint64_t slot)
{
    uint64_t noted = frame_noted_slot(thread);

    if (noted >= slot && noted != NO_NOTE)
        invocations_unwind(thread, noted, slot, thread->now);
}

/* frame: the context of the call, if it has no record. */
static void note_depth(struct thread *thread, const uintptr_t *slot, struct trace_node *frame)
{
    struct live_call call =
        frame ? live_call_of_frame(thread, (uintptr_t)slot, frame) : live_call_of_top(thread);

    stack_note(thread, (uintptr_t)slot, &call);
}

static struct destination entry_on_own_stack(struct thread *thread, uintptr_t *slot, uint64_t body)
{
    struct stash *stash = &thread->own;
    struct record *top, *record;
    struct trace_node *noted, *interrupted;
    struct destination destination;
    bool is_jump;

    invocations_unwind(thread, (uintptr_t)slot, (uintptr_t)slot, thread->now);
    top = stash->top;
    if (record_slot(top) == (uintptr_t)slot) {
        if (*slot == record_thunk(top) + THUNK_RETURN) {
            if (!tail_call(thread, top, body))
                return count_as_dropped(thread, body);
            if (frame_is_body(body))
                frame_begin(thread, top, (uintptr_t)slot, body);
            return pass(body);
        }
        invocations_unwind(thread, (uintptr_t)slot + 1, (uintptr_t)slot, thread->now);
    }
    unwind_below_note(thread, (uintptr_t)slot);
    if (frame_is_body(body) && frame_enter(thread, slot, body, &noted)) {
        note_depth(thread, slot, noted);
        return pass(body);
    }
    top = stash->top;
    noted = frame_noted_caller(thread, (uintptr_t)slot, &is_jump);
    interrupted = session.is_adaptive ? interrupted_context(thread, slot) : NULL;
    record = slow_path_push(thread, (uintptr_t)slot);
    if (!record) {
        thread->entry->skipped++;
        return pass(body);
    }

    destination = is_jump ? begin_jumped_to(thread, record, noted, slot, body)
                          : begin(thread, record,
                                  interrupted ? interrupted
                                  : noted     ? noted
                                              : top->node,
                                  slot, body);
    if (destination.is_thunk) {
        note_depth(thread, slot, NULL);
        if (frame_is_body(body))
            frame_begin(thread, record, (uintptr_t)slot, body);
    } else {
        note_restore(thread, record);
        stash_pop(stash);
    }
    return destination;
}

/* A record of this thread's that is one of those without order. */
static bool is_unordered(struct thread *thread, const struct record *record)
{
    const struct stash *owner = record_owner(record);

    return owner == &thread->other || (owner == &thread->own && !owner->ordered);
}

/*
 * A signal handler whose stack lies within the own one, say in an array of a function: below it is
 * what it has interrupted, and will go on.
 */
static bool is_on_stack_of_order(const struct thread *thread, const uintptr_t *slot)
{
    struct record *top = thread->own.top;
    bool is_top_over;

    if (!slow_path_on_own_stack(thread, slot))
        return false;
    is_top_over = record_slot(top) > (uintptr_t)slot || *slot == record_thunk(top) + THUNK_RETURN ||
                  !invocation_may_go_on((struct thread *)thread, top, (uintptr_t)slot);
    return is_top_over || !system_on_signal_stack((uintptr_t)slot);
}

static struct destination entry_on_other_stack(struct thread *thread, uintptr_t *slot,
                                               uint64_t body)
{
    struct record *record = record_of_return(*slot), *caller;
    struct destination destination;

    if (record && record_slot(record) == (uintptr_t)slot && is_unordered(thread, record) &&
        record_session(record) == session.number)
        return tail_call(thread, record, body) ? pass(body) : count_as_dropped(thread, body);
    record = push_other(thread);
    if (!record) {
        thread->entry->skipped++;
        return pass(body);
    }
    caller = caller_on_other_stack(thread, (uintptr_t)slot);
    record->below = caller;
    destination = begin(thread, record, context_of_caller(thread, caller), slot, body);
    if (destination.is_thunk)
        thread->other.top = record;
    else
        stash_free(&thread->other, record);
    return destination;
}

FROM_ASSEMBLY struct destination umbra_slow_entry(uintptr_t *slot, uint64_t body)
{
    struct thread *thread;
    struct destination destination;

    if (session_is_paused() && !guard_forked()) /* a parent that is gone stays paused */
        return pass(body);
    if (frame_is_body(body) && frame_check_count(thread_current(), slot, body))
        return pass(body);
    if (tail_call_at_once(slot, body))
        return pass(body);
    thread = slow_path_enter(slot, __builtin_frame_address(0), session_ticks(), true);

    if (!thread)
        return pass(body);
    thread->frame = *(const uintptr_t *)__builtin_frame_address(0);
    destination = is_on_stack_of_order(thread, slot) ? entry_on_own_stack(thread, slot, body)
                                                     : entry_on_other_stack(thread, slot, body);
    thread_publish(thread);
    return destination;
}

static void exit_on_own_stack(struct thread *thread, struct record *record)
{
    invocations_unwind_above(thread, record, thread->now);
    invocation_end(thread, record, thread->now, true);
    note_restore(thread, record);
    stash_pop(&thread->own);
}

static void exit_on_other_stack(struct thread *thread, struct record *record)
{
    struct record *caller = record->below;

    if (!is_caller(caller, record_slot(record)))
        caller = NULL;
    invocation_end(thread, record, thread->now, true);
    stash_free(record_owner(record), record);
    thread->other.top = caller;
}

static bool is_called_from(const struct thread *thread, const struct trace_node *node,
                           const struct trace_node *caller)
{
    while (node != thread->root && node != caller && node->parent != caller->context)
        node = tree_parent(thread, node);
    return node != thread->root || caller == thread->root;
}

/* The nearest parked one above the slot. */
static void consider_parked(struct record *record, void *with)
{
    struct caller_search *search = with;

    if (record_is_parked(record) && record->parked > search->slot &&
        (!search->found || record->parked < search->found->parked))
        search->found = record;
}

/*
 * A parked invocation returns, so its callers are live, too, and stacks lie within the own stack:
 * where a call is says nothing about which others are over. From now on each call has a record that
 * is used again when it has returned, or its slot was overwritten; each takes the slow path, as on
 * other stacks.
 */
static void lose_order(struct thread *thread, struct record *returned)
{
    struct caller_search search = {returned->parked, NULL};

    if (thread->own.ordered)
        stash_lose_order(&thread->own);
    for (struct record *record = returned; record && record_is_parked(record);
         record = record->below)
        invocation_revive(thread, record);
    if (!returned->below) { /* it was parked in its hook */
        stash_each(&thread->own, consider_parked, &search);
        if (search.found && is_called_from(thread, returned->node, search.found->node))
            lose_order(thread, search.found);
        returned->below = search.found;
    }
}

/* Of a call with its return address in `own`, which has returned with the true one in `slot`. */
static bool is_return(uint64_t own, const uintptr_t *slot)
{
    return RETURN_MAY_MOVE || own == (uintptr_t)slot;
}

FROM_ASSEMBLY void umbra_slow_exit(struct record *record, uintptr_t *slot)
{
    struct thread *thread = thread_current();
    uint64_t ticks = session_ticks(), clock = times_are_of(record) ? ticks_now() : 0;

    if (session.state != SESSION_RUNNING)
        return;
    if (!thread || !thread->begun || record_session(record) != session.number) {
        if (thread && thread->entry && thread->begun == session.number)
            thread->entry->inherited++;
        return;
    }
    if (thread->busy && !is_abandoned(thread, slot)) {
        invocation_end_elsewhere(record, ticks - thread->stopped);
        return;
    }
    if (record_owner(record) != &thread->own && record_owner(record) != &thread->other) {
        invocation_end_elsewhere(record, ticks - thread->stopped);
        return;
    }
    suspend(thread, slot, __builtin_frame_address(0), ticks);
    thread->times.clock = clock;
    if (record_owner(record) == &thread->own && record_is_parked(record) &&
        is_return(record->parked, slot))
        lose_order(thread, record);
    if (is_unordered(thread, record))
        exit_on_other_stack(thread, record);
    else if (record_is_live(record) && is_return(record_slot(record), slot))
        exit_on_own_stack(thread, record);
    thread_publish(thread);
}
