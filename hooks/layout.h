/*
 * Numbers that the hooks in assembly and the agent's C share: how contexts are found, when calls are
 * timed. Those of thunks and records stand in thunkstash/layout.h; where fields lie, assembly has from
 * offsets.c.
 */
#ifndef UMBRA_HOOKS_LAYOUT_H
#define UMBRA_HOOKS_LAYOUT_H

#define HINTS_SIZE       8192 /* a power of 2 */

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
