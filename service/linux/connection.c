#include "service/connection.h"

#include <string.h>
#include <sys/socket.h>

#include "service/process.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

bool connection_read_peer(int connection, struct connection_peer *peer)
{
    struct ucred credentials;
    socklen_t size = sizeof(credentials);

    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
        return false;
    peer->pid = credentials.pid;
    peer->uid = credentials.uid;
    return true;
}

int connection_watch_peer(int connection, pid_t pid)
{
    int watch;
    socklen_t size = sizeof(watch);

    if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &watch, &size) == 0)
        return watch;
    return process_watch(pid);
}

bool connection_send(int connection, const void *bytes, size_t size, int descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

    if (descriptor >= 0) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *head = CMSG_FIRSTHDR(&packet);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
    }
    return sendmsg(connection, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

ssize_t connection_receive(int connection, void *bytes, size_t size)
{
    return recv(connection, bytes, size, MSG_TRUNC);
}
