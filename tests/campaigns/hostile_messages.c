/*
 * Says to a service, and to its keeper, what nobody says:
 *
 *      hostile_messages service SOCKET COUNT SEED
 *              COUNT mutated hellos and commands to the service that listens there, with
 * descriptors of all kinds. None is a command that ends the service. hostile_messages next SOCKET
 * COUNT SEED as the next service, to a keeper that listens there: takes what it offers, and answers
 * with something else than that it has taken it. hostile_messages keeper FOLDER COUNT SEED COUNT
 * keepers, each of which holds a trace and is sent mutated packets. What it holds is complete in
 * FOLDER/inside afterwards, and nothing is beside that. hostile_messages earlier SOCKET COUNT SEED
 *              an earlier keeper, for COUNT services that begin: offers mutated sessions. Prints
 *              `ready`.
 *
 * Exit status 1, after a line, if something is not as it should be.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/tick_clock.h"
#include "service/keeper/linux/keeper_packet.h"
#include "service/keeper/linux/keeping.h"
#include "trace/protocol.h"

#define HELD         0x5eed1234u /* the session that every keeper is to keep */
#define OTHER        77u
#define MOST_FILES   8
#define MOST_CHANGES 5
#define PATIENCE_S   20
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static uint64_t state;
static unsigned long seed, at;
static pid_t ended; /* a process that is gone */

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "hostile_messages: seed %lu, case %lu: ", seed, at);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* splitmix64, begun anew for each case. */
static uint64_t random_below(uint64_t limit)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % limit;
}

static void begin_case(unsigned long number)
{
    at = number;
    state = seed * 0x9e3779b97f4a7c15 ^ number;
}

/* --- messages --- */

/* Returns the new size; there is room for 64 bytes more. */
static size_t mutate(unsigned char *bytes, size_t size)
{
    static const uint32_t words[] = {0,  1,  2,    3,    4,          5,          32,
                                     33, 37, 0x7f, 0xff, 0x7fffffff, 0x80000000, ~0u};

    for (uint64_t i = random_below(MOST_CHANGES); i > 0; i--) {
        size_t where = random_below(size < 64 || random_below(3) == 0 ? size : 64);

        switch (random_below(4)) {
        case 0:
            bytes[where] ^= (unsigned char)(1u << random_below(8));
            break;
        case 1:
            bytes[where] = (unsigned char)random_below(256);
            break;
        default:
            if (where / 4 * 4 + 4 <= size)
                memcpy(bytes + where / 4 * 4, &words[random_below(COUNT(words))], 4);
            break;
        }
    }
    if (random_below(6) == 0)
        return 1 + random_below(size);
    return random_below(8) ? size : size + random_below(64);
}

static int new_file(void)
{
    int ends[2], file;

    switch (random_below(7)) {
    case 0:
        return open("/dev/null", O_RDWR);
    case 1:
        return open("/", O_RDONLY | O_DIRECTORY);
    case 2:
        return open("/", O_PATH);
    case 3:
        if (pipe(ends) < 0)
            fail("pipe: %s", strerror(errno));
        close(ends[1]);
        return ends[0];
    case 4:
        return socket(AF_UNIX, SOCK_SEQPACKET, 0);
    case 5:
        return memfd_create("empty", 0);
    default:
        file = memfd_create("zeros", 0);
        if (ftruncate(file, TRACE_HEADER_SIZE) < 0)
            fail("ftruncate: %s", strerror(errno));
        return file;
    }
}

/* With these files and others, if any; they are closed. Whether it went. */
static bool send_bytes(int socket, const void *bytes, size_t size, const int *files, unsigned count)
{
    union {
        char bytes[CMSG_SPACE(2 * MOST_FILES * sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int all[2 * MOST_FILES];
    bool ok;

    memcpy(all, files, count * sizeof(*files));
    if (random_below(4) == 0)
        for (uint64_t i = random_below(MOST_FILES); i > 0; i--)
            all[count++] = new_file();
    if (count) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), all, count * sizeof(int));
    }
    ok = sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size;
    for (unsigned i = 0; i < count; i++)
        close(all[i]);
    return ok;
}

static int connect_to(const char *path)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(connection, (struct sockaddr *)&address, sizeof(address)) < 0)
        fail("%s: nobody listens: %s", path, strerror(errno));
    return connection;
}

/* --- to a service --- */

union message {
    struct protocol_hello hello;
    struct protocol_command command;
    unsigned char bytes[256];
};

static size_t make_message(union message *message)
{
    memset(message, 0, sizeof(*message));
    if (random_below(2)) {
        message->hello = (struct protocol_hello){
            PROTOCOL_MAGIC, PROTOCOL_VERSION, PROTOCOL_HELLO, (uint32_t)getpid(), 0, {0}};
        return mutate(message->bytes, sizeof(message->hello));
    }
    message->command =
        (struct protocol_command){PROTOCOL_MAGIC,
                                  PROTOCOL_VERSION,
                                  PROTOCOL_COMMAND_STATUS + (uint32_t)random_below(6),
                                  0,
                                  0,
                                  0};
    return mutate(message->bytes, sizeof(message->command));
}

