/*
 * Calls in copies that count themselves, where they are not as usual: the first from a place, those
 * that are to be timed, frames deeper than the shadow goes yet, frames that came otherwise.
 */
#include "hooks/code_at.h"
#include "hooks/frames.h"
#include "hooks/further_targets.h"
#include "hooks/guard.h"
#include "hooks/invocation.h"
#include "hooks/lasting.h"
#include "hooks/links.h"
#include "hooks/live_calls.h"
#include "hooks/memory.h"
#include "hooks/modules.h"
#include "hooks/session.h"
#include "hooks/slow_paths.h"
#include "hooks/stack.h"
#include "hooks/targets.h"
#include "hooks/tree.h"
#include "trace/image_manifest.h"

#define CALL_SIZE         5
#define POINTER_CALL_SIZE 3    /* call r11 */
#define NEAR_FRAMES       4096 /* bytes of stack that are looked through for a caller */
#define SAVED_R11         80   /* bytes below the stack pointer: linux/sites.S */
#define LOOK_AFTER        128  /* calls of targets that are not known, and cannot be */
#define LOOK_SOON         4    /* such calls, where they can be */
#define LOOK_FURTHER      1024 /* calls of a target that has no place at its site */

/* A call in a copy that comes here. */
struct site_call {
    struct thread *thread;
    const struct frame_site *site;
    const struct frame_key *self; /* of the function that makes it */
    uint64_t slot;                /* of the call */
    uint64_t own;                 /* of the frame that makes it */
    uint64_t at;                  /* address of the call itself */
    uint64_t ret;                 /* that it is to return to */
    uint64_t callee;              /* the copy that it leads to */
    uint64_t pointee;             /* of a call by a pointer: what it leads to */
    struct trace_node *node; /* the context of the call, once it is counted; null: it leads out */
};

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

/* The context of a call. A jump out of a frame that has none is its caller's call. */
static struct trace_node *child_of(const struct site_call *call, const struct trace_links *from,
                                   const struct frame_key *key)
{
    struct trace_node *node = links_node(call->thread, from);
    bool is_jump = call->site->flags & FRAME_SITE_TAIL;
    bool is_own = (node->function & TRACE_FUNCTION_NUMBER) ==
                  (frame_function(call->self) & TRACE_FUNCTION_NUMBER);
    uint64_t site = is_jump ? frame_return_at(call->slot) : call->ret;

    return session.counts_only ? frame_shared_child(call->thread, node, is_jump && is_own, key)
                               : frame_child(call->thread, node, is_jump && is_own, site, key);
}

/* The link, which has led to nobody yet, counts calls from here. A jump is of no place. */
static void note_site(const struct site_call *call, const struct trace_links *from,
                      const struct trace_link *link)
{
    if (session.counts_only && !(call->site->flags & FRAME_SITE_TAIL))
        link_note_site(call->thread, from, link, call->ret);
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
    node = child_of(call, from, key);
    if (!node)
        return NULL;
    note_site(call, from, link);
    if (links_is_leaf(node)) {
        link->callee = (uint64_t)node | 1;
        return node;
    }
    links = links_of(thread, node, key);
    link->callee = (uint64_t)links;
    return links ? node : NULL;
}

static struct destination go_on(const struct site_call *call)
{
    return (struct destination){call->at, false};
}

static uint64_t base_of(const struct image_header *image)
{
    return (uint64_t)image - image->header_rva;
}

/* The return address of a frame that jumps may be one that a code generator looks for
   (generated.h): unless a copy has made the call. */
static bool may_have_thunk(const struct site_call *call, uint64_t ret)
{
    return !(call->site->flags & FRAME_SITE_TAIL) || code_at(ret - 1).is_copy;
}

/* A timed call has a record and a thunk, as any other. */
static struct destination begin_timed(const struct site_call *call, struct trace_node *node)
{
    bool is_jump = call->site->flags & FRAME_SITE_TAIL;
    uint64_t *slot = (uint64_t *)call->slot, ret = is_jump ? *slot : call->ret;
    struct record *record =
        may_have_thunk(call, ret) ? slow_path_push(call->thread, call->slot) : NULL;

    if (!record)
        return go_on(call);
    *slot = ret;
    invocation_begin(record, node, ret, call->callee, call->slot, call->thread->now);
    if (!links_is_leaf(node))
        links_stop_at_jumps(call->thread, (struct trace_links *)node->passed);
    return (struct destination){record_thunk(record), true | (is_jump ? DESTINATION_BEHIND : 0)};
}

/* The frame that a jump leaves has a record: that is the next one's from here on, and the call is
   counted with it. */
