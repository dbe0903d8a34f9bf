/*
 * A service for Windows programs that one had better not trust:
 *
 *      hostile_tcp RENDEZVOUS TRACE right | wrong | silent
 *
 * Listens at a port of 127.0.0.1 and writes RENDEZVOUS, mode 0600. Who says hello is shown the
 * right proof or a wrong one, and given TRACE, made here, 0600. The last shows nothing.
 *
 * Prints a line when it listens (`ready`), and for each connection when it begins (`connected`) and
 * when it ends (`heard N bytes`).
 */
#define _GNU_SOURCE
#include "program.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/protocol.h"
#include "trace/trace_format.h"

#define CAPACITY (1 << 20)

static const uint8_t secret[PROTOCOL_SECRET_SIZE] = {1}, proof[PROTOCOL_SECRET_SIZE] = {2};

static int listen_anywhere(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    REQUIRE(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 16) == 0);
    REQUIRE(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    *port = ntohs(address.sin_port);
    return listener;
}

static int make_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    REQUIRE(file >= 0);
    return file;
}

static void print_hexadecimal(int file, const uint8_t bytes[PROTOCOL_SECRET_SIZE])
{
    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++)
        dprintf(file, "%02x", bytes[i]);
}

static void write_rendezvous(const char *path, unsigned port)
{
    int file = make_file(path);

    dprintf(file, "umbra 2 %u ", port);
    print_hexadecimal(file, secret);
    dprintf(file, " ");
    print_hexadecimal(file, proof);
    dprintf(file, "\n");
    close(file);
}

static void write_trace(const char *path)
{
    struct trace_header trace = {.version = TRACE_VERSION,
                                 .header_size = TRACE_HEADER_SIZE,
                                 .block_size = TRACE_BLOCK_SIZE,
                                 .used = TRACE_HEADER_SIZE,
                                 .capacity = CAPACITY,
                                 .node_limit = 1000,
                                 .ticks_per_second = 1000000000,
                                 .timing = TRACE_TIMING_EXACT,
                                 .created_ns = 1};
    int file = make_file(path);

    memcpy(trace.magic, TRACE_MAGIC, sizeof trace.magic);
    REQUIRE(write(file, &trace, sizeof trace) == sizeof trace && ftruncate(file, CAPACITY) == 0);
    close(file);
}

static void answer(int connection, const char *trace)
{
    struct protocol_tcp_welcome welcome = {.welcome = {.magic = PROTOCOL_MAGIC,
                                                       .version = PROTOCOL_VERSION,
                                                       .kind = PROTOCOL_WELCOME,
                                                       .node_limit = 1000,
                                                       .capacity = CAPACITY},
                                           .system = TRACE_SYSTEM_LINUX};
    char absolute[PATH_MAX];

    REQUIRE(realpath(trace, absolute) && strlen(absolute) < sizeof welcome.path);
    strcpy(welcome.path, absolute);
    send(connection, &welcome, sizeof welcome, MSG_NOSIGNAL);
}

static void serve(int connection, const char *trace, const char *how)
{
    static const uint8_t wrong[PROTOCOL_SECRET_SIZE];
    char bytes[sizeof(struct protocol_tcp_hello)];
    ssize_t size;
    size_t heard = 0;

    printf("connected\n");
    while ((size = recv(connection, bytes, sizeof bytes, 0)) > 0) {
        if (strcmp(how, "silent") && heard < PROTOCOL_TCP_OPENING &&
            heard + (size_t)size >= PROTOCOL_TCP_OPENING)
            send(connection, strcmp(how, "right") ? wrong : proof, sizeof proof, MSG_NOSIGNAL);
        heard += (size_t)size;
        if (heard == sizeof(struct protocol_tcp_hello))
            answer(connection, trace);
    }
    printf("heard %zu bytes\n", heard);
    close(connection);
}

int main(int argc, char **argv)
{
    unsigned port;
    int listener;

    REQUIRE(argc == 4);
    setvbuf(stdout, 0, _IOLBF, 0);
    listener = listen_anywhere(&port);
    write_trace(argv[2]);
    write_rendezvous(argv[1], port);
    printf("ready\n");
    for (;;)
        serve(accept(listener, 0, 0), argv[2], argv[3]);
}