static void say_to_service(const char *path)
{
    union message message;
    size_t size = make_message(&message);
    int connection;
    char answer[4096];

    if (message.command.kind == PROTOCOL_COMMAND_STOP)
        message.command.kind = PROTOCOL_COMMAND_LIST;
    connection = connect_to(path);
    for (uint64_t i = random_below(3) + 1; i > 0; i--)
        if (!send_bytes(connection, message.bytes, size, NULL, 0))
            break;
    if (random_below(4)) { /* else it is gone before it is answered */
        shutdown(connection, SHUT_WR);
        for (ssize_t length = 1; length > 0;)
            length = recv(connection, answer, sizeof(answer), 0);
        if (errno == EAGAIN)
            fail("no answer, and no end of the connection");
    }
    close(connection);
}

/* --- to a keeper --- */

static size_t make_packet(struct keeper_packet *packet, const char *folder)
{
    static const char *const names[] = {
        "other-1-1.bin", "../escaped.bin", "../escaped.bin", "", ".bin", "x", "inside/x.bin", ".."};
    unsigned char bytes[sizeof(*packet) + 64] = {0};
    size_t size;

    *packet = (struct keeper_packet){
        .magic = KEEPER_PACKET_MAGIC,
        .kind = random_below(3) ? KEEPER_HOLD : KEEPER_HOLD + (uint32_t)random_below(3),
        .number = OTHER,
        .pid = (uint32_t)ended,
        .has = (uint32_t)random_below(16) | (random_below(4) ? 3 : 0),
        .is_fixed = (uint32_t)random_below(2)};
    snprintf(packet->name, sizeof(packet->name), "%s", names[random_below(COUNT(names))]);
    snprintf(packet->directory, sizeof(packet->directory), "%s", folder);
    memcpy(bytes, packet, sizeof(*packet));
    size = random_below(2) ? mutate(bytes, sizeof(*packet)) : sizeof(*packet);
    memcpy(packet, bytes, sizeof(*packet));
    if (strchr(packet->name, '/')) /* so much of it that no file lands anywhere else */
        strcpy(packet->name, "../escaped.bin");
    if (*packet->name == '.' && strlen(folder) < 100 && random_below(3))
        snprintf(packet->name, sizeof(packet->name), "%.100s/../escaped.bin", folder);
    /* These would be right. */
    if (packet->number == HELD)
        packet->number = OTHER;
    if (packet->kind == KEEPER_TAKEN)
        packet->kind = KEEPER_HOLD;
    return size < sizeof(*packet) ? size : sizeof(*packet);
}

static struct trace_header new_header(uint32_t session)
{
    struct trace_header header = {
        .pid = (uint32_t)ended, .session = session, .capacity = 1 << 20, .ticks_per_second = 1000};

    strcpy(header.exe, "/held");
    return header;
}

/* A whole session as the packet names it, or what is none. */
static bool send_packet(int socket, int inside)
{
    int files[KEEPER_DESCRIPTORS];
    unsigned count = 0;
    struct keeper_packet packet;
    char folder[PATH_MAX], link[64];
    ssize_t length;
    size_t size;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", inside);
    length = readlink(link, folder, sizeof(folder) - 1);
    folder[length > 0 ? length : 0] = 0;
    size = make_packet(&packet, folder);
    for (unsigned i = 0; i < KEEPER_DESCRIPTORS; i++) {
        struct trace_header header = new_header(1000);
        struct trace_file other;

        if (!(packet.has >> i & 1) || random_below(32) == 0)
            continue;
        if (i == KEEPER_TRACE && random_below(8) &&
            trace_file_create(&other, inside, &header, true)) {
            unlinkat(inside, other.name, 0);
            other.header->used = random_below(2) ? TRACE_HEADER_SIZE : ~0ull << random_below(64);
            files[count++] = fcntl(other.fd, F_DUPFD_CLOEXEC, 0);
            trace_file_leave(&other);
        } else if (i == KEEPER_DIRECTORY && random_below(8)) {
            files[count++] = fcntl(inside, F_DUPFD_CLOEXEC, 0);
        } else {
            files[count++] = new_file();
        }
    }
    return send_bytes(socket, &packet, size, files, count);
}

static void check_held(int inside, const char *name)
{
    struct trace_header header;
    int file = openat(inside, name, O_RDONLY | O_CLOEXEC);

    if (file < 0 || read(file, &header, sizeof(header)) != sizeof(header))
        fail("%s is lost: %s", name, strerror(errno));
    if (header.end != TRACE_END_GONE || header.pid != (uint32_t)ended)
        fail("%s is not complete: end %u", name, (unsigned)header.end);
    close(file);
}

