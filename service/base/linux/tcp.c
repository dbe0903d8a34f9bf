#include "service/base/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define BACKLOG 1024

bool tcp_begin(void)
{
    return true;
}

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static int give_up(int descriptor)
{
    int error = errno;

    tcp_close(descriptor);
    errno = error;
    return -1;
}

int tcp_listen(uint16_t *port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(listener, BACKLOG) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        return give_up(listener);
    *port = ntohs(address.sin_port);
    return listener;
}

int tcp_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int tcp_spare(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int tcp_connect(uint16_t port, unsigned patience_s)
{
    struct sockaddr_in address = loopback(port);
    struct timeval patience = {.tv_sec = patience_s};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connection < 0 ||
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
        connect(connection, (struct sockaddr *)&address, sizeof(address)) < 0)
        return give_up(connection);
    return connection;
}

bool tcp_send(int connection, const void *bytes, size_t size)
{
    ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);

    if (sent >= 0 && (size_t)sent < size)
        errno = EAGAIN;
    return sent == (ssize_t)size;
}

ssize_t tcp_receive(int connection, void *bytes, size_t size)
{
    return recv(connection, bytes, size, 0);
}

void tcp_close(int connection)
{
    if (connection >= 0)
        close(connection);
}
