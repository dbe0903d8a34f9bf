#include "service/server/listeners.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "service/base/message.h"
#include "service/server/client.h"
#include "service/server/linux/packet_client.h"
#include "service/server/service.h"
#include "service/server/tcp_client.h"

static void program_connects(void *owner)
{
    struct service *service = owner;
    struct connection_peer peer;
    int connection = endpoint_accept(&service->endpoint, service->endpoint.listener, &peer);

    if (connection >= 0)
        packet_client_begin(service, connection, &peer);
}

/* No folder keeps others from this one: they are not worth a message each. */
static void program_connects_second(void *owner)
{
    struct service *service = owner;
    struct connection_peer peer;
    int connection = endpoint_accept(&service->endpoint, service->second_listener, &peer);

    if (connection >= 0 && peer.uid != geteuid() && peer.uid != 0)
        close(connection);
    else if (connection >= 0)
        packet_client_begin(service, connection, &peer);
}

bool listeners_add(struct service *service, int listener)
{
    service->second_listener = listener;
    return service_watch(service, &service->second_source, listener, program_connects_second);
}

static void windows_program_connects(void *owner)
{
    struct service *service = owner;
    int connection = tcp_endpoint_accept(&service->tcp);

    if (connection >= 0)
        tcp_client_begin(service, connection);
}

bool listeners_open(struct service *service)
{
    /* Programs of this system do not need it: it may fail, where there is no loopback device. */
    tcp_endpoint_open(&service->tcp, service->endpoint.rendezvous_path);
    if (service_watch(service, &service->endpoint_source, service->endpoint.listener,
                      program_connects) &&
        (service->tcp.listener < 0 ||
         service_watch(service, &service->tcp_source, service->tcp.listener,
                       windows_program_connects)))
        return true;
    message("cannot wait for connections: %s", strerror(errno));
    return false;
}

/* Let in or not, it has got no answer. */
struct unserved {
    unsigned count;
    int first; /* pid */
};

static void note_unserved(struct unserved *unserved, int pid)
{
    if (!unserved->count++)
        unserved->first = pid;
}

static void note_waiting(struct service *service, int listener, struct unserved *unserved)
{
    struct connection_peer peer;
    int connection;

    while ((connection = endpoint_accept(&service->endpoint, listener, &peer)) >= 0) {
        close(connection);
        note_unserved(unserved, (int)peer.pid);
    }
}

void listeners_say_unserved(struct service *service)
{
    struct unserved unserved = {0};
    struct client *client;

    DL_FOREACH(service->clients, client)
    {
        if (client->pid && !client->awaits_the_end)
            note_unserved(&unserved, client->pid);
    }
    if (!service->endpoint.is_inherited)
        note_waiting(service, service->endpoint.listener, &unserved);
    if (service->second_listener >= 0)
        note_waiting(service, service->second_listener, &unserved);
    if (unserved.count)
        message("pid %d%s connected when this service had no more time for it: not recorded",
                unserved.first, unserved.count > 1 ? " and others" : "");
}
