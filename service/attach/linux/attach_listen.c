#include "service/attach/linux/attach_listen.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/base/random.h"

#define BACKLOG 1024

/* Whether our user has a number there. Else he is nobody, as are all others, and the agent could
   not tell whom it connects to. */
static bool is_known_there(pid_t pid)
{
    unsigned long inside, outside, count;
    bool is_known = false;
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
    file = fopen(path, "re");
    while (file && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3)
        is_known |= geteuid() - outside < count;
    if (file)
        fclose(file);
    return is_known;
}

/* Their descriptor becomes ours, too. Since Linux 5.6. */
static int take_descriptor(pid_t pid, int theirs)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    int ours = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, theirs, 0);
    int error = errno;

    if (process >= 0)
        close(process);
    errno = error;
    return ours;
}

/* Sockets belong to the network namespace of who makes them. -1, errno set. */
static int make_socket_there(const struct attached *attached, struct tracees *tracees)
{
    struct tracee *caller = tracees_caller(tracees);
    long theirs = -ESRCH;
    int ours, error;

    if (caller)
        theirs = tracee_call(tracees, caller, SYS_socket,
                             (uint64_t[6]){AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK});
    if (theirs < 0) {
        errno = (int)-theirs;
        return -1;
    }
    ours = take_descriptor(attached->pid, (int)theirs);
    error = errno;
    tracee_call(tracees, caller, SYS_close, (uint64_t[6]){(uint64_t)theirs});
    errno = error;
    return ours;
}

static bool listen_at(int listener, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);

    memcpy(address.sun_path + 1, name, length);
    return bind(listener, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) == 0 &&
           listen(listener, BACKLOG) == 0;
}

bool attach_listen(struct attached *attached, struct tracees *tracees, struct failure *failure)
{
    uint64_t number;

    if (attached->listener >= 0)
        return true;
    if (!is_known_there(attached->pid))
        return fail_because(failure,
                            "is in a user namespace that knows no user of this program's, and "
                            "cannot tell who that is; map user %u there (uid_map)",
                            (unsigned)geteuid());
    if (!random_fill(&number, sizeof(number)))
        return fail_because(failure, "cannot be given a socket: no random number for its name");
    snprintf(attached->socket_name, sizeof(attached->socket_name), "umbra-attach-%d-%016" PRIx64,
             (int)attached->pid, number);
    attached->listener = make_socket_there(attached, tracees);
    if (attached->listener >= 0 && listen_at(attached->listener, attached->socket_name))
        return true;
    fail_because(failure,
                 "sees other files than this program, and cannot be given a socket (Linux 5.6 and "
                 "later can): %s",
                 strerror(errno));
    if (attached->listener >= 0)
        close(attached->listener);
    attached->listener = -1;
    return false;
}
