/*
 * Plays the agent, and says everything wrong that can be said to the service.
 *
 *      record N         takes a trace, uses N blocks of it, ends
 *      hang N           the same, says "ready" and waits to be killed
 *      used VALUE       ends with that value as the number of bytes in use
 *      exec N           the same as record, then executes `record 1`
 *      twice            says hello twice, then goes on using the first trace
 *      fork N           the same as record, with a child that takes a trace of its own
 *      wrong WHAT       says one wrong thing and prints what the answer was
 *      path             the same as record, under a name full of slashes and dots
 *      stranger         connects as user 65534, where root runs it
 *      flood N          holds N connections open and says nothing, until they are closed
 *      show FILE        prints a trace's header and length
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/protocol.h"
#include "trace/trace_format.h"

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "service_test_client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int connect_to_service(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (!protocol_socket_path(address.sun_path, getenv("XDG_RUNTIME_DIR"),
                              getenv("UMBRA_INSTANCE_ID"), geteuid()))
        fail("socket path");
    if (connect(connection, (struct sockaddr *)&address, sizeof(address)) < 0)
        fail("connect");
    return connection;
}

static struct protocol_hello hello(void)
{
    return (struct protocol_hello){
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .kind = PROTOCOL_HELLO,
        .pid = (uint32_t)getpid(),
    };
}

/* Returns the length of the answer, 0 for none; *descriptor is negative if none came with it. */
static ssize_t receive_welcome(int connection, struct protocol_welcome *welcome, int *descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {welcome, sizeof(*welcome)};
    struct msghdr packet = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes),
    };
    ssize_t length = recvmsg(connection, &packet, MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = length > 0 ? CMSG_FIRSTHDR(&packet) : NULL;

    *descriptor = -1;
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(descriptor, CMSG_DATA(head), sizeof(int));
    return length < 0 ? 0 : length;
}

static struct trace_header *take_trace(void)
{
    struct protocol_welcome welcome;
    struct protocol_hello first = hello();
    int connection = connect_to_service();
    int fd;
    struct trace_header *trace;

    if (send(connection, &first, sizeof(first), MSG_NOSIGNAL) != sizeof(first))
        fail("send");
    if (receive_welcome(connection, &welcome, &fd) != sizeof(welcome) || fd < 0 ||
        welcome.kind != PROTOCOL_WELCOME)
        fail("welcome");
    trace = mmap(NULL, welcome.capacity, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (trace == MAP_FAILED)
        fail("mmap");
    if (trace->capacity != welcome.capacity || trace->node_limit != welcome.node_limit ||
        trace->pid != (uint32_t)getpid() || trace->used != TRACE_HEADER_SIZE)
        fail("header is not as the welcome says");
    close(connection);
    close(fd);
    return trace;
}

static struct trace_header *record(unsigned blocks)
{
    struct trace_header *trace = take_trace();

