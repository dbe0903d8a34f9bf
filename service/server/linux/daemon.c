#include "service/server/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/message.h"

/* Returns 0 when the daemon is ready, else the status that it ended with, or 1. */
static int wait_for(pid_t daemon, int ready)
{
    char byte;
    int status;
    ssize_t got;

    do
        got = read(ready, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1)
        return 0;
    if (waitpid(daemon, &status, 0) == daemon && WIFEXITED(status) && WEXITSTATUS(status))
        return WEXITSTATUS(status);
    message("the service ended before it was ready");
    return 1;
}

/* Closes all but the standard streams, `ready`, behind these from now on, and *kept, behind that.
 */
static void keep_alone(int ready, int *kept)
{
    int first = STDERR_FILENO + 1;

    ready = fcntl(ready, F_DUPFD_CLOEXEC, first + 2); /* out of the way */
    if (*kept >= 0) {
        int aside = fcntl(*kept, F_DUPFD_CLOEXEC, first + 2);

        dup3(aside, first + 1, O_CLOEXEC);
        *kept = first + 1;
    }
    dup3(ready, first, O_CLOEXEC);
    close_range((unsigned)first + (*kept >= 0 ? 2 : 1), ~0u, 0);
}

/* Returns in both; -1 after one message: there is no other. In the one that called it *status is
   wait_for's. */
static int split(pid_t *daemon, int *status, int *kept)
{
    int ready[2];

    *daemon = -1;
    if (pipe2(ready, O_CLOEXEC) == 0)
        *daemon = fork();
    if (*daemon < 0) {
        message("cannot split off a process: %s", strerror(errno));
        return -1;
    }
    if (*daemon) {
        close(ready[1]);
        *status = wait_for(*daemon, ready[0]);
        close(ready[0]);
        return 0;
    }
    setsid();
    signal(SIGHUP, SIG_IGN); /* until the service can read it */
    keep_alone(ready[1], kept);
    return STDERR_FILENO + 1;
}

int daemon_begin(void)
{
    pid_t daemon;
    int none = -1, status, caller = split(&daemon, &status, &none);

    if (daemon > 0)
        _exit(status);
    return caller;
}

int daemon_begin_beside(int *kept)
{
    pid_t daemon;
    int status, caller = split(&daemon, &status, kept);

    if (daemon > 0)
        return status ? -1 : -2;
    return caller;
}

void daemon_ready(int caller)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    signal(SIGHUP, SIG_DFL); /* blocked by now, and read: service.c */
    if (chdir("/") < 0 || null < 0)
        message("the service keeps its directory and standard descriptors: %s", strerror(errno));
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
    if (write(caller, "", 1) < 0)
        errno = 0; /* whoever started us did not wait */
    close(caller);
}
