#include "hooks/executed.h"

#include "hooks/code_at.h"
#include "hooks/frames.h"
#include "hooks/links.h"
#include "hooks/tree.h"

#define LEAF_FRAME   512 /* bytes of a leaf's frame that are looked through */
#define MOST_CALLERS 8   /* frames above a leaf that may be its caller's */

static uint32_t number_of(const struct trace_node *node)
{
    return node->function & TRACE_FUNCTION_NUMBER;
}

/* A call, and where its return address is. */
struct place {
    uint64_t slot;
    struct trace_node *node;
};

/* The record on top. The stash knows it while a slow path runs; else the hooks have it. */
static const struct record *top_of(const struct thread *thread)
{
    return thread->top ? thread->top : thread->own.top;
}

/* The innermost call that has a record: the one on top may be over. Or the root. */
static struct place newest_recorded(const struct thread *thread)
{
    const struct record *record = top_of(thread);

    while (!record_is_live(record) && !record_is_sentinel(record))
        record = stash_below(record);
    return (struct place){record_is_live(record) ? record_slot(record)
                                                 : thread->own_low + thread->own_size,
                          record->node};
}

/* The innermost call that a record, or a note, tells of: that of a function that has called what is
   not recorded. */
static struct place newest_known(const struct thread *thread, uint64_t stack_pointer)
{
    uint64_t noted = frame_noted_slot(thread);
    struct place place = newest_recorded(thread);
    uint64_t word;

    if (noted < stack_pointer || noted >= place.slot || !frames_has_word(thread, noted))
        return place;
    word = *frame_word(thread, noted);
    if (frame_links_in(word) && frame_links_in(word)->node)
        place = (struct place){noted, links_node(thread, frame_links_in(word))};
    return place;
}

/* The context of the frame whose slot this may be; or null. *record: the newest one not below it.
 */
static struct trace_node *frame_at(const struct thread *thread, uint64_t slot,
                                   const struct record **record)
{
    while (!record_is_sentinel(*record) &&
           (!record_is_live(*record) || record_slot(*record) < slot))
        *record = stash_below(*record);
    if (record_slot(*record) == slot &&
        *(const uintptr_t *)(uintptr_t)slot == record_thunk(*record) + THUNK_RETURN)
        return (*record)->node;
    return frame_context_at(thread, slot);
}

/* The function is a leaf, or has just been entered: its context is told by where it was called
   from, which lies not far above the stack pointer. */
static struct trace_node *find_leaf(const struct thread *thread, const struct place *caller,
                                    uint32_t function, uint64_t stack_pointer)
{
    struct trace_node *shared = tree_known(thread, caller->node, TRACE_SITE_SHARED, function);
    uint64_t slot = stack_pointer;
    uint64_t end = caller->slot < slot + LEAF_FRAME ? caller->slot : slot + LEAF_FRAME;

    for (; slot < end; slot += sizeof(uintptr_t)) {
        struct trace_node *node =
            tree_known(thread, caller->node, *(const uintptr_t *)(uintptr_t)slot, function);

        if (node)
            return node;
        if (shared && frame_is_call_of(*(const uintptr_t *)(uintptr_t)slot, function))
            return shared;
    }
    return NULL;
}

/*
 * The context of a copy that is executed now: of the nearest frame of that function, or of one that
 * it has jumped from. A leaf has no frame, but its caller has. Words of frames that are gone may
 * lie between; they tell of nobody who has called the leaf.
 */
static struct trace_node *context_of_copy(const struct thread *thread, uint32_t function,
                                          uint64_t stack_pointer)
{
    const struct record *record = top_of(thread);
    struct trace_node *nearest = NULL;
    unsigned callers = 0;

    for (uint64_t slot = stack_pointer;
         slot < stack_pointer + FRAME_MOST && frames_has_word(thread, slot); slot += sizeof(slot)) {
        struct place place = {slot, frame_at(thread, slot, &record)};
        struct trace_node *leaf;

        if (!place.node)
            continue;
        if (number_of(place.node) == function)
            return place.node;
        leaf = callers++ < MOST_CALLERS ? find_leaf(thread, &place, function, stack_pointer) : NULL;
        if (leaf)
            return leaf;
        nearest = nearest ? nearest : place.node;
    }
    return nearest;
}

struct trace_node *executed_context(const struct thread *thread, uint64_t instruction,
                                    uint64_t stack_pointer)
{
    struct code_at executed = code_at(instruction);
    struct trace_node *node = NULL, *leaf;
    struct place place;

    stack_pointer = (stack_pointer + sizeof(uintptr_t) - 1) & ~(uint64_t)(sizeof(uintptr_t) - 1);
    if (executed.is_copy)
        node = context_of_copy(thread, executed.function, stack_pointer);
    if (node)
        return node;
    place = newest_recorded(thread);
    if (executed.function && number_of(place.node) == executed.function)
        return place.node;
    place = newest_known(thread, stack_pointer);
    leaf = executed.function ? find_leaf(thread, &place, executed.function, stack_pointer) : NULL;
    return leaf ? leaf : place.node;
}
