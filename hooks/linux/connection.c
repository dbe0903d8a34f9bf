#include "hooks/connection.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hooks/linux/attachment.h"
#include "hooks/linux/found_pages.h"
#include "hooks/linux/trust.h"
#include "hooks/memory.h"
#include "thunkstash/linux/linux_pages.h"
#include "thunkstash/linux/own_memory.h"
#include "thunkstash/linux/syscalls.h"
#include "trace/event_format.h"
#include "trace/trace_format.h"

#define ANSWER_MILLISECONDS 1000 /* of a service that has much to do */
#define LOOK_MILLISECONDS   50   /* after which it is asked whether it does anything */
#define STAT_SIZE           64 /* of /proc/PID/stat: with the parent's number, whatever the name */
#define MOST_ANCESTORS      64
#define COMMITTED           EVENT_SEGMENT_SIZE /* bytes at a time: no claim is larger */
#define MOST_AHEAD          (1u << 20)         /* bytes of memory for a trace */

/* To trusted users' services only (trust.h), and waits for nobody. */
static long connect_at(const struct sockaddr_un *address, uint64_t size)
{
    long socket = SYSCALL3(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (syscall_failed(socket))
        return -1;
    if (syscall_failed(SYSCALL3(connect, socket, address, size)) || !trust_peer(socket)) {
        SYSCALL1(close, socket);
        return -1;
    }
    return socket;
}

static long connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    text_copy(address.sun_path, sizeof(address.sun_path), path);
    return trust_folder_of(address.sun_path) ? connect_at(&address, sizeof(address)) : -1;
}

/* Anybody may listen at such a name, once nobody does: who it is has to be enough. */
static long connect_to_abstract(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    text_copy(address.sun_path + 1, sizeof(address.sun_path) - 1, name);
    return connect_at(&address, offsetof(struct sockaddr_un, sun_path) + 1 + text_length(name));
}

/* "STATE PARENT …" of /proc/PID/stat: what follows the name, which ends with the last ')'. Null:
   there is no such process, or /proc does not show it. */
static const char *state_of(uint32_t pid, char stat[STAT_SIZE])
{
    char path[32] = "/proc/", *state = stat + STAT_SIZE - 1;
    long file;

    memset(stat, 0, STAT_SIZE);
    text_append_number(path, sizeof(path), pid);
    text_append(path, sizeof(path), "/stat");
    file = SYSCALL4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(file))
        return NULL;
    SYSCALL3(read, file, stat, STAT_SIZE - 1);
    SYSCALL1(close, file);
    while (state > stat && *state != ')')
        state--;
    return state[0] == ')' && state[1] == ' ' ? state + 2 : NULL;
}

static uint32_t parent_of(uint32_t pid)
{
    char stat[STAT_SIZE];
    const char *digit = state_of(pid, stat);
    uint32_t parent = 0;

    if (!digit || !digit[0] || digit[1] != ' ')
        return 0;
    for (digit += 2; *digit >= '0' && *digit <= '9'; digit++)
        parent = 10 * parent + (uint32_t)(*digit - '0');
    return parent;
}

/* The socket that the link of this pid leads to. */
static bool read_link(char socket[PROTOCOL_PATH_SIZE], uint32_t pid, uint32_t uid)
{
    char path[PROTOCOL_PATH_SIZE];
    long length;

    protocol_command_link(path, pid, uid);
    length = SYSCALL3(readlink, path, socket, PROTOCOL_PATH_SIZE - 1);
    if (syscall_failed(length))
        return false;
    socket[length] = 0;
    return true;
}

/* The folder with the links is as good as that of a socket, and so is the one that it is in. */
static bool links_are_trusted(uint32_t uid)
{
    char path[PROTOCOL_PATH_SIZE];
    size_t length = protocol_command_link(path, 0, uid);

    if (!trust_folder_of(path))
        return false;
    while (path[length - 1] != '/')
        length--;
    path[length - 1] = 0;
    return trust_folder_of(path);
}

/* Does the path end with the instance's socket? */
static bool is_of_instance(const char *path, const char *instance)
{
    char end[PROTOCOL_PATH_SIZE] = "/";
    size_t length = text_length(path), end_length;

    text_append(end, sizeof(end), instance);
    text_append(end, sizeof(end), ".socket");
    end_length = text_length(end);
    return length >= end_length && text_equal(path + length - end_length, end);
}

/* The service of `start -- COMMAND` that is the nearest ancestor: protocol.h. instance: null, or
   the one that it must be. */
static long connect_to_ancestor(const char *instance)
{
    uint32_t uid = (uint32_t)SYSCALL0(geteuid), pid = (uint32_t)SYSCALL0(getppid);
    char path[PROTOCOL_PATH_SIZE];

    if (!links_are_trusted(uid))
        return -1;
    for (int i = 0; i < MOST_ANCESTORS && pid > 1; i++, pid = parent_of(pid))
        if (read_link(path, pid, uid) && (!instance || is_of_instance(path, instance)))
            return connect_to(path);
    return -1;
}

