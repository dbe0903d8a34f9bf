/*
 * Plays the agent of a Windows program, over TCP, on any platform.
 *
 *      tcp_test_client RENDEZVOUS VERB [ARGUMENT]...
 *
 * RENDEZVOUS is the file, or `-` for the one that UMBRA_RENDEZVOUS names.
 *
 *      record N         takes a trace, uses N blocks of it, ends
 *      hang N           the same, says "ready" and waits to be killed
 *      detach N         the same, but closes its connection before it says so
 *      chatter N        the same, but goes on talking
 *      exe NAME         says that its executable is NAME (\xHH: that byte), uses no block
 *      pieces           says hello in small pieces
 *      opening          says no more than the secret, and prints what came (`proof`, then `closed`)
 *      wrong WHAT       says one wrong thing and prints what the answer was
 *      flood N          holds N connections open and says nothing, until they are closed
 *      arguments A...   prints them, in brackets, and ends with status 42
 *      status           asks as a tool does, and prints the answer
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/base/system_clock.h"
#include "service/base/tcp.h"
#include "service/server/rendezvous.h"
#include "service/test_clients/test_mapping.h"
#include "trace/protocol.h"
#include "trace/trace_format.h"

#define PATIENCE_S 10

static struct rendezvous rendezvous;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "tcp_test_client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int connect_to_service(void)
{
    int connection = tcp_connect(rendezvous.port, PATIENCE_S);

    if (connection < 0)
        fail("connect");
    return connection;
}

static struct protocol_tcp_hello hello(void)
{
    struct protocol_tcp_hello hello = {
        .hello =
            {
                .magic = PROTOCOL_MAGIC,
                .version = PROTOCOL_VERSION,
                .kind = PROTOCOL_HELLO,
                .pid = (uint32_t)getpid(),
            },
        .ppid = 17,
        .exe = "C:\\Program Files\\some program.exe",
        .command = "\"C:\\Program Files\\some program.exe\" -x \"a b\"",
    };

    memcpy(hello.secret, rendezvous.secret, sizeof(hello.secret));
    return hello;
}

static bool receive(int connection, void *to, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t got = tcp_receive(connection, (char *)to + have, size - have);

        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return true;
}

/* False if it was closed instead. */
static bool receive_proof(int connection)
{
    uint8_t proof[PROTOCOL_SECRET_SIZE];

    if (!receive(connection, proof, sizeof(proof)))
        return false;
    if (!rendezvous_secret_is(rendezvous.proof, proof))
        fail("proof");
    return true;
}

static bool receive_welcome(int connection, struct protocol_tcp_welcome *welcome)
{
    return receive_proof(connection) && receive(connection, welcome, sizeof(*welcome));
}

static struct trace_header *take_trace(const struct protocol_tcp_hello *first, int *connection)
{
    struct protocol_tcp_welcome welcome;
    struct trace_header *trace;

    *connection = connect_to_service();
    if (!tcp_send(*connection, first, sizeof(*first)))
        fail("send");
    if (!receive_welcome(*connection, &welcome) || welcome.welcome.kind != PROTOCOL_WELCOME ||
        !memchr(welcome.path, 0, sizeof(welcome.path)))
        fail("welcome");
    trace = test_mapping_open(welcome.path, welcome.welcome.capacity);
    if (!trace)
        fail(welcome.path);
    if (trace->capacity != welcome.welcome.capacity ||
        trace->node_limit != welcome.welcome.node_limit || trace->pid != first->hello.pid ||
        trace->ppid != first->ppid || trace->used != TRACE_HEADER_SIZE ||
        trace->system != TRACE_SYSTEM_WINDOWS)
        fail("header is not as the welcome says");
    return trace;
}

static struct trace_header *record(const char *blocks, int *connection)
{
    struct protocol_tcp_hello first = hello();
    struct trace_header *trace = take_trace(&first, connection);

    trace->state = TRACE_RUNNING;
    for (int i = 0; i < atoi(blocks); i++) {
        memset((char *)trace + trace->used, 'u', TRACE_BLOCK_SIZE);
        trace->used += TRACE_BLOCK_SIZE;
    }
    return trace;
}

static int verb_record(const char *blocks)
{
    int connection;

    record(blocks, &connection)->state = TRACE_ENDED;
    return 0;
}

/* Writes far behind what is in use: that kills us if the service cuts the file. */
static _Noreturn void hang(struct trace_header *trace)
{
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        ((volatile char *)trace)[trace->capacity - 1] = 1;
        system_clock_sleep_ms(10);
    }
}

static int verb_hang(const char *blocks)
{
    int connection;

    hang(record(blocks, &connection));
}

static int verb_detach(const char *blocks)
{
    int connection;
    struct trace_header *trace = record(blocks, &connection);

    tcp_close(connection);
    hang(trace);
}

static int verb_chatter(const char *blocks)
{
    int connection;
    struct trace_header *trace = record(blocks, &connection);

    if (!tcp_send(connection, "and another thing", 17))
        fail("send");
    hang(trace);
}

static int verb_exe(const char *name)
{
    struct protocol_tcp_hello first = hello();
    size_t at = 0;
    int connection;

    for (; *name && at + 1 < sizeof(first.exe); at++) {
        if (!strncmp(name, "\\x", 2)) {
            char digits[3] = {name[2], name[2] ? name[3] : 0, 0};
            first.exe[at] = (char)strtoul(digits, NULL, 16);
            name += 2 + strlen(digits);
        } else {
            first.exe[at] = *name++;
        }
    }
    first.exe[at] = 0;
    take_trace(&first, &connection)->state = TRACE_ENDED;
    return 0;
}

