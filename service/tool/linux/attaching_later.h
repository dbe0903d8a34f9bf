/* attach: images that the program loads later get hooks, too, while the service runs. */
#ifndef UMBRA_SERVICE_ATTACHING_LATER_H
#define UMBRA_SERVICE_ATTACHING_LATER_H

#include "service/attach/attach.h"
#include "service/server/service.h"

struct attaching_later {
    struct service *service; /* is told to stop where hooks have to go */
    struct attached *attached;
    const struct attach_settings *settings;
    struct event_timer timer; /* the next look */
};

/* Looks, each time the service's loop comes to it, until attaching_later_end. */
void attaching_later_begin(struct attaching_later *later);
void attaching_later_end(struct attaching_later *later);

#endif
