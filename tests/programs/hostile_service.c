/*
 * A service that one had better not trust:
 *
 *      hostile_service SOCKET silent
 *      hostile_service SOCKET ADDRESS OWNER [RING_OWNER]
 *
 * The first says nothing to anybody. The second answers each hello with a trace whose hook word it
 * makes ADDRESS (hexadecimal) again and again: what an instrumented program calls goes there. OWNER
 * owns the trace, RING_OWNER a ring that comes with it.
 *
 * Prints a line when it listens (`ready`), for each connection (`connected`) and for each packet
 * (`heard N bytes`).
 */
#define _GNU_SOURCE
#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "trace/protocol.h"
#include "trace/trace_format.h"

#define CAPACITY  (1 << 20)
#define RING_SIZE (8 << 20)

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);

    REQUIRE(strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    umask(0); /* anybody may connect */
    REQUIRE(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    REQUIRE(listen(listener, 16) == 0);
    return listener;
}

static int make_file(size_t size, uid_t owner)
{
    int file = memfd_create("hostile", 0);

    REQUIRE(file >= 0 && ftruncate(file, (off_t)size) == 0);
    if (owner != geteuid())
        REQUIRE(fchown(file, owner, (gid_t)-1) == 0);
    return file;
}

static struct trace_header *fill_trace(int file)
{
    struct trace_header *trace = mmap(0, CAPACITY, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    REQUIRE(trace != MAP_FAILED);
    memcpy(trace->magic, TRACE_MAGIC, sizeof trace->magic);
    trace->version = TRACE_VERSION;
    trace->header_size = TRACE_HEADER_SIZE;
    trace->block_size = TRACE_BLOCK_SIZE;
    trace->used = TRACE_HEADER_SIZE;
    trace->capacity = CAPACITY;
    trace->node_limit = 1000;
    trace->ticks_per_second = 1000000000;
    trace->timing = TRACE_TIMING_EXACT;
    trace->created_ns = 1;
    return trace;
}

static int open_to_read(int file)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void send_welcome(int connection, const int *files, int count)
{
    union {
        char bytes[CMSG_SPACE(PROTOCOL_DESCRIPTORS * sizeof(int))];
        struct cmsghdr head;
    } control = {.head = {.cmsg_level = SOL_SOCKET,
                          .cmsg_type = SCM_RIGHTS,
                          .cmsg_len = CMSG_LEN((size_t)count * sizeof(int))}};
    struct protocol_welcome welcome = {.magic = PROTOCOL_MAGIC,
                                       .version = PROTOCOL_VERSION,
                                       .kind = PROTOCOL_WELCOME,
                                       .node_limit = 1000,
                                       .capacity = CAPACITY,
                                       .ring_size = count > 2 ? RING_SIZE : 0};
    struct iovec part = {&welcome, sizeof welcome};
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = CMSG_SPACE((size_t)count * sizeof(int))};

    memcpy(CMSG_DATA(&control.head), files, (size_t)count * sizeof(int));
    sendmsg(connection, &packet, MSG_NOSIGNAL);
}

/* For as long as the service lives. */
static void aim(struct trace_header *trace, uint64_t address)
{
    pid_t service = getpid();

    if (fork())
        return;
    REQUIRE(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    for (; getppid() == service; usleep(100))
        *(volatile uint64_t *)&trace->hook = address;
    _exit(0);
}

static void answer(int connection, int argc, char **argv)
{
    int files[PROTOCOL_DESCRIPTORS] = {make_file(CAPACITY, (uid_t)atoi(argv[3]))}, count = 1;

    if (argc > 4)
        files[count++] = make_file(RING_SIZE, (uid_t)atoi(argv[4]));
    files[count++] = open_to_read(files[0]);
    aim(fill_trace(files[0]), strtoull(argv[2], 0, 16));
    send_welcome(connection, files, count);
}

static void serve(int connection, int argc, char **argv)
{
    char packet[256];
    ssize_t size;

    printf("connected\n");
    while ((size = recv(connection, packet, sizeof packet, 0)) > 0) {
        printf("heard %zd bytes\n", size);
        if (strcmp(argv[2], "silent"))
            answer(connection, argc, argv);
    }
    close(connection);
}

int main(int argc, char **argv)
{
    int listener;

    REQUIRE(argc == 4 || argc == 5 || (argc == 3 && !strcmp(argv[2], "silent")));
    setvbuf(stdout, 0, _IOLBF, 0);
    signal(SIGCHLD, SIG_IGN);
    listener = listen_at(argv[1]);
    printf("ready\n");
    for (;;)
        serve(accept(listener, 0, 0), argc, argv);
}
