/*
 * Calls in copies that count themselves, where they are not as usual: the first from a place, those
 * that are to be timed, frames deeper than the shadow goes yet, frames that came otherwise.
 */
#include "hooks/code_at.h"
#include "hooks/frames.h"
#include "hooks/guard.h"
#include "hooks/live_calls.h"
#include "hooks/pointer_calls.h"
#include "hooks/session.h"
#include "hooks/site_call.h"
#include "hooks/stack.h"
#include "hooks/targets.h"
#include "hooks/thread_slot.h"
#include "trace/image_manifest.h"

#define CALL_SIZE         5
#define POINTER_CALL_SIZE 3    /* call r11 */
#define NEAR_FRAMES       4096 /* bytes of stack that are looked through for a caller */
#define SAVED_R11         80   /* bytes below the stack pointer: linux/x86_64/sites.S */

/* The nearest frame above the slot that has a context of its own, and was called from where that
   says: not above what is known to be waiting. Null: none is near. */
static struct trace_node *nearest_above(const struct thread *thread, uint64_t slot)
{
    uint64_t end = slot + NEAR_FRAMES, top = record_slot(thread->own.top);
    uint64_t noted = frame_noted_slot(thread);

    end = end < top ? end : top;
    if (noted > slot && noted < end)
        end = noted;
    for (slot += sizeof(slot); slot < end && frames_has_word(thread, slot); slot += sizeof(slot)) {
        struct trace_node *node = frame_context_at(thread, slot);

        if (node)
            return node;
    }
    return NULL;
}

/*
 * A frame whose word is not of its function: it began while nothing was recorded, or in a parent.
 * Who called it is whoever is waiting now; what it calls is theirs.
 */
static struct trace_links *adopt(const struct site_call *call)
{
    struct thread *thread = call->thread;
    const struct frame_key *key = call->self;
    struct trace_node *caller;
    bool is_jump;

    if (record_slot(thread->own.top) == call->own &&
        thread->own.top->node->function == frame_function(key))
        return links_of(thread, thread->own.top->node, key);
    caller = nearest_above(thread, call->own);
    if (!caller)
        caller = frame_noted_caller(thread, call->own, &is_jump);
    if (!caller)
        caller = thread->own.top->node;
    return links_of_adopted(thread, caller, key);
}

static struct trace_links *own_links(const struct site_call *call)
{
    uint64_t *word = frame_word(call->thread, call->own);
    struct trace_links *links = frame_links_in(*word);

    if (links && !(*word & FRAME_OUT_BITS) && links->key == call->self->key)
        return links;
    links = adopt(call);
    *word = (uint64_t)links;
    return links;
}

/* The link's context; made if there is none yet. Null: no room. */
static struct trace_node *callee_of(const struct site_call *call, const struct trace_links *from,
                                    struct trace_link *link)
{
    struct thread *thread = call->thread;
    const struct frame_key *key = frame_key_before(call->callee);
    struct trace_node *node;
    struct trace_links *links;

    if (link->callee & 1)
        return (struct trace_node *)(link->callee - 1);
    if (link->callee)
        return links_node(thread, (const struct trace_links *)link->callee);
    node = site_child(call, from, key);
    if (!node)
        return NULL;
    site_note(call, from, link);
    if (links_is_leaf(node)) {
        link->callee = (uint64_t)node | 1;
        return node;
    }
    links = links_of(thread, node, key);
    link->callee = (uint64_t)links;
    return links ? node : NULL;
}

static struct destination count_as_dropped(const struct site_call *call)
{
    *frame_word(call->thread, call->slot) = 0;
    call->thread->entry->dropped++;
    return site_go_on(call);
}

/* What the site's name is bound to: not to this image's own function, or not bound yet. */
static uint64_t bound_elsewhere(const struct site_call *call)
{
    const struct frame_bound_site *bound = (const struct frame_bound_site *)call->site;
    uint64_t target;

    if (!(call->site->flags & FRAME_SITE_BOUND))
        return 0;
    target = *(const uint64_t *)((uint64_t)bound + (uint64_t)bound->slot);
    return target_leads_to(target, frame_key_before(call->callee)) ? 0 : target;
}

static struct destination count_call(struct site_call *call, struct trace_links *from)
{
    struct trace_link *link = links_at(call->thread, from, call->site->link);
    struct trace_node *node;
    uint64_t elsewhere = link && !link->callee ? bound_elsewhere(call) : 0;
    struct destination destination;

    if (elsewhere) {
        site_note_call(call, from);
        return site_go_to(call, elsewhere);
    }
    node = link ? callee_of(call, from, link) : NULL;
    if (!node)
        return count_as_dropped(call);
    destination = site_count(call, from, link, node);
    if (!links_is_leaf(node))
        *frame_word(call->thread, call->slot) = link->callee;
    return call->site->flags & FRAME_SITE_BOUND && !destination.is_thunk
               ? site_go_to(call, call->callee)
               : destination;
}

/* The callee's stub leads to the hook, which finds out all by itself. */
static struct destination go_by_stub(const struct site_call *call)
{
    const struct frame_key *key = frame_key_before(call->callee);

