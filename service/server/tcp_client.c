#include "service/server/tcp_client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/base/message.h"
#include "service/base/process.h"
#include "service/base/tcp.h"
#include "service/server/answers.h"
#include "service/server/client.h"
#include "service/server/service.h"
#include "service/server/tcp_hello.h"
#include "service/sessions/session_life.h"
#include "support/utf8.h"

/* Anybody on this machine can connect: so many may be there who have not shown the secret. */
#define TCP_CLIENT_LIMIT 64

/* Without an answer: it has not shown that it may have one. */
static void turn_away(struct client *client, const char *why)
{
    client_refuse(client, "closed", why);
    client->service->refused++;
    client_end(client);
}

static bool send_welcome(int connection, const struct service *service,
                         const struct session *session)
{
    struct protocol_tcp_welcome welcome = {
        .welcome =
            {
                .magic = PROTOCOL_MAGIC,
                .version = PROTOCOL_VERSION,
                .kind = session ? PROTOCOL_WELCOME : PROTOCOL_REFUSED,
            },
        .system = process_own_system(),
    };

    if (session) {
        welcome.welcome.node_limit = service->recorder.settings->node_limit;
        welcome.welcome.capacity = session->trace.capacity;
        if (!trace_dir_path(session->directory, session->trace.name, welcome.path,
                            sizeof(welcome.path)) ||
            !utf8_is_plain(welcome.path)) {
            errno = EILSEQ;
            return false;
        }
    }
    return tcp_send(connection, &welcome, sizeof(welcome));
}

/* To close with something unread is to reset, which may take the answer from the one who reads. */
static void read_the_rest(int connection)
{
    char unused[4096];

    for (int i = 0; i < 16 && tcp_receive(connection, unused, sizeof(unused)) > 0; i++)
        ;
}

static void refuse(struct client *client, const char *why)
{
    if (why)
        message("refused %s: %s", client->name, why);
    client->service->refused++;
    send_welcome(client->source.fd, client->service, NULL);
    read_the_rest(client->source.fd);
    client_end(client);
}

static void answer_hello(struct client *client)
{
    const struct protocol_tcp_hello *hello = &client->tcp.hello;
    struct service *service = client->service;
    struct session_process process = {
        .pid = (pid_t)hello->hello.pid,
        .fork_of_pid = hello->hello.fork_of_pid,
        .system = TRACE_SYSTEM_WINDOWS,
        .description.parent = (pid_t)hello->ppid,
        .is_tcp = true,
        .watch = -1, /* its connection, once it is welcome */
    };
    struct session *session;

    if (service->recorder.settings->records_events) {
        message("refused pid %u: a Windows program, of which only profiles are recorded; start a "
                "service without --mode=calltrace for it",
                hello->hello.pid);
        refuse(client, NULL);
        return;
    }
    memcpy(process.description.exe, hello->exe, sizeof(hello->exe));
    memcpy(process.description.command, hello->command, sizeof(hello->command));
    session = session_begin(&service->recorder, &process);
    if (!session) {
        refuse(client, NULL);
        return;
    }
    if (!send_welcome(client->source.fd, service, session)) {
        message("pid %u cannot be sent the path of its trace: %s", hello->hello.pid,
                strerror(errno));
        session_discard(session);
        refuse(client, NULL);
        return;
    }
    session_watch(session, client_give_away(client));
}

static void answer(struct client *client)
{
    const struct protocol_hello *hello = &client->tcp.hello.hello;
    struct protocol_command command = {hello->magic,   hello->version, hello->kind,
                                       hello->more[0], hello->more[1], hello->more[2]};

    if (hello->kind == PROTOCOL_HELLO)
        answer_hello(client);
    else
        answer_give(client, &command);
}

static void judge(struct client *client)
{
    const struct protocol_tcp_hello *hello = &client->tcp.hello;
    const struct rendezvous *rendezvous = &client->service->tcp.rendezvous;
    enum tcp_hello_state state =
        tcp_hello_check(&client->tcp.hello, client->have, rendezvous->secret);
    char why[96];

    if (!client->was_shown_proof && tcp_hello_shows_secret(state, client->have))
        client->was_shown_proof =
            tcp_send(client->source.fd, rendezvous->proof, sizeof(rendezvous->proof));
    switch (state) {
    case TCP_HELLO_MORE:
        break;
    case TCP_HELLO_WHOLE:
        answer(client);
        break;
    case TCP_HELLO_NOT_OURS:
        turn_away(client, "expected a message of Umbra, found something else");
        break;
    case TCP_HELLO_WRONG_SECRET:
        turn_away(client, "it does not know the secret");
        break;
    case TCP_HELLO_OTHER_VERSION:
        snprintf(why, sizeof(why), "expected protocol version %d, found %u: instrument it again",
                 PROTOCOL_VERSION, hello->hello.version);
        refuse(client, why);
        break;
    case TCP_HELLO_TOO_LONG:
        snprintf(why, sizeof(why), "expected a hello of %zu bytes, found more", sizeof(*hello));
        refuse(client, why);
        break;
    case TCP_HELLO_MALFORMED:
        snprintf(why, sizeof(why), "found a hello of kind %u that is malformed", hello->hello.kind);
        refuse(client, why);
        break;
    }
}

static void client_ready(void *owner)
{
    struct client *client = owner;
    ssize_t size = tcp_receive(client->source.fd, client->tcp.bytes + client->have,
                               sizeof(client->tcp.bytes) - client->have);

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (client->awaits_the_end) {
        client_end(client);
    } else if (size <= 0) {
        turn_away(client, "it went without a whole hello");
    } else {
        client->have += (size_t)size;
        judge(client);
    }
}

static void say(struct client *client, const char *line, size_t length)
{
    char text[CLIENT_LINE_SIZE + 1];

    if (length >= sizeof(text))
        length = sizeof(text) - 1;
    memcpy(text, line, length);
    text[length++] = '\n';
    tcp_send(client->source.fd, text, length);
}

static const struct client_kind kind = {
    .limit = TCP_CLIENT_LIMIT,
    .may_be_any = true,
    .ready = client_ready,
    .say = say,
    .close = tcp_close,
};

void tcp_client_begin(struct service *service, int connection)
{
    client_begin(service, &kind, connection, "somebody at the TCP port");
}
