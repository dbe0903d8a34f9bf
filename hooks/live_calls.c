#include "hooks/live_calls.h"

#include "hooks/frames.h"
#include "hooks/links.h"
#include "hooks/session.h"
#include "hooks/tree.h"

static struct live_call of_record(const struct record *record)
{
    return (struct live_call){
        .slot = record_is_live(record) ? record_slot(record) : 0,
        .node = record_is_sentinel(record) ? NULL : record->node,
        .record = record,
        .next = record,
    };
}

struct live_call live_call_of_top(const struct thread *thread)
{
    return of_record(thread->own.top);
}

struct live_call live_call_of_frame(const struct thread *thread, uint64_t slot,
                                    struct trace_node *node)
{
    const struct record *top = thread->own.top;

    return record_slot(top) == slot ? of_record(top)
                                    : (struct live_call){.slot = slot, .node = node, .next = top};
}

/* The context of whoever has made a call of this one: a function that has jumped has no frame any
   more. Null: it is not known. */
static struct trace_node *caller_of(const struct thread *thread, struct trace_node *node)
{
    struct trace_node *caller;

    if (node != thread->root)
        node = tree_tail_caller(thread, node);
    caller = node != thread->root ? tree_parent(thread, node) : NULL;
    return caller == thread->root ? NULL : caller;
}

/* What this one calls is below that one: it is that, or of calls from another place. */
static bool is_part_of(const struct trace_node *node, const struct trace_node *of)
{
    return node == of || (node && node->context == trace_index(of));
}

/* Where the frame of a context is, between two slots; or 0. */
static uint64_t find_frame(const struct thread *thread, const struct trace_node *node,
                           uint64_t above, uint64_t end, uint64_t likely)
{
    if (!node || links_is_leaf(node) || !node->passed)
        return 0;
    if (end - above > FRAME_MOST)
        end = above + FRAME_MOST;
    if (likely > above && likely < end && frames_has_word(thread, likely) &&
        is_part_of(frame_context_at(thread, likely), node))
        return likely;
    for (uint64_t slot = above + sizeof(slot); slot < end && frames_has_word(thread, slot);
         slot += sizeof(slot))
        if (is_part_of(frame_context_at(thread, slot), node))
            return slot;
    return 0;
}

void live_call_go_up(const struct thread *thread, struct live_call *call, uint64_t likely)
{
    struct trace_node *caller = caller_of(thread, call->node);
    const struct record *next = call->record ? stash_below(call->record) : call->next;
    uint64_t slot = 0;

    if (call->slot && record_slot(next) > call->slot)
        slot = find_frame(thread, caller, call->slot, record_slot(next), likely);
    *call = slot ? (struct live_call){.slot = slot, .node = caller, .next = next} : of_record(next);
}
