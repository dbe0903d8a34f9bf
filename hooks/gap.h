/* Adaptive timing: which calls of a context are timed, and how many each stands for (trace_format.h). As in assembly. */
#ifndef UMBRA_HOOKS_GAP_H
#define UMBRA_HOOKS_GAP_H

#include "hooks/layout.h"
#include "trace/trace_format.h"

/* Call number `number` is timed: returns how many calls it stands for, and sets when the next one is. */
static inline uint8_t gap_take(struct trace_node *node, uint32_t number)
{
    uint8_t weight = node->gap;

    node->gap = (uint8_t)(node->mask / 2 + 1 + (node->random & node->mask));
    node->next = number + node->gap;
    return weight;
}

/* A timed call took `ticks`; clock: the reading at its end. */
static inline void gap_adapt(struct trace_node *node, uint64_t ticks, uint32_t clock)
{
    uint32_t most = ++node->timed < TIMING_MANY ? TIMING_MASK : TIMING_MASK_OF_MANY;

    node->random = (uint8_t)(clock * TIMING_MIX >> 24);
    if (ticks < TIMING_SHORT)
        node->mask = (uint8_t)((node->mask * 2 + 1) & most);
    else if (ticks >= TIMING_LONG)
        node->mask = 0;
}

/* What such a call adds to its context's time. */
static inline uint64_t gap_ticks(uint64_t ticks, uint64_t weight)
{
    return ticks < TIMING_SLOW ? ticks * weight : ticks;
}

#endif
