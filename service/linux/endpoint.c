#include "service/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "service/linux/inherited.h"
#include "service/linux/packet.h"
#include "service/message.h"

#define BACKLOG 1024

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool find_paths(struct endpoint *endpoint, const char *instance)
{
    size_t stem = protocol_socket_path(endpoint->socket_path, getenv("XDG_RUNTIME_DIR"), instance,
                                       (unsigned)geteuid());

    if (!stem || endpoint->socket_path[0] != '/')
        return false;
    stem -= strlen(".socket");
    memcpy(endpoint->lock_path, endpoint->socket_path, stem);
    strcpy(endpoint->lock_path + stem, ".lock");
    memcpy(endpoint->rendezvous_path, endpoint->socket_path, stem);
    strcpy(endpoint->rendezvous_path + stem, ".rendezvous");
    return true;
}

static bool check_directory(const char *path)
{
    struct stat stat;

    if (mkdir(path, 0700) < 0 && errno != EEXIST) {
        message("%s: cannot make the directory: %s", path, strerror(errno));
        return false;
    }
    if (lstat(path, &stat) < 0) {
        message("%s: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISDIR(stat.st_mode) || stat.st_uid != geteuid() || (stat.st_mode & 077)) {
        message("%s: expected a directory of user %u with mode 0700, found %s of user %u with mode "
                "%04o: put it right, or set XDG_RUNTIME_DIR to a directory of your own",
                path, (unsigned)geteuid(),
                S_ISDIR(stat.st_mode)   ? "one"
                : S_ISLNK(stat.st_mode) ? "a symbolic link"
                                        : "a file",
                (unsigned)stat.st_uid, stat.st_mode & 07777);
        return false;
    }
    return true;
}

/* Nobody else can change the directory once it was checked, if /tmp is sticky as it should be. */
static bool make_directory(const struct endpoint *endpoint)
{
    char path[PROTOCOL_PATH_SIZE];

    strcpy(path, endpoint->socket_path);
    *strrchr(path, '/') = 0;
    return check_directory(path);
}

/* The lock may have been removed, by the service that held it, between our open and flock. */
static bool is_current(int lock, const char *path)
{
    struct stat ours, current;

    return fstat(lock, &ours) == 0 && lstat(path, &current) == 0 && ours.st_ino == current.st_ino &&
           ours.st_dev == current.st_dev;
}

static void report_lock(const struct endpoint *endpoint, const char *instance)
{
    char pid[16] = {0};

    if (errno != EWOULDBLOCK) {
        message("%s: cannot lock: %s", endpoint->lock_path, strerror(errno));
        return;
    }
    if (pread(endpoint->lock, pid, sizeof(pid) - 1, 0) <= 0)
        strcpy(pid, "unknown");
    message("instance %s: already served by pid %s: use that one, stop it, or choose another "
            "--instance-id",
            instance, pid);
}

/* For those who come later; the lock holds without it. */
static void write_holder(int lock)
{
    if (ftruncate(lock, 0) < 0 || dprintf(lock, "%d", (int)getpid()) < 0)
        errno = 0;
}

static bool take_lock(struct endpoint *endpoint, const char *instance)
{
    do {
        close_if_open(&endpoint->lock);
        endpoint->lock = open(endpoint->lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (endpoint->lock < 0 || flock(endpoint->lock, LOCK_EX | LOCK_NB) < 0) {
            report_lock(endpoint, instance);
            close_if_open(&endpoint->lock);
            return false;
        }
    } while (!is_current(endpoint->lock, endpoint->lock_path));
    write_holder(endpoint->lock);
    return true;
}

static void fill_address(struct sockaddr_un *address, const char *path)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    strcpy(address->sun_path, path);
}

static int make_listener(const char *path)
{
    struct sockaddr_un address;
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    fill_address(&address, path);
    unlink(path);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(listener, BACKLOG) == 0)
        return listener;
    message("%s: cannot listen: %s", path, strerror(errno));
    close_if_open(&listener);
    return -1;
}

static bool listen_there(struct endpoint *endpoint)
{
    endpoint->listener = inherited_listener(endpoint->socket_path, BACKLOG);
    endpoint->given = endpoint->listener >= 0;
    if (endpoint->listener == INHERITED_NONE)
        endpoint->listener = make_listener(endpoint->socket_path);
    if (endpoint->listener < 0)
        return false;
    endpoint->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (endpoint->spare < 0)
        message("/dev/null: cannot open: %s", strerror(errno));
    return endpoint->spare >= 0;
}

bool endpoint_open(struct endpoint *endpoint, const char *instance)
{
    endpoint->lock = endpoint->listener = endpoint->spare = -1;
    endpoint->ran_out = endpoint->given = false;
    if (!find_paths(endpoint, instance)) {
        message("instance %s: expected XDG_RUNTIME_DIR to be an absolute path that leaves room for "
                "a socket's name in %d bytes: set it to a shorter one",
                instance, PROTOCOL_PATH_SIZE);
        return false;
    }
    if (!make_directory(endpoint) || !take_lock(endpoint, instance))
        return false;
    if (listen_there(endpoint))
        return true;
    endpoint_close(endpoint);
    return false;
}

void endpoint_close(struct endpoint *endpoint)
{
    if (endpoint->lock < 0)
        return;
    if (!endpoint->given)
        unlink(endpoint->socket_path);
    close_if_open(&endpoint->listener);
    close_if_open(&endpoint->spare);
    unlink(endpoint->lock_path);
    close_if_open(&endpoint->lock);
}

static int accept_one(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* Who connects while there are no descriptors must not wait for an answer: it hears a close. */
static void turn_one_away(struct endpoint *endpoint)
{
    int connection;

    if (!endpoint->ran_out)
        message("no descriptors are left: some programs are turned away; raise ulimit -n");
    endpoint->ran_out = true;
    close_if_open(&endpoint->spare);
    connection = accept_one(endpoint->listener);
    if (connection >= 0)
        close(connection);
    else
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* the whole system has none */
    endpoint->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int endpoint_accept(struct endpoint *endpoint, struct connection_peer *peer)
{
    int connection = accept_one(endpoint->listener);

    if (connection < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            turn_one_away(endpoint);
        return -1;
    }
    if (packet_read_peer(connection, peer))
        return connection;
    close(connection);
    return -1;
}

int endpoint_connect(const char *instance, unsigned patience_s, struct connection_peer *peer)
{
    struct timeval patience = {.tv_sec = patience_s};
    struct sockaddr_un address;
    struct endpoint endpoint;
    int connection, error;

    if (!find_paths(&endpoint, instance)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fill_address(&address, endpoint.socket_path);
    connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return -1;
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        packet_read_peer(connection, peer)) {
        if (peer->uid == geteuid() || peer->uid == 0)
            return connection;
        errno = EPERM;
    }
    error = errno;
    close(connection);
    errno = error;
    return -1;
}