static const char *runtime_folder(char *const *environment)
{
    const char *own = environment_value(environment, "UMBRA_RUNTIME_DIR");

    return own && *own ? own : environment_value(environment, "XDG_RUNTIME_DIR");
}

/* A variable that is set is followed first. */
static long connect_to_service(char *const *environment)
{
    const char *instance = environment_value(environment, "UMBRA_INSTANCE_ID");
    const char *abstract = attachment_socket();
    char path[PROTOCOL_PATH_SIZE];
    bool is_named = instance && *instance;
    long socket = is_named ? -1 : connect_to_ancestor(NULL);

    if (abstract)
        return connect_to_abstract(abstract);
    if (socket < 0 && protocol_socket_path(path, runtime_folder(environment), instance,
                                           (unsigned)SYSCALL0(geteuid)))
        socket = connect_to(path);
    return socket < 0 && is_named ? connect_to_ancestor(instance) : socket;
}

/* A process that was stopped, by a debugger or SIGSTOP, or that is gone. */
static bool peer_is_stopped(long socket)
{
    char stat[STAT_SIZE];
    const char *state;
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (syscall_failed(SYSCALL5(getsockopt, socket, SOL_SOCKET, SO_PEERCRED, &peer, &size)) ||
        peer.pid <= 0)
        return false;
    state = state_of((uint32_t)peer.pid, stat);
    return state && (*state == 'T' || *state == 't' || *state == 'Z');
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

#define DESCRIPTORS PROTOCOL_DESCRIPTORS

/* The descriptors that came with the welcome, -1 where there is none. */
static void receive_welcome(long socket, struct protocol_welcome *welcome, int files[DESCRIPTORS])
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
    } control = {0};
    struct iovec packet = {welcome, sizeof(*welcome)};
    struct msghdr message = {.msg_iov = &packet,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    size_t size;

    if (!answer_comes(socket))
        return;
    if (SYSCALL3(recvmsg, socket, &message, MSG_CMSG_CLOEXEC) != sizeof(*welcome))
        return;
    if (message.msg_controllen < sizeof(control.header) || control.header.cmsg_type != SCM_RIGHTS ||
        control.header.cmsg_level != SOL_SOCKET)
        return;
    size = control.header.cmsg_len - CMSG_LEN(0);
    memcpy(files, CMSG_DATA(&control.header),
           size < DESCRIPTORS * sizeof(*files) ? size : DESCRIPTORS * sizeof(*files));
}

/* A service may hand over a file of another user, knowingly or not. */
static bool files_are_trusted(const int files[DESCRIPTORS])
{
    for (int i = 0; i < DESCRIPTORS; i++)
        if (files[i] >= 0 && !trust_file(files[i]))
            return false;
    return true;
}

static bool welcome_is_sound(const struct protocol_welcome *welcome)
{
    return welcome->magic == PROTOCOL_MAGIC && welcome->version == PROTOCOL_VERSION &&
           welcome->kind == PROTOCOL_WELCOME && welcome->capacity >= 2 * TRACE_HEADER_SIZE &&
           welcome->capacity / TRACE_UNIT <= UINT32_MAX;
}

/* The trace's and the ring's pages: reserved, and committed as they are claimed. */
enum { TRACE, RING, RESERVED };
static struct memory_span reserved[RESERVED];

/* One call for many pages takes a fraction of the time. */
static struct found_pages found;

/* Its front is there to be used at once. */
static void *map_shared(struct memory_span *span, long file, uint64_t size, uint64_t front)
{
    void *pages = pages_reserve_shared(file, size);

    *span = (struct memory_span){(uintptr_t)pages, (uintptr_t)pages + size};
    if (pages)
        pages_keep_from_children(pages, size);
    if (!pages || pages_commit(pages, front))
        return pages;
    pages_give_back(pages, size);
    return NULL;
}

/* Maps the trace; where the address space is limited, as much of its front as there is room for. */
static char *map_trace(long file, struct protocol_welcome *welcome)
{
    uint64_t most = welcome->capacity < CONNECTION_MOST_ADDRESSES ? welcome->capacity
                                                                  : CONNECTION_MOST_ADDRESSES;

    for (uint64_t size = most; size >= 16 * TRACE_BLOCK_SIZE; size /= 2) {
        char *trace;

        size = size / TRACE_BLOCK_SIZE * TRACE_BLOCK_SIZE;
        trace = map_shared(&reserved[TRACE], file, size, TRACE_HEADER_SIZE);
        if (trace) {
            found = (struct found_pages){0};
            welcome->capacity = size;
            return trace;
        }
    }
    return NULL;
}