static int verb_pieces(const char *unused)
{
    struct protocol_tcp_hello first = hello();
    struct protocol_tcp_welcome welcome = {0};
    int connection = connect_to_service();

    (void)unused;
    for (size_t at = 0; at < sizeof(first); at++) {
        if (!tcp_send(connection, (char *)&first + at, 1))
            fail("send");
        if (at % 100 == 0)
            system_clock_sleep_ms(1);
    }
    return !receive_welcome(connection, &welcome) || welcome.welcome.kind != PROTOCOL_WELCOME;
}

static int verb_opening(const char *unused)
{
    struct protocol_tcp_hello first = hello();
    int connection = connect_to_service();
    char byte;

    (void)unused;
    if (!tcp_send(connection, &first, PROTOCOL_TCP_OPENING))
        fail("send");
    printf(receive_proof(connection) ? "proof\n" : "no proof\n");
    printf(tcp_receive(connection, &byte, 1) > 0 ? "more\n" : "closed\n");
    return 0;
}

/* Makes the hello wrong; returns how many bytes of it to send. */
static size_t spoil(struct protocol_tcp_hello *hello, const char *what)
{
    size_t size = sizeof(*hello);

    if (!strcmp(what, "magic"))
        hello->hello.magic ^= 1;
    else if (!strcmp(what, "version"))
        hello->hello.version++;
    else if (!strcmp(what, "kind"))
        hello->hello.kind = PROTOCOL_WELCOME;
    else if (!strcmp(what, "secret"))
        hello->secret[PROTOCOL_SECRET_SIZE - 1] ^= 1;
    else if (!strcmp(what, "exe"))
        memset(hello->exe, 'x', sizeof(hello->exe));
    else if (!strcmp(what, "command"))
        memset(hello->command, 'x', sizeof(hello->command));
    else if (!strcmp(what, "short"))
        size--;
    else if (!strcmp(what, "long"))
        size++;
    else if (!strcmp(what, "tiny"))
        size = 3;
    else if (!strcmp(what, "silent"))
        size = 0;
    else if (!strcmp(what, "http"))
        memcpy(hello, "GET / HTTP/1.1\r\n\r\n", size = 18);
    else
        fail("wrong WHAT");
    return size;
}

/* WHAT, or WHAT+WHAT for two wrong things at once */
static int verb_wrong(const char *what)
{
    struct {
        struct protocol_tcp_hello hello;
        char more;
    } message = {hello(), 'm'};
    struct protocol_tcp_welcome answer = {0};
    const char *second = strchr(what, '+');
    char first[16] = {0};
    int connection = connect_to_service();
    size_t size;

    memcpy(first, what, second ? (size_t)(second - what) : strlen(what) & 15);
    size = spoil(&message.hello, first);
    if (second)
        size = spoil(&message.hello, second + 1);
    if (size && !tcp_send(connection, &message, size))
        fail("send");
    if (!receive_welcome(connection, &answer))
        printf("closed\n");
    else if (answer.welcome.kind == PROTOCOL_REFUSED && answer.welcome.magic == PROTOCOL_MAGIC &&
             !answer.path[0])
        printf("refused by version %u\n", answer.welcome.version);
    else
        printf("kind %u\n", answer.welcome.kind);
    return 0;
}

static int verb_flood(const char *count)
{
    int left = atoi(count);
    int *connections = calloc((size_t)left, sizeof(int));
    char byte;

    for (int i = 0; i < left; i++)
        connections[i] = connect_to_service();
    for (int i = 0; i < left; i++) {
        if (tcp_receive(connections[i], &byte, 1) > 0)
            fail("an answer to nothing");
    }
    free(connections);
    printf("all closed\n");
    return 0;
}

static int verb_status(const char *unused)
{
    struct protocol_tcp_hello question = hello();
    int connection = connect_to_service();
    char text[4096];
    ssize_t size;

    (void)unused;
    question.hello.kind = PROTOCOL_COMMAND_STATUS;
    if (!tcp_send(connection, &question, sizeof(question)))
        fail("send");
    if (!receive_proof(connection))
        fail("proof");
    while ((size = tcp_receive(connection, text, sizeof(text))) > 0)
        fwrite(text, 1, (size_t)size, stdout);
    return 0;
}

static int print_arguments(char **arguments)
{
    while (*arguments)
        printf("[%s]", *arguments++);
    printf("\n");
    return 42;
}

/* Returns false, errno set. */
static bool find_service(const char *path)
{
    if (!strcmp(path, "-"))
        path = getenv("UMBRA_RENDEZVOUS");
    errno = ENOENT;
    return path && tcp_begin() && rendezvous_read(path, &rendezvous);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const char *argument);
    } verbs[] = {
        {"record", verb_record},   {"hang", verb_hang},   {"detach", verb_detach},
        {"chatter", verb_chatter}, {"exe", verb_exe},     {"pieces", verb_pieces},
        {"wrong", verb_wrong},     {"flood", verb_flood}, {"status", verb_status},
        {"opening", verb_opening},
    };

    if (argc > 2 && !strcmp(argv[2], "arguments"))
        return print_arguments(argv + 3);
    if (argc < 3 || !find_service(argv[1]))
        fail(argc < 3 ? "expected a rendezvous file and a verb" : argv[1]);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        if (!strcmp(argv[2], verbs[i].name))
            return verbs[i].run(argc > 3 ? argv[3] : "");
    }
    fprintf(stderr, "tcp_test_client: expected a verb, see tcp_test_client.c\n");
    return 2;
}
