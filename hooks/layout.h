/*
 * Numbers that the hooks in assembly and the agent's C share: where fields lie, how contexts are
 * found, when calls are timed. thread.h asserts that they fit the structures. Those of thunks and
 * records stand in thunkstash/layout.h.
 */
#ifndef UMBRA_HOOKS_LAYOUT_H
#define UMBRA_HOOKS_LAYOUT_H

/* Hot fields of struct thread. */
#define THREAD_STACK_LOW  0
#define THREAD_STACK_SIZE 8
#define THREAD_TOP        16
#define THREAD_TABLE      24
#define THREAD_TABLE_MASK 32
#define THREAD_TRACE      40
#define THREAD_STOPPED    48
#define DESTINATION_IN_CALL 2 /* of struct destination.is_thunk */
#define DESTINATION_BEHIND  4
#define THREAD_EVENT_NEXT 56 /* of call-trace mode */
#define THREAD_EVENT_END  64
#define THREAD_EVENT_BASE 72
#define THREAD_HINTS      128
#define HINTS_SIZE        8192 /* a power of 2 */

/* Fields of struct trace_header and struct trace_node. */
#define TRACE_PAUSED  3232
#define TRACE_TICK    3272
#define NODE_SITE     0
#define NODE_PARENT   8
#define NODE_FUNCTION 12
#define NODE_CALLS    16
#define NODE_EXITS    24
#define NODE_TICKS    32
#define NODE_PASSED   40
#define NODE_NEXT     48
#define NODE_GAP      52
#define NODE_MASK     53
#define NODE_RANDOM   54
#define NODE_TIMED    56
#define NODE_CONTEXT  60
#define FUNCTION_TIMED         0x40000000 /* TRACE_FUNCTION_ bits */
#define FUNCTION_LEAF_OR_TIMED 0xc0000000
#define SITE_TAIL_BIT   63 /* of TRACE_SITE_TAIL */
#define SITE_SHARED_BIT 60

/*
 * Adaptive timing, in ticks of the processor's clock. What follows a timed call that takes
 *
 *      less than TIMING_SHORT     the gap doubles, up to one timed call of TIMING_MASK + 1; of
 *                                 TIMING_MASK_OF_MANY + 1 once TIMING_MANY calls were timed, since
 *                                 the estimate hardly becomes better then
 *      TIMING_LONG or more        all further calls are timed
 *      TIMING_SLOW or more        all further calls are timed, and this one stands for itself
 *                                 alone: the tick shows the others like it
 */
#define TIMING_SHORT        1024
#define TIMING_LONG         4096
#define TIMING_SLOW         0x400000
#define TIMING_MASK         63
#define TIMING_MANY         1024
#define TIMING_MASK_OF_MANY 127
#define TIMING_MIX          0x9e3779b1 /* multiplier that turns a clock reading into a random byte */
#define TIMING_NEVER        0x7fffffff /* of a context whose gap is 0, `next` is that far ahead */

/* An event's word holds the node's index above bit 33: its offset, index * 64, shifted by this. */
#define EVENT_SHIFT_OF_OFFSET 27

/* Context hash: ((site + rotate(function << 32 | parent, 24)) * B) >> 32. A table's entry is of 8
   bytes: struct table_entry. */
#define HASH_ROTATE 24
#define HASH_B      0xff51afd7ed558ccd

#endif
