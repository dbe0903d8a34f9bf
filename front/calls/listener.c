#include "front/calls/listener.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int listener_receive(int socket, pid_t *pid)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control;
    char byte;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int listener = -1;

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at)) {
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS)
            memcpy(&listener, CMSG_DATA(at), sizeof(listener));
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_CREDENTIALS) {
            struct ucred peer;
            memcpy(&peer, CMSG_DATA(at), sizeof(peer));
            *pid = peer.pid;
        }
    }
    return listener;
}

bool listener_send(int socket, int listener)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte = 0;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &listener, sizeof(listener));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 && read(socket, &byte, 1) == 1;
}
