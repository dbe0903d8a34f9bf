/*
 * What the code in copied bodies (rewriter/copy/copy_code.S) knows of the agent's memory and of the
 * trace: for assembly. hooks/thread.h and hooks/shadow_entry.h assert that the structures fit. An image
 * that was made for other offsets asks for another entry (IMAGE_VERSION).
 */
#ifndef UMBRA_COPY_OFFSETS_H
#define UMBRA_COPY_OFFSETS_H

/* Fields of struct thread. */
#define THREAD_SHADOW 56 /* of the own stack */
#define THREAD_CALLER 64 /* slot of the innermost frame in it */
#define THREAD_JUMP   136 /* slot of a frame that has just ended by a jump to a hooked function */
#define THREAD_COPIES 152 /* how far down the stack the code in copies may do it all */
#define THREAD_SITES  8384

/*
 * Of the page that the hook word is in: the trace's header. THREAD is where a thread has the address
 * of its state, from the thread pointer; 0: there are no frames of copies.
 */
#define PAGE_TICK     3272
#define PAGE_HOOK     3328
#define PAGE_ON_ENTRY 3344
#define PAGE_ON_LEAF  3352
#define PAGE_ON_EXIT  3360
#define PAGE_ON_LEAVE 3368
#define PAGE_ON_JUMP  3376
#define PAGE_THREAD   3384

/*
 * What is known of a call of a copy by a copy, found by its return address, its slot and the number
 * of the function: the distance from its slot to its caller's frame, the context that the caller's
 * callees hang below, and the call's node.
 *
 *      0     8      16         24       28
 *      +-----+------+----------+--------+----------+
 *      | ret | node | distance | caller | function |
 *      +-----+------+----------+--------+----------+
 *
 * What is found instead at that place is kept at the one beside it, for once. Addresses alone do not
 * tell a function: another image may lie where one was that was unloaded.
 */
#define SITES_SIZE    16384 /* a power of 2 */
#define SITE_SIZE     32
#define SITE_RET      0
#define SITE_NODE     8
#define SITE_DISTANCE 16
#define SITE_CALLER   24
#define SITE_FUNCTION 28
#define SITES_MIX     0x1e3779b1 /* multiplier of a return address */

/* Behind a call in a copy: nop dword [rax + n], with the distance in n. */
#define MARK_NOP      0x801f0f
#define MARK_NOP_SIZE 7

#define NODE_FUNCTION 12
#define NODE_CALLS    16
#define NODE_EXITS    24
#define NODE_PASSED   40
#define NODE_NEXT     48
#define NODE_CONTEXT  60

/* An entry of the shadow of a stack: SHADOW_SCALE words for a word. */
#define SHADOW_SCALE 4
#define SHADOW_NODE  0
#define SHADOW_RET   8
#define SHADOW_TIME  16
#define SHADOW_BELOW 24

#endif
