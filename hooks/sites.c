/*
 * Calls in copies that count themselves, where they are not as usual: the first from a place, those
 * that are to be timed, frames deeper than the shadow goes yet, frames that came otherwise.
 */
#include "hooks/frames.h"
#include "hooks/invocation.h"
#include "hooks/links.h"
#include "hooks/session.h"
#include "hooks/slow_paths.h"
#include "hooks/stack.h"
#include "hooks/tree.h"
#include "trace/image_manifest.h"

#define CALL_SIZE 5
#define SAVED_R11 80 /* bytes below the stack pointer: linux/sites.S */

/* A call in a copy that comes here. */
struct site_call {
    struct thread *thread;
    const struct frame_site *site;
    uint64_t slot;    /* of the call */
    uint64_t own;     /* of the frame that makes it */
    uint64_t at;      /* address of the call itself */
    uint64_t ret;     /* that it is to return to */
    uint64_t callee;  /* the copy that it leads to */
    uint64_t pointer; /* the stack pointer where it is made */
    uint64_t pointee; /* of a call by a pointer: what it leads to */
};

/*
 * A frame whose word is not of its function: it began while nothing was recorded, or in a parent.
 * Who called it is whoever is waiting now.
 */
static struct trace_links *adopt(const struct site_call *call)
{
    struct thread *thread = call->thread;
    const struct frame_key *key =
        (const struct frame_key *)((uint64_t)call->site + (uint64_t)call->site->self);
    struct trace_node *caller, *node;
    bool is_jump;

    if (record_slot(thread->own.top) == call->own &&
        thread->own.top->node->function == frame_function(key))
        return links_of(thread, thread->own.top->node, key);
    caller = frame_noted_caller(thread, call->own, &is_jump);
    if (!caller)
        caller = thread->own.top->node;
    node = tree_child(thread, caller, *(const uint64_t *)call->own, frame_function(key));
    return node ? links_of(thread, node, key) : 0;
}

static struct trace_links *own_links(const struct site_call *call)
{
    const struct frame_key *key =
        (const struct frame_key *)((uint64_t)call->site + (uint64_t)call->site->self);
    uint64_t *word = frame_word(call->thread, call->own);
    struct trace_links *links = frame_links_in(*word);

    if (links && !(*word & FRAME_OUT_BITS) && links->key == key->key)
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
    bool is_jump = call->site->flags & FRAME_SITE_TAIL;
    struct trace_node *node;
    struct trace_links *links;

    if (link->callee & 1)
        return (struct trace_node *)(link->callee - 1);
    if (link->callee)
        return links_node(thread, (const struct trace_links *)link->callee);
    node = frame_child(thread, links_node(thread, from), is_jump, call->ret, key);
    if (!node)
        return 0;
    if (links_is_leaf(node)) {
        link->callee = (uint64_t)node | 1;
        return node;
    }
    links = links_of(thread, node, key);
    link->callee = (uint64_t)links;
    return links ? node : 0;
}

static struct destination go_on(const struct site_call *call)
{
    return (struct destination){call->at, false};
}

/* A timed call has a record and a thunk, as any other. */
static struct destination begin_timed(const struct site_call *call, struct trace_node *node)
{
    struct record *record = slow_path_push(call->thread, call->slot);

    if (!record)
        return go_on(call);
    *(uint64_t *)call->slot = call->ret;
    invocation_begin(record, node, call->ret, call->callee, call->slot, call->thread->now);
    stack_note(call->thread, call->slot);
    return (struct destination){record_thunk(record), true};
}

static struct destination count_call(const struct site_call *call)
{
    struct thread *thread = call->thread;
    struct trace_links *from = own_links(call);
    struct trace_link *link = from ? links_at(thread, from, call->site->link) : 0;
    struct trace_node *node = link ? callee_of(call, from, link) : 0;
    uint64_t *word = frame_word(thread, call->slot);
    struct destination destination = go_on(call);

    *word = 0;
    if (!node) {
        thread->entry->dropped++;
        return destination;
    }
    link_hand_on(link, node);
    if (!(call->site->flags & FRAME_SITE_TAIL) && !session.counts_only &&
        invocation_is_chosen(node, links_calls(node) + 1))
        destination = begin_timed(call, node);
    if (!destination.is_thunk)
        links_count(node);
    link_arm(link, node);
    if (!links_is_leaf(node))
        *word = link->callee;
    return destination;
}

/* What a site by a pointer has counted of calls to this target is handed on. The function that is
   entered arms the link anew (frames.c). */
static void hand_on_target(const struct site_call *call, struct pointer_links *site)
{
    for (unsigned i = 0; site && i < 2; i++) {
        struct trace_link *link = &site->links[i];

        if (site->targets[i] == call->pointee && link->callee)
            link_hand_on(link, links_node(call->thread, (const struct trace_links *)link->callee));
    }
}

static struct destination note_call(const struct site_call *call)
{
    struct trace_links *from = own_links(call);
    bool is_jump = call->site->flags & FRAME_SITE_TAIL;
    uint64_t *word = frame_word(call->thread, call->slot);

    if (!from)
        return go_on(call);
    *word = (uint64_t)from | (is_jump ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT);
    if (call->site->flags & FRAME_SITE_POINTER) {
        hand_on_target(call,
                       (struct pointer_links *)links_at(call->thread, from, call->site->link));
        *word |= FRAME_OUT_LINKED;
        word[-1] = call->site->link;
        word[-2] = call->pointee;
    }
    call->thread->frames->note = call->slot + sizeof(uint64_t);
    return go_on(call);
}

/* The callee's stub leads to the hook, which finds out all by itself. */
static struct destination go_by_stub(const struct site_call *call)
{
    const struct frame_key *key = frame_key_before(call->callee);
    struct destination destination = {0};

    if (call->site->flags & FRAME_SITE_OUT)
        return go_on(call);
    destination.address = (uint64_t)key + (uint64_t)key->body - STUB_FRAME_SIZE;
    if (!(call->site->flags & FRAME_SITE_TAIL)) {
        *(uint64_t *)call->slot = call->ret;
        destination.is_thunk = DESTINATION_IN_CALL;
    }
    return destination;
}

static uint64_t branch_target(uint64_t at)
{
    return at + CALL_SIZE + (uint64_t) * (const int32_t *)(at + 1);
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
        .pointer = pointer,
        .pointee = *(const uint64_t *)(pointer - SAVED_R11),
        .slot = is_jump ? pointer : pointer - sizeof(uint64_t),
        .own = (site->flags & FRAME_SITE_RBP ? frame : pointer) + (uint64_t)site->own,
        .at = (uint64_t)site + (uint64_t)site->call,
    };
    struct destination destination;

    if (session_is_paused() || session.state != SESSION_RUNNING)
        return go_on(&call);
    call.ret = call.at + CALL_SIZE;
    if (!(site->flags & FRAME_SITE_OUT))
        call.callee = branch_target(call.at);
    call.thread =
        slow_path_enter((uint64_t *)call.slot, __builtin_frame_address(0), session_ticks());
    if (!call.thread)
        return go_on(&call);
    if (!session.is_adaptive || !slow_path_on_own_stack(call.thread, (uint64_t *)call.slot) ||
        !call.thread->own.ordered || !frames_cover(call.thread, call.slot) ||
        !frames_has_word(call.thread, call.own)) {
        destination = go_by_stub(&call);
    } else {
        invocations_unwind(call.thread, call.slot, 0, call.thread->now);
        destination = site->flags & FRAME_SITE_OUT ? note_call(&call) : count_call(&call);
    }
    thread_publish(call.thread);
    return destination;
}