static bool take_over_record(const struct site_call *call, struct trace_node *node)
{
    struct thread *thread = call->thread;
    struct record *record = thread->own.top;

    if (!(call->site->flags & FRAME_SITE_TAIL) || record_slot(record) != call->slot ||
        *(uint64_t *)call->slot != record_thunk(record) + THUNK_RETURN)
        return false;
    invocation_end(thread, record, thread->now, true);
    invocation_begin(record, node, record->ret, call->callee, call->slot, thread->now);
    if (record->weight && !links_is_leaf(node))
        links_stop_at_jumps(thread, (struct trace_links *)node->passed);
    return true;
}

/* The call is one of this context, and counted, by this link from now on. */
static struct destination count_one(struct site_call *call, struct trace_links *from,
                                    struct trace_link *link, struct trace_node *node)
{
    struct destination destination = go_on(call);

    call->node = node;
    link_hand_on(link, node);
    if (call->site->flags & FRAME_SITE_TAIL)
        link_is_jump(from, link);
    if (!take_over_record(call, node)) {
        if (invocation_choose(node, links_calls(node) + 1))
            destination = begin_timed(call, node);
        if (!destination.is_thunk)
            links_count(node);
    }
    link_arm(link, node);
    return destination;
}

/* The call is one of this context, and counted, by this link from now on; no call is timed. */
static struct destination count_in_link(struct site_call *call, struct trace_links *from,
                                        struct trace_link *link, struct trace_node *node)
{
    call->node = node;
    if (call->site->flags & FRAME_SITE_TAIL)
        link_is_jump(from, link);
    link_go_on(call->thread, from, link, node, call->ret);
    if (!take_over_record(call, node))
        link->word++;
    return go_on(call);
}

static struct destination count_by(struct site_call *call, struct trace_links *from,
                                   struct trace_link *link, struct trace_node *node)
{
    return session.counts_only ? count_in_link(call, from, link, node)
                               : count_one(call, from, link, node);
}

static struct destination count_as_dropped(const struct site_call *call)
{
    *frame_word(call->thread, call->slot) = 0;
    call->thread->entry->dropped++;
    return go_on(call);
}

static uint64_t out_of(const struct site_call *call, const struct trace_links *from)
{
    return (uint64_t)from |
           (call->site->flags & FRAME_SITE_TAIL ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT);
}

/* Goes on with the call, which leads out of copies, or may. */
static struct destination note_call(const struct site_call *call, const struct trace_links *from)
{
    *frame_word(call->thread, call->slot) = out_of(call, from);
    call->thread->frames->note = call->slot + sizeof(uint64_t);
    return go_on(call);
}

/* The call is made here, to an address. */
static struct destination go_to(const struct site_call *call, uint64_t address)
{
    if (call->site->flags & FRAME_SITE_TAIL)
        return (struct destination){address, false};
    *(uint64_t *)call->slot = call->ret;
    return (struct destination){address, DESTINATION_IN_CALL};
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
        note_call(call, from);
        return go_to(call, elsewhere);
    }
    node = link ? callee_of(call, from, link) : NULL;
    if (!node)
        return count_as_dropped(call);
    destination = count_by(call, from, link, node);
    if (!links_is_leaf(node))
        *frame_word(call->thread, call->slot) = link->callee;
    return call->site->flags & FRAME_SITE_BOUND && !destination.is_thunk ? go_to(call, call->callee)
                                                                         : destination;
}

static bool is_in(const struct image_header *image, uint64_t address)
{
    return address - base_of(image) < image->image_size;
}

/* What the site calls can be gone to at once: it is there as long as the site is. */
static bool outlasts(const struct site_call *call, uint64_t target)
{
    return is_in(frame_image(call->self), target) || lasting_image_has(target);
}

/* A link for a target that is new to a site: its context, or, of what is not copied, null with
   link->callee set. Of what is not to be known yet, that is 0. */
static struct trace_node *meet(const struct site_call *call, struct trace_links *from,
                               struct trace_link *link)
{
    const struct frame_key *key = target_key_if_code(call->pointee);
    const struct image_header *own = frame_image(call->self);
    bool is_same = is_in(own, call->pointee);
    struct trace_links *links;
    struct trace_node *node;

    if (!key && is_same && !code_is_entry(own, call->pointee)) /* it may be what binds a name */
        return NULL;
    if (key && !frame_image(key)->first_function) /* nobody has entered its image yet */
        return NULL;
    if (!key || (key->index & STUB_LEAF && !outlasts(call, call->pointee))) {
        link->callee = out_of(call, from);
        link->word = INT32_MIN;
        return NULL;
    }
    node = child_of(call, from, key);
    if (!node)
        return NULL;
    links = links_is_leaf(node) ? links_of_leaf(call->thread, node, key)
                                : links_of(call->thread, node, key);
    link->callee = (uint64_t)links;
    if (!links)
        return NULL;
    note_site(call, from, link);
    return node;
}

