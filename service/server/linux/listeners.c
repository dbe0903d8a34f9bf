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
    int connection = endpoint_accept(&service->endpoint, &peer);

    if (connection >= 0)
        packet_client_begin(service, connection, &peer);
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

void listeners_say_unserved(struct service *service)
{
    struct unserved unserved = {0};
    struct connection_peer peer;
    struct client *client;
    int connection;

    DL_FOREACH(service->clients, client)
    {
        if (client->pid && !client->awaits_the_end)
            note_unserved(&unserved, client->pid);
    }
    while (!service->endpoint.is_inherited &&
           (connection = endpoint_accept(&service->endpoint, &peer)) >= 0) {
        close(connection);
        note_unserved(&unserved, (int)peer.pid);
    }
    if (unserved.count)
        message("pid %d%s connected when this service had no more time for it: not recorded",
                unserved.first, unserved.count > 1 ? " and others" : "");
}
