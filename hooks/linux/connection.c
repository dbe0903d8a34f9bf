#include "hooks/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hooks/memory.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/syscalls.h"
#include "trace/trace_format.h"

#define ANSWER_MILLISECONDS 1000 /* of a service that has much to do */
#define LOOK_MILLISECONDS   50   /* after which it is asked whether it does anything */

static long connect_to_service(char *const *environment)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    long socket;

    if (!protocol_socket_path(address.sun_path, environment_value(environment, "XDG_RUNTIME_DIR"),
                              environment_value(environment, "UMBRA_INSTANCE_ID"),
                              (unsigned)SYSCALL0(geteuid)))
        return -1;
    socket = SYSCALL3(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (syscall_failed(socket))
        return -1;
    if (syscall_failed(SYSCALL3(connect, socket, &address, sizeof address))) {
        SYSCALL1(close, socket);
        return -1;
    }
    return socket;
}

/* A process that was stopped, by a debugger or SIGSTOP, or that is gone: /proc/PID/stat says so
   behind the name, which ends with the last ')'. */
static bool peer_is_stopped(long socket)
{
    char path[32] = "/proc/", stat[64] = "", *state = stat + sizeof stat - 1;
    struct ucred peer;
    socklen_t size = sizeof peer;
    long file;

    if (syscall_failed(SYSCALL5(getsockopt, socket, SOL_SOCKET, SO_PEERCRED, &peer, &size)) ||
        peer.pid <= 0)
        return false;
    text_append_number(path, sizeof path, (uint32_t)peer.pid);
    text_append(path, sizeof path, "/stat");
    file = SYSCALL3(open, path, O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(file))
        return false;
    SYSCALL3(read, file, stat, sizeof stat - 1);
    SYSCALL1(close, file);
    while (state > stat && *state != ')')
        state--;
    return state[0] == ')' && (state[2] == 'T' || state[2] == 't' || state[2] == 'Z');
}

static bool answer_comes(long socket)
{
    struct pollfd readable = {.fd = (int)socket, .events = POLLIN};

    for (int waited = 0; waited < ANSWER_MILLISECONDS; waited += LOOK_MILLISECONDS) {
        if (SYSCALL3(poll, &readable, 1, LOOK_MILLISECONDS) == 1)
            return true;
        if (peer_is_stopped(socket))
            return false;
    }
    return false;
}

/* The descriptor that came with the welcome, or -1. */
static long receive_welcome(long socket, struct protocol_welcome *welcome)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec packet = {welcome, sizeof *welcome};
    struct msghdr message = {.msg_iov = &packet,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    int trace = -1;

    if (!answer_comes(socket))
        return -1;
    if (SYSCALL3(recvmsg, socket, &message, MSG_CMSG_CLOEXEC) != sizeof *welcome)
        return -1;
    if (message.msg_controllen >= sizeof control.header && control.header.cmsg_type == SCM_RIGHTS &&
        control.header.cmsg_level == SOL_SOCKET)
        memcpy(&trace, CMSG_DATA(&control.header), sizeof trace);
    return trace;
}

static bool welcome_is_sound(const struct protocol_welcome *welcome)
{
    return welcome->magic == PROTOCOL_MAGIC && welcome->version == PROTOCOL_VERSION &&
           welcome->kind == PROTOCOL_WELCOME && welcome->capacity >= 2 * TRACE_HEADER_SIZE &&
           welcome->capacity / TRACE_UNIT <= UINT32_MAX;
}

/* Maps the trace; where the address space is limited, as much of its front as there is room for. */
static char *map_trace(long file, struct protocol_welcome *welcome)
{
    for (uint64_t size = welcome->capacity; size >= 16 * TRACE_BLOCK_SIZE; size /= 2) {
        long trace = SYSCALL6(mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

        size = size / TRACE_BLOCK_SIZE * TRACE_BLOCK_SIZE;
        if (!syscall_failed(trace)) {
            welcome->capacity = size;
            return (char *)trace;
        }
    }
    return 0;
}

char *connection_open(char *const *environment, uint32_t fork_of_pid,
                      struct protocol_welcome *welcome)
{
    struct protocol_hello hello = {.magic = PROTOCOL_MAGIC,
                                   .version = PROTOCOL_VERSION,
                                   .kind = PROTOCOL_HELLO,
                                   .pid = (uint32_t)SYSCALL0(getpid),
                                   .fork_of_pid = fork_of_pid};
    long socket = connect_to_service(environment), file = -1;
    char *trace = 0;

    if (socket < 0)
        return 0;
    if (SYSCALL6(sendto, socket, &hello, sizeof hello, MSG_NOSIGNAL, 0, 0) == sizeof hello)
        file = receive_welcome(socket, welcome);
    if (file >= 0 && welcome_is_sound(welcome))
        trace = map_trace(file, welcome);
    if (file >= 0)
        SYSCALL1(close, file);
    SYSCALL1(close, socket);
    return trace;
}

bool connection_claim(void *part, uint64_t size)
{
    return pages_touch(part, size, offsetof(struct trace_block, reserved));
}