    trace->state = TRACE_RUNNING;
    for (unsigned i = 0; i < blocks; i++) {
        memset((char *)trace + trace->used, 'u', TRACE_BLOCK_SIZE);
        trace->used += TRACE_BLOCK_SIZE;
    }
    return trace;
}

static int verb_record(const char *blocks)
{
    record((unsigned)atoi(blocks))->state = TRACE_ENDED;
    return 0;
}

static int verb_hang(const char *blocks)
{
    struct trace_header *trace = record((unsigned)atoi(blocks));

    printf("ready\n");
    fflush(stdout);
    /* Writes far behind what is in use: that kills us if the service cuts the file. */
    while (usleep(10000) == 0)
        ((volatile char *)trace)[trace->capacity - 1] = 1;
    return 1;
}

static int verb_used(const char *value)
{
    record(3)->used = strtoull(value, NULL, 0);
    return 0;
}

static int verb_exec(const char *blocks)
{
    record((unsigned)atoi(blocks));
    execl("/proc/self/exe", "exec'ed", "record", "1", (char *)NULL);
    fail("exec");
}

static int verb_twice(const char *unused)
{
    struct trace_header *first = record(1);
    struct trace_header *second = record(2);

    (void)unused;
    memset((char *)first + first->used, 'v', TRACE_BLOCK_SIZE);
    first->used += TRACE_BLOCK_SIZE;
    return first == second;
}

static int verb_fork(const char *blocks)
{
    int status;

    record((unsigned)atoi(blocks));
    if (fork() == 0)
        _exit(verb_record("1"));
    wait(&status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* A hello with descriptors that the service has no use for, and must not keep. */
static bool send_with_descriptors(int connection, const void *bytes, size_t size)
{
    union {
        char bytes[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {(void *)bytes, size};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&packet);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(8 * sizeof(int));
    for (int i = 0; i < 8; i++)
        ((int *)(void *)CMSG_DATA(head))[i] = STDIN_FILENO;
    return sendmsg(connection, &packet, MSG_NOSIGNAL) == (ssize_t)size;
}

static int verb_wrong(const char *what)
{
    struct protocol_hello message = hello();
    struct protocol_welcome answer = {0};
    char bytes[4096] = {0};
    size_t size = sizeof(message);
    int connection = connect_to_service();
    int fd;

    if (!strcmp(what, "magic"))
        message.magic ^= 1;
    else if (!strcmp(what, "version"))
        message.version++;
    else if (!strcmp(what, "kind"))
        message.kind = PROTOCOL_WELCOME;
    else if (!strcmp(what, "short"))
        size = sizeof(message) - 1;
    else if (!strcmp(what, "tiny"))
        size = 3;
    else if (!strcmp(what, "long"))
        size = sizeof(bytes);
    else if (!strcmp(what, "command"))
        message.kind = PROTOCOL_COMMAND_STOP; /* with a hello's length */
    else if (!strcmp(what, "short command"))
        message.kind = PROTOCOL_COMMAND_PAUSE;
    else if (!strcmp(what, "unknown command"))
        message.kind = PROTOCOL_COMMAND_OPEN + 1;
    else if (!strcmp(what, "old command"))
        message.kind = 16; /* of a tool that prints sentences of the service as they come */
    else if (!strcmp(what, "empty"))
        size = 0;
    else if (strcmp(what, "silent") && strcmp(what, "descriptor"))
        fail("wrong WHAT");

    if (strstr(what, " command"))
        size = sizeof(struct protocol_command) - !strcmp(what, "short command");
    memcpy(bytes, &message, sizeof(message));
    if (!strcmp(what, "descriptor") && !send_with_descriptors(connection, bytes, size))
        fail("sendmsg");
    if (strcmp(what, "descriptor") && strcmp(what, "silent") &&
        send(connection, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
        fail("send");
    if (receive_welcome(connection, &answer, &fd) == 0)
        printf("closed\n");
    else if (answer.kind == PROTOCOL_REFUSED && answer.magic == PROTOCOL_MAGIC && fd < 0)
        printf("refused by version %u\n", answer.version);
    else
        printf("kind %u, descriptor %d\n", answer.kind, fd);
    return 0;
}

/* Another user, but one whom file permissions do not stop. */
static int verb_stranger(const char *unused)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];

    (void)unused;
    if (syscall(SYS_capget, &head, sets) < 0)
        fail("capget");
    if (seteuid(65534) < 0)
        fail("seteuid");
    sets[0].effective = 1u << CAP_DAC_OVERRIDE;
    if (syscall(SYS_capset, &head, sets) < 0)
        fail("capset");
    verb_wrong("silent");
    return seteuid(0) != 0;
}

static int verb_flood(const char *count)
{
    int left = atoi(count);
    int *connections = calloc((size_t)left, sizeof(int));
    char byte;

    for (int i = 0; i < left; i++)
        connections[i] = connect_to_service();
    for (int i = 0; i < left; i++)
        while (recv(connections[i], &byte, 1, 0) > 0)
            ;
    free(connections);
    printf("all closed\n");
    return 0;
}

/* The name comes from /proc: what a program calls itself must not lead out of the folder. */
static int verb_path(const char *unused)
{
    static char *const arguments[] = {"../../../tmp/evil\n\033[2J", "record", "1", NULL};

    (void)unused;
    execv("/proc/self/exe", arguments);
    fail("exec");
}

static int verb_show(const char *path)
{
    struct trace_header header;
    struct stat stat;
    int fd = open(path, O_RDONLY);

    if (fd < 0 || read(fd, &header, sizeof(header)) != sizeof(header) || fstat(fd, &stat) < 0)
        fail(path);
    printf("magic=%.8s version=%u pid=%u ppid=%u session=%u node_limit=%u\n", header.magic,
           header.version, header.pid, header.ppid, header.session, header.node_limit);
    printf("capacity=%" PRIu64 " used=%" PRIu64 " length=%lld mode=%o\n", header.capacity,
           header.used, (long long)stat.st_size, stat.st_mode & 07777);
    printf("state=%u end=%u end_seen=%d ticks_per_second=%" PRIu64 "\n", header.state, header.end,
           header.end_seen_ticks != 0, header.ticks_per_second);
    printf("paused=%u pauses=%u end_how=%u end_code=%u\n", header.paused, header.pauses,
           header.end_how, header.end_code);
    printf("exe=%s\ncommand=%s\n", header.exe, header.command);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const char *argument);
    } verbs[] = {
        {"record", verb_record}, {"hang", verb_hang},   {"used", verb_used},
        {"exec", verb_exec},     {"twice", verb_twice}, {"fork", verb_fork},
        {"path", verb_path},     {"wrong", verb_wrong}, {"stranger", verb_stranger},
        {"flood", verb_flood},   {"show", verb_show},
    };

    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        if (argc > 1 && !strcmp(argv[1], verbs[i].name))
            return verbs[i].run(argc > 2 ? argv[2] : "");
    }
    fprintf(stderr, "service_test_client: expected a verb, see test_client.c\n");
    return 2;
}