/* The target's place at the site; a free one, if there is; else 2. */
static unsigned place_of(const struct pointer_links *site, uint64_t target)
{
    unsigned at = 0;

    while (at < 2 && site->targets[at] && site->targets[at] != target)
        at++;
    return at;
}

/* Calls by the link since it was looked at last. Those that lead out of copies gain nothing by it.
 */
static uint32_t take_calls(const struct site_call *call, const struct trace_links *with,
                           struct trace_link *link)
{
    struct trace_node *node;
    uint32_t calls;

    if (link->callee & FRAME_OUT_BITS)
        return 0;
    node = links_node(call->thread, frame_links_in(link->callee));
    if (session.counts_only)
        return link_go_on(call->thread, with, link, node, call->ret);
    calls = link_calls(link);
    link_hand_on(link, node);
    link_arm(link, node);
    return calls;
}

/* What a link has counted is handed on: it is to count something else. */
static void leave_link(const struct site_call *call, const struct trace_links *with,
                       struct trace_link *link)
{
    struct trace_node *node = links_node(call->thread, frame_links_in(link->callee));

    if (session.counts_only)
        link_hand_on_from(call->thread, with, link, node, call->ret);
    else
        link_hand_on(link, node);
}

static bool gains_by_link(uint64_t target)
{
    const struct frame_key *key = target_key_if_code(target);

    return key && !(key->index & STUB_LEAF);
}

/*
 * Programs call by one pointer what they need to begin with, and then something else all the time.
 * So after each `most` calls of a target that has no place at the site, it takes the place of the
 * one that was called less than that since. Returns its place, which is free then; 2: both are
 * called more.
 */
static unsigned yield_place(const struct site_call *call, struct trace_links *with,
                            struct pointer_links *site, uint32_t most)
{
    uint32_t calls[2];
    unsigned less;

    for (unsigned i = 0; i < 2; i++)
        calls[i] = take_calls(call, with, &site->links[i]);
    less = calls[1] < calls[0];
    if (calls[less] >= most || !gains_by_link(call->pointee))
        return 2;
    __atomic_store_n(&site->targets[less], 0, __ATOMIC_RELEASE);
    if (!(site->links[less].callee & FRAME_OUT_BITS))
        leave_link(call, with, &site->links[less]);
    site->links[less] = (struct trace_link){0};
    return less;
}

/* The call leads to a copy, and is one of this context. */
static struct destination count_at(struct site_call *call, struct trace_links *from,
                                   struct trace_link *link, struct trace_node *node)
{
    struct destination destination;

    call->callee = (uint64_t)target_key(call->pointee) + sizeof(struct frame_key);
    destination = count_by(call, from, link, node);
    *frame_word(call->thread, call->slot) = link->callee;
    return destination.is_thunk ? destination : go_to(call, call->callee);
}

/* The place has a link for the target that is called, and is ready. */
static void show_target(const struct site_call *call, struct pointer_links *site, unsigned at,
                        bool is_copy)
{
    bool is_direct = is_copy && outlasts(call, call->pointee);

    site->go[at] =
        is_direct ? (uint64_t)target_key(call->pointee) + sizeof(struct frame_key) : call->pointee;
    __atomic_store_n(&site->targets[at], call->pointee, __ATOMIC_RELEASE);
}

/* Calls of this target are counted by a link of their own from now on. Of what may be gone before
   the site, and of what is not copied, there is none. False: it stays unknown. */
static bool know_further(struct site_call *call, struct trace_links *from,
                         const struct pointer_links *site, struct destination *destination)
{
    const struct frame_key *key = target_key_if_code(call->pointee);
    struct further_target further = {(uint64_t)site, call->pointee, NULL, 0};
    struct trace_node *node;

    if (call->site->flags & FRAME_SITE_TAIL || !key || !outlasts(call, call->pointee) ||
        !further_target_has_room(call->thread))
        return false;
    further.link = links_further(call->thread, from);
    node = further.link ? meet(call, from, further.link) : NULL;
    if (!node)
        return false;
    *destination = count_at(call, from, further.link, node);
    if (session.counts_only)
        link_look_after(further.link, LOOK_FURTHER);
    further.go = call->callee;
    further_target_add(call->thread, &further);
    return true;
}

