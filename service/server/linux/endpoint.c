#include "service/server/endpoint.h"

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

#include "service/base/linux/packet.h"
#include "service/base/message.h"
#include "service/server/command_link.h"
#include "service/server/linux/inherited.h"
#include "service/server/linux/leftovers.h"

#define BACKLOG    1024
#define MOST_LOOKS 100      /* at a lock without a pid */
#define LOOK_NS    10000000 /* from one to the next */

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool find_paths(struct endpoint *endpoint, const char *instance)
{
    const char *own = getenv("UMBRA_RUNTIME_DIR");
    size_t stem =
        protocol_socket_path(endpoint->socket_path, own && *own ? own : getenv("XDG_RUNTIME_DIR"),
                             instance, (unsigned)geteuid());

    if (!stem || endpoint->socket_path[0] != '/')
        return false;
    stem -= strlen(".socket");
    memcpy(endpoint->lock_path, endpoint->socket_path, stem);
    strcpy(endpoint->lock_path + stem, ".lock");
    memcpy(endpoint->rendezvous_path, endpoint->socket_path, stem);
    strcpy(endpoint->rendezvous_path + stem, ".rendezvous");
    return true;
}

static bool is_trusted(uid_t uid)
{
    return uid == geteuid() || uid == 0;
}

static const char *kind_of(const struct stat *stat)
{
    return S_ISDIR(stat->st_mode) ? "one" : S_ISLNK(stat->st_mode) ? "a symbolic link" : "a file";
}

/* Returns false after one message. */
static bool check_directory(const char *path, const struct stat *stat, bool may_be_of_root)
{
    bool is_ours = stat->st_uid == geteuid() || (may_be_of_root && stat->st_uid == 0);

    if (S_ISDIR(stat->st_mode) && is_ours && !(stat->st_mode & 077))
        return true;
    message("%s: expected a directory of user %u%s with mode 0700, found %s of user %u with mode "
            "%04o: put it right, or set XDG_RUNTIME_DIR to a directory of your own",
            path, (unsigned)geteuid(), may_be_of_root ? " or root" : "", kind_of(stat),
            (unsigned)stat->st_uid, stat->st_mode & 07777);
    return false;
}

/* Else others could put another directory in its place, whatever ours is like. */
static bool check_parent(const char *path)
{
    struct stat stat_of_parent;

    if (stat(path, &stat_of_parent) < 0) {
        message("%s: %s", path, strerror(errno));
        return false;
    }
    if (is_trusted(stat_of_parent.st_uid) &&
        (!(stat_of_parent.st_mode & 022) || (stat_of_parent.st_mode & S_ISVTX)))
        return true;
    message("%s: expected a directory of user %u or root in which nobody else can rename things, "
            "found one of user %u with mode %04o: set XDG_RUNTIME_DIR to a directory of your own",
            path, (unsigned)geteuid(), (unsigned)stat_of_parent.st_uid,
            stat_of_parent.st_mode & 07777);
    return false;
}

static void cut_last_part(char *path)
{
    *strrchr(path, '/') = 0;
}

