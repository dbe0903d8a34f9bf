#include "hooks/probes.h"

#include "hooks/agent.h"
#include "hooks/generated.h"
#include "hooks/events.h"
#include "hooks/guard.h"
#include "hooks/hook_word.h"
#include "hooks/invocation.h"
#include "hooks/modules.h"
#include "hooks/session.h"
#include "hooks/stack.h"
#include "hooks/tree.h"
#include "trace/image_manifest.h"

#define NEAR 65536 /* bytes within which a frame on a foreign stack is taken for the caller's */

extern void umbra_pass(void) __attribute__((visibility("hidden")));

static struct image_header *image_of(uint64_t body)
{
    return (struct image_header *)(body + (uint64_t) * (int32_t *)(body + STUB_HEADER_DISTANCE));
}

static uint32_t function_of(uint64_t body)
{
    return image_of(body)->first_function + *(uint32_t *)(body + STUB_INDEX);
}

FROM_ASSEMBLY void *umbra_first_call(uint64_t body)
{
    struct image_header *image = image_of(body);
    struct guard guard;
    void *hook = 0;

    if (!agent_begun() || image->version != IMAGE_VERSION)
        return (void *)umbra_pass;
    guard = guard_take();
    if (session.state == SESSION_RUNNING)
        hook = session_entry_hook();
    if (hook && !image->first_function)
        module_register(image);
    if (hook || !image->first_function) /* else it is the trace's word, bound already */
        hook_word_bind(image, hook);
    guard_release(guard);
    return hook && !session_is_paused() ? hook : (void *)umbra_pass;
}

static bool on_own_stack(const struct thread *thread, const uint64_t *slot)
{
    return (uint64_t)slot - thread->own_low < thread->own_size && thread->own.top;
}

/* A slow path that was left by longjmp out of a signal handler holds nothing but its mark. */
static bool is_abandoned(const struct thread *thread, const uint64_t *slot)
{
    return (uint64_t)slot >= thread->busy_slot &&
           (on_own_stack(thread, slot) ==
            on_own_stack(thread, (const uint64_t *)thread->busy_slot));
}

static struct destination pass(uint64_t body)
{
    return (struct destination){body, false};
}

/* The state to work with, suspended; null if this hook has to pass through. */
static struct thread *enter(uint64_t *slot, uint64_t ticks)
{
    struct thread *thread = thread_current();

    if (session.state != SESSION_RUNNING)
        return 0;
    if (!thread || !thread->begun)
        thread = thread_begin();
    if (!thread) {
        if (session.state == SESSION_RUNNING)
            __atomic_fetch_add(&session.header->skipped, 1, __ATOMIC_RELAXED);
        return 0;
    }
    if (thread->busy && !is_abandoned(thread, slot)) {
        if (thread->entry)
            thread->entry->skipped++;
        return 0;
    }
    thread_suspend(thread, (uint64_t)slot, ticks);
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
    struct caller_search search = {slot, 0};

    if (is_caller(thread->other.top, slot))
        return thread->other.top;
    stash_each(&thread->other, consider_caller, &search);
    return search.found;
}

/* A record from the stash of foreign stacks. */
static struct record *push_other(struct thread *thread)
{
    if (!thread->other_begun) {
        thread->other_begun = stash_begin(&thread->other, false, session.number, thread->root);
        if (!thread->other_begun)
            return 0;
    }
    if (!thread->other.free)
        invocations_collect(thread, thread->now, true);
    return stash_push(&thread->other);
}

static struct trace_node *tail_caller(const struct thread *thread, const struct record *record)
{
    return record->node->site & TRACE_SITE_TAIL ? tree_parent(thread, record->node) : record->node;
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
    struct trace_node *node = tree_child(thread, tail_caller(thread, record),
                                         record->ret | TRACE_SITE_TAIL, function_of(body));
    uint64_t slot = record_slot(record);

    if (!node)
        return false;
    invocation_end(thread, record, thread->now, true);
    invocation_begin(record, node, record->ret, body, slot, thread->now);
    event_entry(thread, node, thread->now);
    return true;
}

/* The same on the way, for a context that is known, when no clock has to be read. */
static bool tail_call_at_once(const uint64_t *slot, uint64_t body)
{
    struct thread *thread = thread_current();
    struct record *top = thread ? thread->top : 0;
    struct trace_node *node;

    if (!top || record_slot(top) != (uint64_t)slot || *slot != record_thunk(top) + THUNK_RETURN)
        return false;
    node = tree_find(thread, tail_caller(thread, top), (uint64_t)slot, top->ret | TRACE_SITE_TAIL,
                     body, function_of(body));
    return node && invocation_replace(top, node);
}

