#include "grinder/views/trace_feed.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PATIENCE_MS 1000

/* -1 also if the other end is closed: then there is no feed any more. */
static int receive(struct trace_feed *feed)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte;
    struct iovec content = {&byte, 1};
    struct msghdr packet = {.msg_iov = &content,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    int trace = -1;

    if (recvmsg(feed->socket, &packet, MSG_CMSG_CLOEXEC) != 1) {
        feed->socket = -1;
        return -1;
    }
    if (packet.msg_controllen >= sizeof(control.head) && control.head.cmsg_level == SOL_SOCKET &&
        control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&trace, CMSG_DATA(&control.head), sizeof(trace));
    return trace;
}

int trace_feed_next(struct trace_feed *feed)
{
    struct pollfd answer = {.fd = feed->socket, .events = POLLIN};

    if (feed->socket < 0)
        return -1;
    if (!feed->is_owed && send(feed->socket, "", 1, MSG_NOSIGNAL) != 1) {
        feed->socket = -1;
        return -1;
    }
    feed->is_owed = poll(&answer, 1, PATIENCE_MS) != 1;
    return feed->is_owed ? -1 : receive(feed);
}
