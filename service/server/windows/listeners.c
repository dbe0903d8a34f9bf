#include "service/server/listeners.h"

#include "service/server/service.h"
#include "service/server/tcp_client.h"

static void somebody_connects(void *owner)
{
    struct service *service = owner;
    int connection = tcp_endpoint_accept(&service->tcp);

    if (connection >= 0)
        tcp_client_begin(service, connection);
}

bool listeners_open(struct service *service)
{
    return tcp_endpoint_open(&service->tcp, service->endpoint.rendezvous_path) &&
           service_watch(service, &service->tcp_source, service->tcp.listener, somebody_connects);
}

void listeners_say_unserved(struct service *service)
{
    (void)service; /* a connection that ends is all that a program notices */
}
