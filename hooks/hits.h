/*
 * A thread's samples, kept one by one (struct trace_hit):
 *
 *      kept so far        0 … 65,535   … 131,071   … 196,607   … 262,143
 *      kept               each         every 2nd   every 4th   every 8th     up to every 1,024th
 *
 * so that an hour of a thread's processor time takes some 9 MB. Each has the time of those that were left
 * out since the one before.
 */
#ifndef UMBRA_HOOKS_HITS_H
#define UMBRA_HOOKS_HITS_H

#include "hooks/thread.h"

/* In the handler of the sampler's signal: a sample has met the calling thread at an instruction. ns of
   processor time are its. What there is no room for is not kept. */
void hits_add(struct thread *thread, const struct trace_node *node, uint64_t instruction,
              uint64_t ns);

#endif
