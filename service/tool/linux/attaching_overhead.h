/* attach --overhead: takes out hooks that cost too much, while the service runs. */
#ifndef UMBRA_SERVICE_ATTACHING_OVERHEAD_H
#define UMBRA_SERVICE_ATTACHING_OVERHEAD_H

#include "service/attach/overhead.h"
#include "service/tool/linux/unhooking.h"

struct attaching_overhead {
    struct unhooking *unhooking;
    struct overhead overhead;
    struct event_timer timer; /* the next look */
};

/* Looks, each time the service's loop comes to it, until attaching_overhead_end. */
void attaching_overhead_begin(struct attaching_overhead *overhead);
void attaching_overhead_end(struct attaching_overhead *overhead);

#endif