static struct destination count_as_dropped(struct thread *thread, uint64_t body)
{
    thread->entry->dropped++;
    return pass(body);
}

static struct destination begin(struct thread *thread, struct record *record,
                                const struct record *caller, uint64_t *slot, uint64_t body)
{
    struct trace_node *from = caller ? caller->node : thread->root;
    const struct record *chained = record_of_return(*slot);
    uint64_t site = chained ? chained->ret | TRACE_SITE_TAIL : *slot;
    struct trace_node *node;

    if (!chained && !generated_site(thread, slot, thread->frame, body, &site)) {
        thread->entry->skipped++;
        return pass(body);
    }
    node = tree_child(thread, from, site, function_of(body));
    if (!node)
        return count_as_dropped(thread, body);
    invocation_begin(record, node, *slot, body, (uint64_t)slot, thread->now);
    event_entry(thread, node, thread->now);
    return (struct destination){record_thunk(record), true};
}

static struct destination entry_on_own_stack(struct thread *thread, uint64_t *slot, uint64_t body)
{
    struct stash *stash = &thread->own;
    struct record *top, *record;

    invocations_unwind(thread, (uint64_t)slot, thread->now);
    top = stash->top;
    if (record_slot(top) == (uint64_t)slot) {
        if (*slot == record_thunk(top) + THUNK_RETURN) {
            return tail_call(thread, top, body) ? pass(body) : count_as_dropped(thread, body);
        }
        invocations_unwind(thread, (uint64_t)slot + 1, thread->now);
    }
    top = stash->top;
    record = stash_push(stash);
    if (!record) {
        thread->entry->skipped++;
        return pass(body);
    }

    struct destination destination = begin(thread, record, top, slot, body);
    if (destination.is_thunk)
        stack_note(thread, (uint64_t)slot);
    else
        stash_pop(stash);
    return destination;
}

static struct destination entry_on_other_stack(struct thread *thread, uint64_t *slot, uint64_t body)
{
    struct record *record = record_of_return(*slot), *caller;
    struct destination destination;

    if (record && record_slot(record) == (uint64_t)slot && record_owner(record) == &thread->other &&
        record_session(record) == session.number)
        return tail_call(thread, record, body) ? pass(body) : count_as_dropped(thread, body);
    record = push_other(thread);
    if (!record) {
        thread->entry->skipped++;
        return pass(body);
    }
    caller = caller_on_other_stack(thread, (uint64_t)slot);
    record->below = caller;
    destination = begin(thread, record, caller, slot, body);
    if (destination.is_thunk)
        thread->other.top = record;
    else
        stash_free(&thread->other, record);
    return destination;
}

FROM_ASSEMBLY struct destination umbra_slow_entry(uint64_t *slot, uint64_t body)
{
    struct thread *thread;
    struct destination destination;

    if (session_is_paused() && !guard_forked()) /* a parent that is gone stays paused */
        return pass(body);
    if (tail_call_at_once(slot, body))
        return pass(body);
    thread = enter(slot, ticks_now());

    if (!thread)
        return pass(body);
    thread->frame = *(const uint64_t *)__builtin_frame_address(0);
    destination = on_own_stack(thread, slot) ? entry_on_own_stack(thread, slot, body)
                                             : entry_on_other_stack(thread, slot, body);
    thread_publish(thread);
    return destination;
}

static void exit_on_own_stack(struct thread *thread, struct record *record)
{
    invocations_unwind_above(thread, record, thread->now);
    invocation_end(thread, record, thread->now, true);
    stash_pop(&thread->own);
}

static void exit_on_other_stack(struct thread *thread, struct record *record)
{
    struct record *caller = record->below;

    if (!is_caller(caller, record_slot(record)))
        caller = 0;
    invocation_end(thread, record, thread->now, true);
    stash_free(&thread->other, record);
    thread->other.top = caller;
}

FROM_ASSEMBLY void umbra_slow_exit(struct record *record, uint64_t *slot)
{
    struct thread *thread = thread_current();
    uint64_t ticks = ticks_now();

    if (session.state != SESSION_RUNNING || !thread || !thread->begun ||
        record_session(record) != session.number) {
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
    thread_suspend(thread, (uint64_t)slot, ticks);
    if (record_owner(record) == &thread->own) {
        if (record_slot(record) == (uint64_t)slot)
            exit_on_own_stack(thread, record);
    } else {
        exit_on_other_stack(thread, record);
    }
    thread_publish(thread);
}
