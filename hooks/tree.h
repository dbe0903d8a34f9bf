/* The calling-context tree of a thread, in the mapped trace. trace_format.h draws it. */
#ifndef UMBRA_HOOKS_TREE_H
#define UMBRA_HOOKS_TREE_H

#include <stdbool.h>

#include "hooks/thread.h"

/* The thread's first block, its record and root, and an empty table. False: no room. */
bool tree_begin(struct thread *thread, uint32_t ordinal);

/* Modulo the table's entries, where a context is kept in a thread's table, or would be: the first
   place to look. */
uint32_t tree_hash(uint64_t site, uint32_t parent, uint32_t function);

/* Keeps a context that is not in the thread's table, which has a free entry. */
void tree_put(struct thread *thread, struct table_entry entry);

/* The context that this one was called from; not for a root. */
struct trace_node *tree_parent(const struct thread *thread, const struct trace_node *node);

/* The context below which a tail call out of this one is: in a chain of jumps, below the first. */
struct trace_node *tree_tail_caller(const struct thread *thread, struct trace_node *node);

/* The context of a call of `function` from `site` out of the context `caller`; made if it is new.
   Null: no room in the trace. */
struct trace_node *tree_child(struct thread *thread, struct trace_node *caller, uint64_t site,
                              uint32_t function);

/* The context of a call of the function from a return address, if there is one: with a look at the
   thread's table alone. */
struct trace_node *tree_known(const struct thread *thread, const struct trace_node *caller,
                              uint64_t site, uint32_t function);

/* Calls from this site, too, have what they call below the context. */
bool tree_has_place(const struct thread *thread, const struct trace_node *node, uint64_t site);

/* Has the hot path find this context, of a call to `body` with its return address at `slot`. */
void tree_hint(struct thread *thread, const struct trace_node *node, uint64_t slot, uint64_t body);

/* The context, if it is there already, of a call to `body`, its return address at `slot`. */
struct trace_node *tree_find(struct thread *thread, const struct trace_node *caller, uint64_t slot,
                             uint64_t site, uint64_t body, uint32_t function);

#endif
