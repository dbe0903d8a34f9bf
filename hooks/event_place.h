/* Where a thread writes its events: a part of struct thread; events.h says how it is used. */
#ifndef UMBRA_HOOKS_EVENT_PLACE_H
#define UMBRA_HOOKS_EVENT_PLACE_H

#include <stdint.h>

/* Hot. All zero: no segment. */
struct event_place {
    uint64_t next; /* address of the next word; at or past `end`: there is no room */
    uint64_t end;
    uint64_t base; /* the thread's time at the segment's base */

    struct event_segment *segment;
    uint64_t dropped;    /* events lost since the last segment was taken */
    uint64_t busy;       /* frame of a refill under way, 0 for none */
    uint32_t refused;    /* refills since then that were refused */
    uint32_t generation; /* of refills: one that was interrupted for long sees that it was */
    uint32_t wait;       /* events until segments are looked for again */
};

#endif
