#include "service/base/linux/packet.h"

#include <string.h>
#include <sys/socket.h>

bool packet_read_peer(int connection, struct connection_peer *peer)
{
    struct ucred credentials;
    socklen_t size = sizeof(credentials);

    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
        return false;
    peer->pid = credentials.pid;
    peer->uid = credentials.uid;
    return true;
}

bool packet_send(int connection, const void *bytes, size_t size, const int *descriptors,
                 unsigned count)
{
    union {
        char bytes[CMSG_SPACE(PACKET_DESCRIPTORS * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

    if (count > 0) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&packet);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(head), descriptors, count * sizeof(int));
    }
    return sendmsg(connection, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

ssize_t packet_receive(int connection, void *bytes, size_t size)
{
    return recv(connection, bytes, size, MSG_TRUNC);
}

ssize_t packet_receive_descriptor(int connection, void *bytes, size_t size, int *descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr packet = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control),
    };
    ssize_t length = recvmsg(connection, &packet, MSG_TRUNC);

    *descriptor = -1;
    if (length > 0 && packet.msg_controllen >= sizeof(control.align) &&
        control.align.cmsg_type == SCM_RIGHTS)
        memcpy(descriptor, CMSG_DATA(&control.align), sizeof(*descriptor));
    return length;
}