    if (call->site->flags & (FRAME_SITE_OUT | FRAME_SITE_BOUND))
        return site_go_on(call);
    return site_go_to(call, (uint64_t)key + (uint64_t)key->body - STUB_FRAME_SIZE);
}

/* A call out takes the stack to where its caller's frame ends. What it calls is asked for itself.
 */
static void note_depth(const struct site_call *call, const struct trace_links *from,
                       bool is_recorded)
{
    struct thread *thread = call->thread;
    uint64_t lowest = call->node ? call->slot : call->slot + sizeof(uint64_t);
    struct live_call innermost;

    if (is_recorded)
        innermost = live_call_of_top(thread);
    else if (call->node)
        innermost = live_call_of_frame(thread, call->slot, call->node);
    else
        innermost = live_call_of_frame(thread, call->own, links_node(thread, from));
    stack_note(thread, lowest, &innermost);
    frames_tell_depth(thread);
}

/* What the frame has executed up to here, and has not counted itself. */
static uint64_t take_instructions(const struct site_call *call)
{
    struct frame_counts *counts = frame_counts();
    uint64_t sum = 0;

    if (!(call->site->flags & FRAME_SITE_COUNTS))
        return 0;
    for (unsigned i = 0; i < FRAME_CELLS; i++) {
        sum += counts->cells[i];
        counts->cells[i] = 0;
    }
    return sum;
}

/* On a stack without a shadow each call has a record. What is nobody's is lost. */
static void count_instructions_by_record(const struct site_call *call)
{
    uint64_t instructions = take_instructions(call);
    struct record *record =
        instructions ? slow_path_record_of(call->thread, (uintptr_t *)call->slot, call->own) : NULL;
    struct trace_links *links = NULL;

    if (record && record->node->function == frame_function(call->self))
        links = links_of(call->thread, record->node, call->self);
    if (links)
        links->instructions += instructions;
}

static struct destination record_call(struct site_call *call)
{
    struct trace_links *from = own_links(call);
    struct destination destination;

    if (!from)
        return count_as_dropped(call);
    from->instructions += take_instructions(call);
    if (call->site->flags & FRAME_SITE_RETURN)
        return site_go_on(call);
    if (call->site->flags & FRAME_SITE_POINTER)
        destination = pointer_call(call, from);
    else
        destination = call->site->flags & FRAME_SITE_OUT ? site_note_call(call, from)
                                                         : count_call(call, from);
    note_depth(call, from, destination.is_thunk & true);
    return destination;
}

static bool is_by_register(const struct frame_site *site)
{
    return site->flags & (FRAME_SITE_POINTER | FRAME_SITE_BOUND);
}

/* The copy that the site calls. */
static uint64_t copy_called(const struct site_call *call)
{
    const struct frame_bound_site *bound = (const struct frame_bound_site *)call->site;

    return call->site->flags & FRAME_SITE_BOUND
               ? (uint64_t)(bound + 1) + (uint64_t)bound->copy
               : call->at + CALL_SIZE + (uint64_t) * (const int32_t *)(call->at + 1);
}

/*
 * A call in a copy that is not as usual. pointer: the stack pointer there; frame: rbp. Returns
 * where to go on: at the call itself; at a thunk, the stack pointer as it is and the return address
 * in the slot; or at a stub, which is called.
 */
FROM_ASSEMBLY struct destination umbra_slow_site(uint64_t pointer, const struct frame_site *site,
                                                 uint64_t frame)
{
    bool is_jump = site->flags & FRAME_SITE_TAIL;
    struct site_call call = {
        .site = site,
        .self = (const struct frame_key *)((uint64_t)site + (uint64_t)site->self),
        .pointee = *(const uint64_t *)(pointer - SAVED_R11),
        .slot = is_jump ? pointer : pointer - sizeof(uint64_t),
        .own = (site->flags & FRAME_SITE_RBP ? frame : pointer) + (uint64_t)site->own,
        .at = (uint64_t)site + (uint64_t)site->call,
    };
    struct destination destination;

    if ((session_is_paused() && !guard_forked()) || session.state != SESSION_RUNNING)
        return site_go_on(&call); /* but a parent that is gone stays paused */
    call.ret = call.at + (is_by_register(site) ? POINTER_CALL_SIZE : CALL_SIZE);
    if (!(site->flags & FRAME_SITE_OUT))
        call.callee = copy_called(&call);
    call.thread = slow_path_enter((uintptr_t *)call.slot, __builtin_frame_address(0),
                                  session_ticks(), !(site->flags & FRAME_SITE_OUT));
    if (!call.thread)
        return site_go_on(&call);
    if (!session.is_adaptive || !slow_path_on_own_stack(call.thread, (uintptr_t *)call.slot) ||
        !call.thread->own.ordered || !frames_cover(call.thread, call.slot) ||
        !frames_has_word(call.thread, call.own)) {
        count_instructions_by_record(&call);
        destination = go_by_stub(&call);
    } else {
        /* whatever is within the frame that calls is over */
        invocations_unwind(call.thread, call.own, 0, call.thread->now);
        destination = record_call(&call);
    }
    thread_publish(call.thread);
    return destination;
}
