#include "service/keeper/linux/keeper_packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    char bytes[CMSG_SPACE(KEEPER_DESCRIPTORS * sizeof(int))];
    struct cmsghdr align;
};

bool keeper_packet_send(int socket, struct keeper_packet *packet,
                        const int files[KEEPER_DESCRIPTORS])
{
    union control control = {0};
    struct iovec part = {packet, sizeof(*packet)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int present[KEEPER_DESCRIPTORS];
    unsigned count = 0;
    ssize_t sent;

    packet->magic = KEEPER_PACKET_MAGIC;
    packet->has = 0;
    for (unsigned i = 0; files && i < KEEPER_DESCRIPTORS; i++) {
        if (files[i] < 0)
            continue;
        present[count++] = files[i];
        packet->has |= 1u << i;
    }
    if (count) {
        struct cmsghdr *head = &control.align;

        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(head), present, count * sizeof(int));
    }
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == sizeof(*packet);
}

/* Spreads what came to the places that packet->has names; what is too much is closed. */
static bool place(const struct keeper_packet *packet, const int *came, unsigned count,
                  int files[KEEPER_DESCRIPTORS])
{
    unsigned used = 0;

    for (unsigned i = 0; i < KEEPER_DESCRIPTORS && used < count; i++) {
        if (packet->has >> i & 1)
            files[i] = came[used++];
    }
    for (unsigned i = used; i < count; i++)
        close(came[i]);
    return used == count && used == (unsigned)__builtin_popcount(packet->has);
}

/* A file in the session's directory. */
static bool names_trace(const struct keeper_packet *packet)
{
    const char *dot = strrchr(packet->name, '.');

    return dot && dot > packet->name && !strcmp(dot, ".bin") && !strchr(packet->name, '/');
}

static void close_all(int files[KEEPER_DESCRIPTORS])
{
    for (unsigned i = 0; i < KEEPER_DESCRIPTORS; i++) {
        if (files[i] >= 0)
            close(files[i]);
        files[i] = -1;
    }
}

bool keeper_packet_receive(int socket, struct keeper_packet *packet, int files[KEEPER_DESCRIPTORS])
{
    union control control = {0};
    struct iovec part = {packet, sizeof(*packet)};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control),
    };
    int came[KEEPER_DESCRIPTORS];
    unsigned count = 0;
    ssize_t size;
    bool ok;

    for (unsigned i = 0; i < KEEPER_DESCRIPTORS; i++)
        files[i] = -1;
    do
        size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    if (message.msg_controllen >= sizeof(struct cmsghdr) && size > 0 &&
        control.align.cmsg_type == SCM_RIGHTS) {
        count = (unsigned)((control.align.cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(came, CMSG_DATA(&control.align), count * sizeof(int));
    }
    ok = size == sizeof(*packet) && packet->magic == KEEPER_PACKET_MAGIC;
    if (!ok)
        packet->has = 0;
    packet->name[sizeof(packet->name) - 1] = 0;
    packet->directory[sizeof(packet->directory) - 1] = 0;
    ok = place(packet, came, count, files) && ok;
    if (ok && packet->kind == KEEPER_HOLD && names_trace(packet))
        return true;
    close_all(files);
    ok = ok && packet->kind != KEEPER_HOLD;
    if (!ok)
        packet->kind = 0;
    return ok;
}
