#include "service/server/service.h"

#include "service/launch/command.h"

void service_stop(struct service *service)
{
    if (service->command)
        command_signal(service->command, SIGTERM);
    else
        service->is_stopping = true;
}

bool service_watch(struct service *service, struct event_source *source, int fd,
                   void (*ready)(void *))
{
    *source = (struct event_source){.fd = fd, .ready = ready, .owner = service};
    return event_loop_add(&service->loop, source);
}
