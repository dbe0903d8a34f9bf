/*
 * The thunk stash in memory: numbers that assembly and C share.
 *
 * A range of reserved address space is divided into blocks, each of which is mapped when it is
 * needed first. block_layout.h, one a platform, has the range's size and the blocks'.
 *
 *      block + 0       +-----------------------------+
 *                      | thunk 0 … BLOCK_THUNKS - 1  |  code, read and execute: the agent's own
 *                      |   64 bytes each             |  pages, mapped once more
 *      + C             +-----------------------------+
 *                      | record 0 … BLOCK_THUNKS - 1 |  data, read and write
 *                      |   64 bytes each             |
 *      + 2 C           +-----------------------------+     C = BLOCK_CODE_SIZE
 *
 *      record = thunk + K for every thunk, so one description of the frame serves them all.
 *
 * thunk_layout.h, one a processor, has a thunk's code, and how far T is behind its start: T is what the thunk's
 * `call` writes into the slot S, the swizzle.
 *
 * A record:
 *
 *      0     8      16   24     32     40       48     56
 *      +-----+------+----+------+------+--------+------+-------+
 *      | ret | body | t0 | slot | node | weight | mark | below |
 *      +-----+------+----+------+------+--------+------+-------+
 *
 * t0 is the thread's time at entry, or, of a call that is not timed, the trace's tick; weight is
 * how many calls a timed one stands for.
 *
 * Record 0 of a block is no invocation but the block's *sentinel*: body is the exit hook, below
 * the stash it belongs to; slot and node repeat those of the record before it, the last of the
 * block before, so that the hot path need not know that a block begins. The last record is none
 * either: its slot is 0 for good, which tells the hot path that the block ends.
 *
 * slot says whether the record is of a live invocation. It is higher than any stack pointer if not,
 * so that what looks at it takes the invocation below for the caller:
 *
 *      S     live: address of the return-address slot, plus SLOT_BIAS, which is nothing on Linux;
 *            on Windows 8: what the stack pointer is when the call has returned, which stands
 *            24 bytes behind ret for its unwinder (windows/x86_64/range.c)
 *      0     parked: it may be live (stash.c)
 *      ~0    free
 *      ~n    leaving: the node's `exits` is, or is to become, n; and free from then on
 *
 * mark says how far counting is. A hook that never goes on, since a signal handler interrupted it
 * and left by longjmp, leaves it behind; whoever frees the record then finishes the count, once:
 *
 *      0     nothing was counted
 *      000n  entering, or live: the node's `calls` is to be n or more, the low 61 bits
 *      100n  unwinding: the thread's `unwound` is to become n
 *      101n  leaving, in a slow path: the node's `exits` is to become n
 *      110   parked, and counted in `unwound`; weight is the record of its caller
 *      111   returned on another thread, or inside a slow path; t0 is how long it took
 */
#ifndef UMBRA_THUNKSTASH_LAYOUT_H
#define UMBRA_THUNKSTASH_LAYOUT_H

#include "block_layout.h"
#include "thunk_layout.h"

#define THUNK_SIZE       64
#define BLOCK_LAST       (BLOCK_THUNKS - 2) /* the last record of use */
#define BLOCK_CODE_SIZE  (BLOCK_THUNKS * THUNK_SIZE)
#define BLOCK_SIZE       (2 * BLOCK_CODE_SIZE)
#define STASH_RANGE_SIZE (STASH_BLOCKS * BLOCK_SIZE)
#define RECORD_DISTANCE  (BLOCK_CODE_SIZE - THUNK_OFFSET) /* K */

#define SLOT_FREE      0xffffffffffffffff
#define SLOT_PARKED    0
#define MARK_UNWINDING 0x8000000000000000
#define MARK_LEAVING   0xa000000000000000
#define MARK_LIVE      0x0000000000000000
#define MARK_PARKED    0xc000000000000000
#define MARK_ELSEWHERE 0xe000000000000000
#define MARK_BITS      0xe000000000000000

#endif
