/* attach --overhead: takes out hooks that cost too much, while the service runs. */
#ifndef UMBRA_SERVICE_ATTACHING_OVERHEAD_H
#define UMBRA_SERVICE_ATTACHING_OVERHEAD_H

#include "service/attach/attach.h"
#include "service/attach/overhead.h"
#include "service/server/service.h"
#include "trace/unhooked_format.h"

struct attaching_overhead {
    struct service *service;
    struct attached *attached;
    pid_t pid;
    double percent;
    struct overhead overhead;
    struct event_timer timer; /* the next look */
    struct unhooked *unhooked; /* what becomes of them is written beside the trace at each change */
    size_t count, room;
    bool is_late; /* hooks are not yet as they should be */
};

/* Looks, each time the service's loop comes to it, until attaching_overhead_end. */
void attaching_overhead_begin(struct attaching_overhead *overhead);
void attaching_overhead_end(struct attaching_overhead *overhead);

#endif
