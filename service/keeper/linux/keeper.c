#include "service/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/linux/packet.h"
#include "service/base/message.h"
#include "service/events/call_trace.h"
#include "service/keeper/linux/keeper_packet.h"
#include "service/keeper/linux/keeping.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"
#include "trace/protocol.h"

#define SEND_MS    500 /* until a keeper that writes has time for us */
#define PATIENCE_S 5   /* for the answer of an earlier keeper */

struct keeper {
    int socket;
};

/* INSTANCE.keeper beside INSTANCE.socket. */
static void write_path(char path[PROTOCOL_PATH_SIZE], const char *socket_path)
{
    strcpy(path, socket_path);
    strcpy(strrchr(path, '.'), ".keeper");
}

/* Nothing of the service's stays open, standard output least of all: somebody may read it. */
static void close_all_but(int socket)
{
    int null = open("/dev/null", O_RDWR);

    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (socket > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)socket - 1, 0);
    close_range((unsigned)socket + 1, ~0u, 0);
}

/* A grandchild, for which nobody waits. */
static _Noreturn void become_keeper(const struct recorder *recorder, const char *socket_path,
                                    int socket)
{
    char path[PROTOCOL_PATH_SIZE];
    struct tick_clock clock = recorder->clock;

    write_path(path, socket_path);
    setsid();
    if (fork() != 0)
        _exit(0);
    close_all_but(socket);
    prctl(PR_SET_NAME, "umbra-keeper");
    keeping_run(socket, path, recorder->settings->log_file, &clock);
}

struct keeper *keeper_open(const struct recorder *recorder, const char *socket_path)
{
    const struct timeval patience = {.tv_usec = SEND_MS * 1000};
    struct keeper *keeper = calloc(1, sizeof(*keeper));
    int ends[2] = {-1, -1};
    pid_t child = -1;

    if (keeper && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
        child = fork();
    if (child == 0)
        become_keeper(recorder, socket_path, ends[1]);
    if (child < 0) {
        message("cannot begin a keeper: %s: what programs record is lost if this service is killed",
                strerror(errno));
        if (ends[0] >= 0)
            close(ends[0]);
        free(keeper);
        keeper = NULL;
    } else {
        waitpid(child, NULL, 0);
        setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
        keeper->socket = ends[0];
    }
    if (ends[1] >= 0)
        close(ends[1]);
    return keeper;
}

static int connect_to(const char *path)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct connection_peer peer;
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, path);
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connection >= 0 && connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        packet_read_peer(connection, &peer) && (peer.uid == geteuid() || peer.uid == 0))
        return connection;
    if (connection >= 0)
        close(connection);
    return -1;
}

void keeper_adopt(struct recorder *recorder, const char *socket_path,
                  void (*adopt)(struct recorder *recorder, const struct kept_session *kept))
{
    char path[PROTOCOL_PATH_SIZE];
    struct keeper_packet packet;
    int files[KEEPER_DESCRIPTORS];
    int connection;

    write_path(path, socket_path);
    connection = connect_to(path);
    if (connection < 0)
        return;
    while (keeper_packet_receive(connection, &packet, files) && packet.kind == KEEPER_HOLD) {
        const struct kept_session kept = {
            .directory = packet.directory,
            .is_fixed = packet.is_fixed,
            .name = packet.name,
            .pid = packet.pid,
            .trace = files[KEEPER_TRACE],
            .directory_file = files[KEEPER_DIRECTORY],
            .ring = files[KEEPER_RING],
            .watch = files[KEEPER_WATCH],
        };

        adopt(recorder, &kept);
    }
    if (packet.kind == KEEPER_END) {
        packet.kind = KEEPER_TAKEN;
        keeper_packet_send(connection, &packet, NULL);
    }
    close(connection);
}

void keeper_hold(struct keeper *keeper, const struct session *session)
{
    struct keeper_packet packet = {
        .kind = KEEPER_HOLD,
        .number = session->number,
        .pid = (uint32_t)session->pid,
        .is_fixed = session->directory->is_fixed,
    };
    uint64_t ring_size;
    int files[KEEPER_DESCRIPTORS];

    if (!keeper || !session->trace.header)
        return;
    files[KEEPER_TRACE] = session->trace.fd;
    files[KEEPER_DIRECTORY] = session->directory->fd;
    files[KEEPER_RING] = call_trace_ring(session, &ring_size);
    files[KEEPER_WATCH] = session->source.fd;
    memcpy(packet.name, session->trace.name, sizeof(packet.name));
    snprintf(packet.directory, sizeof(packet.directory), "%s", session->directory->path);
    if (!keeper_packet_send(keeper->socket, &packet, files))
        message("session %u: the keeper does not take it: %s: what it records is lost if this "
                "service is killed",
                session->number, strerror(errno));
}

void keeper_release(struct keeper *keeper, const struct session *session)
{
    struct keeper_packet packet = {.kind = KEEPER_RELEASE, .number = session->number};

    if (keeper && !session->is_tcp)
        keeper_packet_send(keeper->socket, &packet, NULL);
}

void keeper_close(struct keeper *keeper)
{
    if (!keeper)
        return;
    close(keeper->socket);
    free(keeper);
}