/* By a further link, whose turn it is: its target may be called more than one that has a place. */
static struct destination count_further(struct site_call *call, struct trace_links *from,
                                        struct trace_links *with, struct pointer_links *site,
                                        struct trace_link *link)
{
    struct trace_node *node = links_node(call->thread, frame_links_in(link->callee));
    struct destination destination = count_at(call, from, link, node);
    unsigned at;

    if (!session.counts_only)
        return destination;
    link_look_after(link, LOOK_FURTHER);
    at = yield_place(call, with, site, LOOK_FURTHER);
    if (at == 2)
        return destination;
    node = meet(call, from, &site->links[at]);
    if (site->links[at].callee)
        show_target(call, site, at, node != NULL);
    return destination;
}

/* The link is of a function of an image that is gone: another one lies in its place. */
static bool is_replaced(const struct site_call *call, const struct trace_link *link)
{
    const struct frame_key *key;

    if (link->callee & FRAME_OUT_BITS)
        return false;
    key = target_key(call->pointee);
    return !key || key->key != frame_links_in(link->callee)->key;
}

/* A target that has no place at the site. */
static unsigned find_place(struct site_call *call, struct trace_links *from,
                           struct trace_links *with, struct pointer_links *site,
                           struct destination *destination)
{
    struct trace_link *further = further_target_find(call->thread, site, call->pointee);

    if (further) {
        *destination = count_further(call, from, with, site, further);
        return 2;
    }
    with->unknown = LOOK_SOON - 1;
    if (know_further(call, from, site, destination))
        return 2;
    with->unknown = LOOK_AFTER - 1;
    return yield_place(call, with, site, LOOK_AFTER);
}

static struct destination point_call(struct site_call *call, struct trace_links *from)
{
    struct trace_links *with = links_with(call->thread, from, call->site->link);
    struct pointer_links *site =
        with ? (struct pointer_links *)&with->links[call->site->link - with->first] : NULL;
    unsigned at = site ? place_of(site, call->pointee) : 2;
    struct destination destination = note_call(call, from);
    struct trace_link *link;
    struct trace_node *node = NULL;
    bool is_new;

    if (site && at == 2)
        at = find_place(call, from, with, site, &destination);
    if (at == 2)
        return destination;
    link = &site->links[at];
    is_new = !site->targets[at] || is_replaced(call, link);
    if (is_new && site->targets[at])
        leave_link(call, with, link);
    if (is_new)
        node = meet(call, from, link);
    else if (!(link->callee & FRAME_OUT_BITS))
        node = links_node(call->thread, frame_links_in(link->callee));
    else
        link->word = INT32_MIN;
    if (node)
        destination = count_at(call, from, link, node);
    if (is_new && link->callee)
        show_target(call, site, at, node != NULL);
    return destination;
}

/* The callee's stub leads to the hook, which finds out all by itself. */
static struct destination go_by_stub(const struct site_call *call)
{
    const struct frame_key *key = frame_key_before(call->callee);

    if (call->site->flags & (FRAME_SITE_OUT | FRAME_SITE_BOUND))
        return go_on(call);
    return go_to(call, (uint64_t)key + (uint64_t)key->body - STUB_FRAME_SIZE);
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

static struct destination record_call(struct site_call *call)
{
    struct trace_links *from = own_links(call);
    struct destination destination;

    if (!from)
        return count_as_dropped(call);
    if (call->site->flags & FRAME_SITE_POINTER)
        destination = point_call(call, from);
    else
        destination =
            call->site->flags & FRAME_SITE_OUT ? note_call(call, from) : count_call(call, from);
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
        return go_on(&call); /* but a parent that is gone stays paused */
    call.ret = call.at + (is_by_register(site) ? POINTER_CALL_SIZE : CALL_SIZE);
    if (!(site->flags & FRAME_SITE_OUT))
        call.callee = copy_called(&call);
    call.thread = slow_path_enter((uint64_t *)call.slot, __builtin_frame_address(0),
                                  session_ticks(), !(site->flags & FRAME_SITE_OUT));
    if (!call.thread)
        return go_on(&call);
    if (!session.is_adaptive || !slow_path_on_own_stack(call.thread, (uint64_t *)call.slot) ||
        !call.thread->own.ordered || !frames_cover(call.thread, call.slot) ||
        !frames_has_word(call.thread, call.own)) {
        destination = go_by_stub(&call);
    } else {
        /* whatever is within the frame that calls is over */
        invocations_unwind(call.thread, call.own, 0, call.thread->now);
        destination = record_call(&call);
    }
    thread_publish(call.thread);
    return destination;
}
