/* One invocation's figures, as the hot path of entry.S would note them. */
#ifndef UMBRA_HOOKS_INVOCATION_H
#define UMBRA_HOOKS_INVOCATION_H

#include "hooks/thread.h"

/* Fills in a record for an invocation that begins now, and counts the entry. Times are the
   thread's, see thread.h. */
void invocation_begin(struct record *record, struct trace_node *node, uint64_t ret, uint64_t body,
                      uint64_t slot, uint64_t now);

/* Counts the end. An invocation that returned on another thread ended then, and counts as
   returned. */
void invocation_end(struct thread *thread, struct record *record, uint64_t now, bool returned);

/* Whether number `number` of the node's calls, the next one, is to be timed. If no call of the node
   is, it is not asked again for TIMING_NEVER calls. */
bool invocation_choose(struct trace_node *node, uint64_t number);

/* A tail call, while the thread's time goes on: the record's call ends, and one of `node` begins in
   its place. Neither is timed. False: one of them is, or a tick went by; nothing was done. */
bool invocation_replace(struct record *record, struct trace_node *node);

/* Notes on the record alone that its call returned where its counters cannot be written: on
   another thread, or while a slow path of its own thread is under way. */
void invocation_end_elsewhere(struct record *record, uint64_t now);

#define STACK_IS_GONE UINT64_MAX

/* Ends every invocation of the ordered stash whose slot lies below `until`, as unwound; what may
   go on is parked. entered: the slot of a call that was made just now; 0 if there is none; or
   STACK_IS_GONE: nothing goes on, nor can slots be read. */
void invocations_unwind(struct thread *thread, uint64_t until, uint64_t entered, uint64_t now);

/* The youngest invocation of the ordered stash may go on, unless a call at `entered` has taken its
   place. */
bool invocation_may_go_on(struct thread *thread, const struct record *record, uint64_t entered);

/* Ends a parked one that is certainly over, as seen from a call that was made just now with its slot
   there. Returns whether it was: then it has been counted, and its record can be used again. */
bool invocation_end_if_over(struct thread *thread, struct record *record, uint64_t entered);

/* A parked one, which goes on, is live again, on a stash without order. */
void invocation_revive(struct thread *thread, struct record *record);

/* What a slow path that revived one may have left to be done. */
void invocation_finish_revival(struct thread *thread);

/* Ends every invocation of the ordered stash above this record, as unwound. */
void invocations_unwind_above(struct thread *thread, const struct record *record, uint64_t now);

/* Ends, as unwound, the invocations whose slot was overwritten, and all above them: the stack
   pointer of a thread that ends may lie below slots of frames that are gone. */
void invocations_unwind_overwritten(struct thread *thread, uint64_t now);

/* Not ordered: ends those that returned on another thread, and, if by_content, those whose slot
   was overwritten. Returns how many records became free. */
uint32_t invocations_collect(struct thread *thread, uint64_t now, bool by_content);

/* Adds the time so far of all live invocations to their contexts, as if they began now.
   Returns how many are live. */
uint64_t invocations_settle(struct thread *thread, uint64_t now);

/* The top of another thread, which may have been stopped in a hook. What that had begun to count is
   counted; a call that it had not yet begun to count is none. */
void invocation_finish_count(struct record *top);

#endif
