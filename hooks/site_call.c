#include "hooks/site_call.h"

#include "hooks/code_at.h"
#include "hooks/frames.h"
#include "hooks/session.h"

struct trace_node *site_child(const struct site_call *call, const struct trace_links *from,
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

void site_note(const struct site_call *call, const struct trace_links *from,
               const struct trace_link *link)
{
    if (session.counts_only && !(call->site->flags & FRAME_SITE_TAIL))
        link_note_site(call->thread, from, link, call->ret);
}

struct destination site_go_on(const struct site_call *call)
{
    return (struct destination){call->at, false};
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
    uintptr_t *slot = (uintptr_t *)call->slot, ret = is_jump ? *slot : call->ret;
    struct record *record =
        may_have_thunk(call, ret) ? slow_path_push(call->thread, call->slot) : NULL;

    if (!record)
        return site_go_on(call);
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
        *(uintptr_t *)call->slot != record_thunk(record) + THUNK_RETURN)
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
    struct destination destination = site_go_on(call);

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
    return site_go_on(call);
}

struct destination site_count(struct site_call *call, struct trace_links *from,
                              struct trace_link *link, struct trace_node *node)
{
    return session.counts_only ? count_in_link(call, from, link, node)
                               : count_one(call, from, link, node);
}

uint64_t site_out(const struct site_call *call, const struct trace_links *from)
{
    return (uint64_t)from |
           (call->site->flags & FRAME_SITE_TAIL ? FRAME_JUMPED_OUT : FRAME_CALLED_OUT);
}

struct destination site_note_call(const struct site_call *call, const struct trace_links *from)
{
    *frame_word(call->thread, call->slot) = site_out(call, from);
    call->thread->frames->note = call->slot + sizeof(uint64_t);
    return site_go_on(call);
}

struct destination site_go_to(const struct site_call *call, uint64_t address)
{
    if (call->site->flags & FRAME_SITE_TAIL)
        return (struct destination){address, false};
    *(uintptr_t *)call->slot = call->ret;
    return (struct destination){address, DESTINATION_IN_CALL};
}