/* The ring is large. A recording without it is still of use. */
static void *map_ring(long file, const struct protocol_welcome *welcome)
{
    if (welcome->ring_size < EVENT_RING_HEADER + EVENT_SEGMENT_SIZE ||
        (welcome->ring_size - EVENT_RING_HEADER) / EVENT_SEGMENT_SIZE > EVENT_MOST_SEGMENTS)
        return NULL;
    return map_shared(&reserved[RING], file, welcome->ring_size, EVENT_RING_HEADER);
}

/* The trace, the ring in call-trace mode, and the trace for reading alone. */
static void map_files(struct connection_maps *maps, const int files[DESCRIPTORS],
                      struct protocol_welcome *welcome)
{
    int readable = files[welcome->ring_size ? 2 : 1];

    maps->page = readable < 0 ? NULL : pages_map_readable(readable, TRACE_HEADER_SIZE);
    maps->trace = maps->page ? map_trace(files[0], welcome) : NULL;
    if (maps->trace && welcome->ring_size)
        maps->ring = map_ring(files[1], welcome);
    if (maps->trace || !maps->page)
        return;
    pages_give_back((void *)maps->page, TRACE_HEADER_SIZE);
    maps->page = NULL;
}

/* By agent.lds: a note(ELF) whose content is a hash of all that the agent consists of. */
extern const struct {
    uint32_t name_size, content_size, type;
    char name[4];
    uint32_t content[2];
} umbra_build_id __attribute__((visibility("hidden")));

static void identify(struct protocol_hello *hello)
{
    if (umbra_build_id.type != NT_GNU_BUILD_ID || !text_equal(umbra_build_id.name, "GNU") ||
        umbra_build_id.content_size < sizeof(umbra_build_id.content))
        return;
    hello->more[0] = umbra_build_id.content[0];
    hello->more[1] = umbra_build_id.content[1];
}

struct connection_maps connection_open(char *const *environment, uint32_t fork_of_pid,
                                       struct protocol_welcome *welcome)
{
    struct protocol_hello hello = {.magic = PROTOCOL_MAGIC,
                                   .version = PROTOCOL_VERSION,
                                   .kind = PROTOCOL_HELLO,
                                   .pid = (uint32_t)SYSCALL0(getpid),
                                   .fork_of_pid = fork_of_pid};
    long socket = connect_to_service(environment);
    struct connection_maps maps = {0};
    int files[DESCRIPTORS] = {-1, -1, -1};

    if (socket < 0)
        return maps;
    identify(&hello);
    if (SYSCALL6(sendto, socket, &hello, sizeof(hello), MSG_NOSIGNAL, 0, 0) == sizeof(hello))
        receive_welcome(socket, welcome, files);
    if (files[0] >= 0 && files_are_trusted(files) && welcome_is_sound(welcome))
        map_files(&maps, files, welcome);
    for (int i = 0; i < DESCRIPTORS; i++)
        if (files[i] >= 0)
            SYSCALL1(close, files[i]);
    SYSCALL1(close, socket);
    return maps;
}

/* More at a time, since the next parts to be claimed are the next ones in memory. */
static uint64_t size_to_commit(uint64_t part, uint64_t size)
{
    for (int i = 0; i < RESERVED; i++) {
        const struct memory_span *span = &reserved[i];

        if (part - span->start < span->end - span->start)
            return span->end - part < COMMITTED ? span->end - part : COMMITTED;
    }
    return size;
}

/* An eighth more than there is, so that what is never used is little. */
static bool find_ahead(uint64_t part, uint64_t size)
{
    const struct memory_span *span = &reserved[TRACE];
    uint64_t ahead = (part - span->start) / 8 / TRACE_BLOCK_SIZE * TRACE_BLOCK_SIZE;

    ahead = ahead < MOST_AHEAD ? ahead : MOST_AHEAD;
    if (part - span->start >= span->end - span->start || ahead <= size)
        return false;
    ahead = ahead < span->end - part ? ahead : span->end - part;
    if (!pages_populate((void *)(uintptr_t)part, ahead) &&
        (!pages_commit((void *)(uintptr_t)part, ahead) ||
         !pages_populate((void *)(uintptr_t)part, ahead)))
        return false;
    found_pages_set(&found, part - span->start, ahead);
    return true;
}

static bool is_found(uint64_t part, uint64_t size)
{
    return part - reserved[TRACE].start < reserved[TRACE].end - reserved[TRACE].start &&
           found_pages_has(&found, part - reserved[TRACE].start, size);
}

bool connection_claim(void *part, uint64_t size, uint32_t at)
{
    return is_found((uintptr_t)part, size) || find_ahead((uintptr_t)part, size) ||
           pages_touch(part, size, at) ||
           (pages_commit(part, size_to_commit((uintptr_t)part, size)) &&
            pages_touch(part, size, at));
}

bool connection_claim_apart(void *part, uint64_t size, uint32_t at)
{
    return pages_commit(part, size) && pages_touch(part, size, at);
}

void connection_forget(const void *pages, uint64_t size)
{
    if (pages)
        pages_forget(pages, size);
}
