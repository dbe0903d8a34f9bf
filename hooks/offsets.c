/* What the hooks in assembly know of structures, those of records apart (thunkstash/offsets.c). */
#include "support/offsets.h"

#include "hooks/slow_paths.h"
#include "hooks/thread.h"
#include "trace/embedded_agent.h"
#include "trace/frame_format.h"
#include "trace/image_manifest.h"
#include "trace/trace_format.h"

void offsets(void)
{
    OFFSET(THREAD_STACK_LOW, struct thread, stack_low);
    OFFSET(THREAD_STACK_SIZE, struct thread, stack_size);
    OFFSET(THREAD_TOP, struct thread, top);
    OFFSET(THREAD_TABLE, struct thread, table);
    OFFSET(THREAD_TABLE_MASK, struct thread, table_mask);
    OFFSET(THREAD_TRACE, struct thread, trace);
    OFFSET(THREAD_STOPPED, struct thread, stopped);
    OFFSET(THREAD_EVENT_NEXT, struct thread, events.next);
    OFFSET(THREAD_EVENT_END, struct thread, events.end);
    OFFSET(THREAD_EVENT_BASE, struct thread, events.base);
    OFFSET(THREAD_HINTS, struct thread, hints);
    CONSTANT(DESTINATION_IN_CALL);
    CONSTANT(DESTINATION_BEHIND);

    OFFSET(TRACE_PAUSED, struct trace_header, paused);
    OFFSET(TRACE_TICK, struct trace_header, tick);
    OFFSET(NODE_SITE, struct trace_node, site);
    OFFSET(NODE_PARENT, struct trace_node, parent);
    OFFSET(NODE_FUNCTION, struct trace_node, function);
    OFFSET(NODE_CALLS, struct trace_node, calls);
    OFFSET(NODE_EXITS, struct trace_node, exits);
    OFFSET(NODE_TICKS, struct trace_node, ticks);
    OFFSET(NODE_PASSED, struct trace_node, passed);
    OFFSET(NODE_NEXT, struct trace_node, next);
    OFFSET(NODE_GAP, struct trace_node, gap);
    OFFSET(NODE_MASK, struct trace_node, mask);
    OFFSET(NODE_RANDOM, struct trace_node, random);
    OFFSET(NODE_TIMED, struct trace_node, timed);
    OFFSET(NODE_CONTEXT, struct trace_node, context);
    NUMBER(FUNCTION_TIMED, TRACE_FUNCTION_TIMED);
    NUMBER(FUNCTION_LEAF_OR_TIMED, TRACE_FUNCTION_LEAF | TRACE_FUNCTION_TIMED);
    NUMBER(SITE_TAIL_BIT, __builtin_ctzll(TRACE_SITE_TAIL));
    NUMBER(SITE_SHARED_BIT, __builtin_ctzll(TRACE_SITE_SHARED));

    OFFSET(IMAGE_ENTRY_HOOK, struct image_header, entry_hook);
    OFFSET(IMAGE_FIRST_FUNCTION, struct image_header, first_function);
    CONSTANT(STUB_HEADER_DISTANCE);
    CONSTANT(STUB_INDEX);
    CONSTANT(STUB_FRAME_SIZE);

    /* Copies that have contexts beside their frames. */
    NUMBER(FRAME_KEY_SIZE, sizeof(struct frame_key));
    OFFSET(KEY_BODY, struct frame_key, body);
    OFFSET(KEY_KEY, struct frame_key, key);
    CONSTANT(FRAME_BODY_JUMP);
    CONSTANT(FRAME_LANE_AT);
    OFFSET(SITE_CALL, struct frame_site, call);
    OFFSET(SITE_OWN, struct frame_site, own);
    OFFSET(SITE_SELF, struct frame_site, self);
    OFFSET(SITE_LINK, struct frame_site, link);
    OFFSET(SITE_FLAGS, struct frame_site, flags);
    CONSTANT(FRAME_SITE_TAIL);
    CONSTANT(FRAME_SITE_RBP);
    CONSTANT(FRAME_SITE_OUT);
    CONSTANT(FRAME_SITE_POINTER);
    CONSTANT(FRAME_SITE_BOUND);
    OFFSET(SLOT_FRAMES, struct thread_words, frames);
    OFFSET(SLOT_MARK, struct thread_words, mark);
    OFFSET(FRAMES_LOW, struct frame_words, low);
    OFFSET(FRAMES_SIZE, struct frame_words, size);
    OFFSET(FRAMES_SHADOW, struct frame_words, shadow);
    OFFSET(FRAMES_NOTE, struct frame_words, note);
    CONSTANT(FRAME_CALLED_OUT);
    CONSTANT(FRAME_JUMPED_OUT);
    CONSTANT(FRAME_OUT_BITS);
    OFFSET(LINKS_KEY, struct trace_links, key);
    OFFSET(LINKS_NODE, struct trace_links, node);
    OFFSET(LINKS_FLAGS, struct trace_links, flags);
    NUMBER(LINKS_JUMP, TRACE_LINKS_JUMP);
    OFFSET(LINKS_ENTERED, struct trace_links, entered);
    OFFSET(LINKS_FIRST, struct trace_links, links);
    OFFSET(LINK_CALLEE, struct trace_link, callee);
    OFFSET(LINK_WORD, struct trace_link, word);
    OFFSET(LINK_ARMED, struct trace_link, armed);
    NUMBER(LINKS_INLINE, TRACE_LINKS_INLINE);
}

/* What they read and write at once. */
_Static_assert(offsetof(struct trace_node, function) == offsetof(struct trace_node, parent) + 4,
               "the key of a context");
_Static_assert(offsetof(struct table_entry, hash) == offsetof(struct table_entry, node) + 4,
               "an entry of the table of contexts");
_Static_assert(offsetof(struct trace_link, armed) == offsetof(struct trace_link, word) + 4,
               "what a link has counted, and how it is armed");
