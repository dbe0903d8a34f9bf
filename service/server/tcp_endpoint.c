#include "service/server/tcp_endpoint.h"

#include <errno.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/base/random.h"
#include "service/base/system_clock.h"
#include "service/base/tcp.h"

bool tcp_endpoint_open(struct tcp_endpoint *endpoint, const char *path)
{
    struct rendezvous *rendezvous = &endpoint->rendezvous;

    *endpoint = (struct tcp_endpoint){.listener = -1, .spare = -1, .path = path};
    if (!random_fill(rendezvous->secret, sizeof(rendezvous->secret)) ||
        !random_fill(rendezvous->proof, sizeof(rendezvous->proof))) {
        message("cannot make a secret: %s", strerror(errno));
        return false;
    }
    if (!tcp_begin() || (endpoint->listener = tcp_listen(&rendezvous->port)) < 0) {
        message("127.0.0.1: cannot listen for Windows programs: %s", strerror(errno));
        return false;
    }
    endpoint->spare = tcp_spare();
    if (rendezvous_write(path, rendezvous))
        return true;
    message("%s: cannot write: %s", path, strerror(errno));
    endpoint->path = NULL;
    tcp_endpoint_close(endpoint);
    return false;
}

void tcp_endpoint_close(struct tcp_endpoint *endpoint)
{
    if (endpoint->listener < 0)
        return;
    if (endpoint->path)
        file_remove_path(endpoint->path);
    tcp_close(endpoint->listener);
    tcp_close(endpoint->spare);
    endpoint->listener = endpoint->spare = -1;
}

/* Who connects while there are no descriptors must not wait for an answer: it hears a close. */
static void turn_one_away(struct tcp_endpoint *endpoint)
{
    int connection;

    if (!endpoint->said_no_descriptor)
        message("no descriptors are left: some Windows programs are turned away");
    endpoint->said_no_descriptor = true;
    tcp_close(endpoint->spare);
    connection = tcp_accept(endpoint->listener);
    if (connection < 0)
        system_clock_sleep_ms(10); /* the whole system has none */
    tcp_close(connection);
    endpoint->spare = tcp_spare();
}

int tcp_endpoint_accept(struct tcp_endpoint *endpoint)
{
    int connection = tcp_accept(endpoint->listener);

    if (connection < 0 &&
        (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
        turn_one_away(endpoint);
    return connection;
}