/* Nothing but what is inside; that is removed. */
static void check_folder(const char *folder, int inside)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries)))
        if (*entry->d_name != '.' && strcmp(entry->d_name, "inside") != 0)
            fail("a keeper wrote %s/%s", folder, entry->d_name);
    closedir(entries);
    entries = fdopendir(openat(inside, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (entries && (entry = readdir(entries)))
        unlinkat(inside, entry->d_name, 0);
    closedir(entries);
}

static pid_t begin_keeper(int socket, int other_end)
{
    struct tick_clock clock;
    sigset_t term;
    pid_t keeper;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    keeper = fork();
    if (keeper)
        return keeper;
    close(other_end);
    alarm(PATIENCE_S);
    if (!tick_clock_open(&clock))
        _exit(2);
    keeping_run(socket, "", NULL, &clock);
}

/* Its end comes when the service is gone and nothing is left that it waits for. */
static void end_keeper(pid_t keeper)
{
    int status;

    kill(keeper, SIGTERM);
    if (waitpid(keeper, &status, 0) != keeper || status)
        fail("a keeper ended with status %x", (unsigned)status);
}

static void hold(int socket, const struct trace_file *held, const char *folder, int inside)
{
    struct keeper_packet packet = {
        .kind = KEEPER_HOLD, .number = HELD, .pid = (uint32_t)ended, .is_fixed = 1};
    const int files[KEEPER_DESCRIPTORS] = {held->fd, inside, -1, -1};

    strcpy(packet.name, held->name);
    snprintf(packet.directory, sizeof(packet.directory), "%s/inside", folder);
    if (!keeper_packet_send(socket, &packet, files))
        fail("a keeper takes nothing: %s", strerror(errno));
}

static void say_to_new_keeper(const char *folder)
{
    struct trace_header header = new_header(1);
    char path[PATH_MAX];
    struct trace_file held;
    int ends[2], inside;
    pid_t keeper;

    snprintf(path, sizeof(path), "%s/inside", folder);
    inside = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (inside < 0 || !trace_file_create(&held, inside, &header, true) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        fail("%s: %s", path, strerror(errno));
    keeper = begin_keeper(ends[1], ends[0]);
    close(ends[1]);
    hold(ends[0], &held, folder, inside);
    for (uint64_t i = random_below(8) + 1; i > 0; i--)
        if (!send_packet(ends[0], inside))
            break;
    close(ends[0]);
    end_keeper(keeper);
    check_held(inside, held.name);
    trace_file_leave(&held);
    check_folder(folder, inside);
    close(inside);
}

static void close_all(const int files[KEEPER_DESCRIPTORS])
{
    for (unsigned i = 0; i < KEEPER_DESCRIPTORS; i++)
        if (files[i] >= 0)
            close(files[i]);
}

static void say_as_next_service(const char *path)
{
    int connection = connect_to(path), inside = open(".", O_RDONLY | O_DIRECTORY);
    int files[KEEPER_DESCRIPTORS], offered = 0;
    struct keeper_packet packet = {0};

    while (random_below(8) && keeper_packet_receive(connection, &packet, files) &&
           packet.kind == KEEPER_HOLD) {
        close_all(files);
        offered++;
    }
    if (packet.kind == KEEPER_END && !offered)
        fail("the keeper has nothing any more");
    if (random_below(8))
        send_packet(connection, inside);
    close(inside);
    close(connection);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    unlink(path);
    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(listener, 1) < 0)
        fail("%s: %s", path, strerror(errno));
    return listener;
}

/* It may wait for an end that does not come. */
static void say_as_earlier_keeper(int listener)
{
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int inside = open(".", O_RDONLY | O_DIRECTORY);

    for (uint64_t i = random_below(4) + 1; i > 0; i--)
        if (!send_packet(connection, inside))
            break;
    close(inside);
    close(connection);
}

int main(int count, char **arguments)
{
    int listener = -1;

    if (count != 5)
        return 2;
    seed = strtoul(arguments[4], NULL, 10);
    signal(SIGPIPE, SIG_IGN);
    ended = fork();
    if (ended == 0)
        _exit(0);
    waitpid(ended, NULL, 0);
    if (!strcmp(arguments[1], "earlier")) {
        listener = listen_at(arguments[2]);
        puts("ready");
        fflush(stdout);
    }
    for (unsigned long i = 0; i < strtoul(arguments[3], NULL, 10); i++) {
        begin_case(i);
        if (!strcmp(arguments[1], "service"))
            say_to_service(arguments[2]);
        else if (!strcmp(arguments[1], "next"))
            say_as_next_service(arguments[2]);
        else if (!strcmp(arguments[1], "keeper"))
            say_to_new_keeper(arguments[2]);
        else
            say_as_earlier_keeper(listener);
    }
    return 0;
}
