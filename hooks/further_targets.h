/*
 * What calls by pointers lead to beyond the two targets that their site knows (frame_format.h): a table of
 * each thread's, which sites look into by themselves.
 *
 *      home    = (target * FURTHER_HASH + site) & mask          in bytes: entries have 32
 *
 *      ... | home: site, target, link, go | next: site, target, link, go | ...
 *
 * An entry is at its home or in the one behind it. The link is in the trace, as all are; an entry that has
 * no place is forgotten, which loses nothing but the way to it.
 *
 * A signal handler may look, and add, between any two instructions of a site: so entries never change once
 * they have their site, and a table that is too small stays where it is, behind a larger one.
 */
#ifndef UMBRA_HOOKS_FURTHER_TARGETS_H
#define UMBRA_HOOKS_FURTHER_TARGETS_H

#include "hooks/links.h"

/* The link of a target; null if it is not known. */
struct trace_link *further_target_find(const struct thread *thread, const struct pointer_links *site,
                                       uint64_t target);
/* Whether the thread can have one more. */
bool further_target_has_room(const struct thread *thread);
/* Adds one that is not known. Where there is no memory, it is not known afterwards. */
void further_target_add(struct thread *thread, const struct further_target *further);

/* The thread's tables are given back: it is gone. */
void further_targets_release(struct thread *thread);

#endif
