/* The links of contexts, in the trace: calls that copied bodies count themselves. trace_format.h
   draws them, frames.h says what they are for. */
#ifndef UMBRA_HOOKS_LINKS_H
#define UMBRA_HOOKS_LINKS_H

#include "hooks/thread.h"
#include "trace/frame_format.h"

/* The links of a context of the function that has this key; made if there are none. Null: no room.
 */
struct trace_links *links_of(struct thread *thread, struct trace_node *node,
                             const struct frame_key *key);
/* The links of a frame of the function that has no context of its own, as its call was not
   recorded: what it calls is below `caller`. */
struct trace_links *links_of_adopted(struct thread *thread, const struct trace_node *caller,
                                     const struct frame_key *key);

/* The link of that number among a context's links; `links` may also be the chunk that has it. Null: no
   room. */
struct trace_link *links_at(struct thread *thread, struct trace_links *links, uint32_t number);
/* The record that the link of that number is in: `links`, or a chunk. Null: no room. */
struct trace_links *links_with(struct thread *thread, struct trace_links *links, uint32_t number);

/* Calls that the link has counted since link_hand_on. */
uint32_t link_calls(const struct trace_link *link);

/* A record that links can lead to, of a context that has none itself. Null: no room. */
struct trace_links *links_of_leaf(struct thread *thread, const struct trace_node *node,
                                  const struct frame_key *key);

/* A link of a context's for one more target of a call by a pointer. Null: no room. */
struct trace_link *links_further(struct thread *thread, const struct trace_links *links);

/* The context that links are of. */
struct trace_node *links_node(const struct thread *thread, const struct trace_links *links);

/* A context of a function without links. */
bool links_is_leaf(const struct trace_node *node);

/* How many of a context's calls were counted, but for those that links have not handed on yet. */
uint64_t links_calls(const struct trace_node *node);

/* One more call, which has no record. */
void links_count(struct trace_node *node);

/* What a link has counted is handed on to its context. */
void link_hand_on(struct trace_link *link, struct trace_node *node);

/* Where calls are counted and none is timed (session.counts_only), contexts are shared by all places that
   a function calls another from, and links keep what they count, so that each place's number is known.
   link_go_on and link_hand_on_from are then in place of link_arm and link_hand_on. */

/* Calls by the link, which is one of `links`, are made from a place. */
void link_note_site(struct thread *thread, const struct trace_links *links,
                    const struct trace_link *link, uint64_t site);
/* The link takes the slow path after LINK_AHEAD calls more. What it has counted it keeps, unless that is much:
   then it is handed on, as calls of `node` from `site`. Returns how many there were since the last time. */
uint32_t link_go_on(struct thread *thread, const struct trace_links *links, struct trace_link *link,
                    struct trace_node *node, uint64_t site);
/* To be called behind link_go_on: the link takes the slow path after so many calls, not LINK_AHEAD. */
void link_look_after(struct trace_link *link, uint32_t calls);
/* The link is to count something else: all that it has counted is handed on. */
void link_hand_on_from(struct thread *thread, const struct trace_links *links,
                       struct trace_link *link, struct trace_node *node, uint64_t site);

/* The link counts jumps out of the function that the links are of, and leads to a context. */
void link_is_jump(struct trace_links *links, struct trace_link *link);
/* A frame of the context has a record, which ends where the function jumps: the next jump by each
   link takes the slow path. */
void links_stop_at_jumps(const struct thread *thread, struct trace_links *links);

/* The link takes the slow path when the turn of a call of its context comes. */
void link_arm(struct trace_link *link, const struct trace_node *node);

#endif
