#include "service/server/linux/inherited.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/base/message.h"

#define FIRST_INHERITED 3

/* How many descriptors there are for us; 0 for none. */
static unsigned long inherited_count(void)
{
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    bool ours = pid && count && strtoul(pid, NULL, 10) == (unsigned long)getpid();
    unsigned long number = ours ? strtoul(count, NULL, 10) : 0;

    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return number;
}

static int number_option(int fd, int option)
{
    int value = -1;
    socklen_t size = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, option, &value, &size) < 0 ? -1 : value;
}

static const char *what_is_wrong(int fd, const char *path)
{
    struct sockaddr_un address = {0};
    socklen_t size = sizeof(address);

    if (number_option(fd, SO_DOMAIN) != AF_UNIX || number_option(fd, SO_TYPE) != SOCK_SEQPACKET ||
        number_option(fd, SO_ACCEPTCONN) != 1)
        return "something else";
    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0 ||
        strncmp(address.sun_path, path, sizeof(address.sun_path)))
        return "one of another path";
    return NULL;
}

int inherited_listener(const char *path, int backlog)
{
    unsigned long count = inherited_count();
    const char *wrong;

    if (!count)
        return INHERITED_NONE;
    wrong = count == 1 ? what_is_wrong(FIRST_INHERITED, path) : "more than one";
    if (wrong) {
        message("LISTEN_FDS: expected one listening SOCK_SEQPACKET socket of path %s, found %s: "
                "put ListenSequentialPacket=%s into the socket unit",
                path, wrong, path);
        return INHERITED_WRONG;
    }
    /* To listen again makes those who connect from here on see us as their peer. */
    if (fcntl(FIRST_INHERITED, F_SETFD, FD_CLOEXEC) < 0 ||
        fcntl(FIRST_INHERITED, F_SETFL, O_NONBLOCK) < 0 || listen(FIRST_INHERITED, backlog) < 0) {
        message("%s: cannot listen: %s", path, strerror(errno));
        return INHERITED_WRONG;
    }
    return FIRST_INHERITED;
}