static bool make_directory(const struct endpoint *endpoint)
{
    char path[PROTOCOL_PATH_SIZE], parent[PROTOCOL_PATH_SIZE];
    struct stat stat;

    strcpy(path, endpoint->socket_path);
    cut_last_part(path);
    strcpy(parent, path);
    cut_last_part(parent);
    if (!check_parent(*parent ? parent : "/"))
        return false;
    if (mkdir(path, 0700) < 0 && errno != EEXIST) {
        message("%s: cannot make the directory: %s", path, strerror(errno));
        return false;
    }
    if (lstat(path, &stat) < 0) {
        message("%s: %s", path, strerror(errno));
        return false;
    }
    return check_directory(path, &stat, false);
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

/* A service writes its pid at once. Another one that begins looks whether nobody has this lock any
   more (leftovers.c), and holds it for as long as that takes: false, if it has held it for too
   long. */
static bool is_looked_at(int lock, int *patience)
{
    const struct timespec while_it_looks = {.tv_nsec = LOOK_NS};
    char pid;

    if (errno != EWOULDBLOCK || !*patience || pread(lock, &pid, 1, 0) > 0)
        return false;
    --*patience;
    nanosleep(&while_it_looks, NULL);
    return true;
}

static bool take_lock(struct endpoint *endpoint, const char *instance)
{
    int patience = MOST_LOOKS;
    bool is_taken;

    do {
        close_if_open(&endpoint->lock);
        endpoint->lock = open(endpoint->lock_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        is_taken = endpoint->lock >= 0 && flock(endpoint->lock, LOCK_EX | LOCK_NB) == 0;
        if (!is_taken && (endpoint->lock < 0 || !is_looked_at(endpoint->lock, &patience))) {
            errno = endpoint->lock < 0 ? errno : EWOULDBLOCK;
            report_lock(endpoint, instance);
            close_if_open(&endpoint->lock);
            return false;
        }
    } while (!is_taken || !is_current(endpoint->lock, endpoint->lock_path));
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
    int listener;

    fill_address(&address, path);
    unlink(path);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(listener, BACKLOG) == 0)
        return listener;
    message("%s: cannot listen: %s", path, strerror(errno));
    close_if_open(&listener);
    return -1;
}

/* taken: -1, or a listener to be taken over. */
static bool listen_there(struct endpoint *endpoint, int taken)
{
    endpoint->listener = taken >= 0 ? taken : inherited_listener(endpoint->socket_path, BACKLOG);
    endpoint->is_inherited = taken < 0 && endpoint->listener >= 0;
    if (endpoint->listener == INHERITED_NONE)
        endpoint->listener = make_listener(endpoint->socket_path);
    if (endpoint->listener < 0)
        return false;
    endpoint->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (endpoint->spare < 0)
        message("/dev/null: cannot open: %s", strerror(errno));
    return endpoint->spare >= 0;
}

/* Ours is held, so that it stays. */
static void sweep(const struct endpoint *endpoint)
{
    char folder[PROTOCOL_PATH_SIZE];

    command_link_clean(); /* before the sockets go that tell which links are left */
    strcpy(folder, endpoint->socket_path);
    cut_last_part(folder);
    leftovers_sweep(folder);
}

bool endpoint_open(struct endpoint *endpoint, const char *instance)
{
    return endpoint_take_over(endpoint, instance, -1);
}

int endpoint_hand_on(struct endpoint *endpoint)
{
    int listener = endpoint->listener;

    endpoint->is_inherited = true;
    endpoint->listener = -1;
    return listener;
}

bool endpoint_take_over(struct endpoint *endpoint, const char *instance, int listener)
{
    endpoint->lock = endpoint->listener = endpoint->spare = -1;
    endpoint->said_no_descriptor = endpoint->is_inherited = false;
    if (!find_paths(endpoint, instance)) {
        message("instance %s: expected XDG_RUNTIME_DIR to be an absolute path that leaves room for "
                "a socket's name in %d bytes: set it to a shorter one",
                instance, PROTOCOL_PATH_SIZE);
        return false;
    }
    if (!make_directory(endpoint) || !take_lock(endpoint, instance))
        return false;
    sweep(endpoint);
    if (listen_there(endpoint, listener))
        return true;
    endpoint_close(endpoint);
    return false;
}

void endpoint_close(struct endpoint *endpoint)
{
    if (endpoint->lock < 0)
        return;
    if (!endpoint->is_inherited)
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
static void turn_one_away(struct endpoint *endpoint, int listener)
{
    int connection;

    if (!endpoint->said_no_descriptor)
        message("no descriptors are left: some programs are turned away; raise ulimit -n");
    endpoint->said_no_descriptor = true;
    close_if_open(&endpoint->spare);
    connection = accept_one(listener);
    if (connection >= 0)
        close(connection);
    else
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* the whole system has none */
    endpoint->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int endpoint_accept(struct endpoint *endpoint, int listener, struct connection_peer *peer)
{
    int connection = accept_one(listener);

    if (connection < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            turn_one_away(endpoint, listener);
        return -1;
    }
    if (packet_read_peer(connection, peer))
        return connection;
    close(connection);
    return -1;
}

/* Before anybody is connected to: a stranger could keep us waiting. Returns false, errno set. */
static bool may_be_found_there(const char *socket_path)
{
    char path[PROTOCOL_PATH_SIZE];
    struct stat stat;

    strcpy(path, socket_path);
    cut_last_part(path);
    if (lstat(path, &stat) < 0)
        return false;
    if (check_directory(path, &stat, true))
        return true;
    errno = EPERM;
    return false;
}

/* Whether the other end is ours or root's. Returns false, errno set, after one message. */
static bool is_answered_by_us(int connection, const char *path, struct connection_peer *peer)
{
    if (!packet_read_peer(connection, peer))
        return false;
    if (is_trusted(peer->uid))
        return true;
    message("%s: expected a service of user %u or root, found one of user %u: remove that socket",
            path, (unsigned)geteuid(), (unsigned)peer->uid);
    errno = EPERM;
    return false;
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
    if (!may_be_found_there(endpoint.socket_path))
        return -1;
    fill_address(&address, endpoint.socket_path);
    connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connection < 0)
        return -1;
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        is_answered_by_us(connection, endpoint.socket_path, peer))
        return connection;
    error = errno;
    close(connection);
    errno = error;
    return -1;
}
