#include "service/base/tcp.h"

#include <winsock2.h>
#include <windows.h>
#include <errno.h>
#include <ws2tcpip.h>

#include "service/base/windows/error.h"

#define BACKLOG 1024

bool tcp_begin(void)
{
    WSADATA data;

    errno = ENOSYS;
    return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

static int descriptor_of(SOCKET socket)
{
    if (socket == INVALID_SOCKET)
        error_to_errno();
    return socket == INVALID_SOCKET ? -1 : (int)socket;
}

static int give_up(SOCKET socket)
{
    error_to_errno();
    if (socket != INVALID_SOCKET)
        closesocket(socket);
    return -1;
}

/* Not inherited: a command that had it would keep a connection open that we have closed. */
static SOCKET new_socket(void)
{
    SOCKET new = WSASocketW(AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED);

    if (new != INVALID_SOCKET)
        SetHandleInformation((HANDLE) new, HANDLE_FLAG_INHERIT, 0);
    return new;
}

static bool set_nonblocking(SOCKET socket)
{
    u_long yes = 1;

    return ioctlsocket(socket, (long)FIONBIO, &yes) == 0;
}

int tcp_listen(uint16_t *port)
{
    struct sockaddr_in address = loopback(0);
    int size = sizeof(address);
    SOCKET listener = new_socket();
    BOOL exclusive = TRUE;

    if (listener == INVALID_SOCKET ||
        setsockopt(listener, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (char *)&exclusive,
                   sizeof(exclusive)) ||
        bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, BACKLOG) ||
        getsockname(listener, (struct sockaddr *)&address, &size) || !set_nonblocking(listener))
        return give_up(listener);
    *port = ntohs(address.sin_port);
    return (int)listener;
}

int tcp_accept(int listener)
{
    SOCKET connection = accept((SOCKET)listener, NULL, NULL);

    if (connection == INVALID_SOCKET)
        return descriptor_of(connection);
    SetHandleInformation((HANDLE)connection, HANDLE_FLAG_INHERIT, 0);
    return set_nonblocking(connection) ? (int)connection : give_up(connection);
}

int tcp_spare(void)
{
    return descriptor_of(new_socket());
}

int tcp_connect(uint16_t port, unsigned patience_s)
{
    struct sockaddr_in address = loopback(port);
    DWORD patience_ms = patience_s * 1000;
    SOCKET connection = new_socket();

    if (connection == INVALID_SOCKET ||
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, (char *)&patience_ms,
                   sizeof(patience_ms)) ||
        connect(connection, (struct sockaddr *)&address, sizeof(address)))
        return give_up(connection);
    return (int)connection;
}

bool tcp_send(int connection, const void *bytes, size_t size)
{
    int sent = send((SOCKET)connection, bytes, (int)size, 0);

    return sent == (int)size || error_to_errno();
}

ssize_t tcp_receive(int connection, void *bytes, size_t size)
{
    int got = recv((SOCKET)connection, bytes, (int)size, 0);

    if (got < 0)
        error_to_errno();
    return got;
}

void tcp_close(int connection)
{
    if (connection < 0)
        return;
    closesocket((SOCKET)connection);
}
