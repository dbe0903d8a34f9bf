#include "service/server/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/message.h"

static _Noreturn void wait_for(pid_t daemon, int ready)
{
    char byte;
    int status;
    ssize_t got;

    do
        got = read(ready, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1)
        _exit(0);
    if (waitpid(daemon, &status, 0) == daemon && WIFEXITED(status) && WEXITSTATUS(status))
        _exit(WEXITSTATUS(status));
    message("the service ended before it was ready");
    _exit(1);
}

int daemon_begin(void)
{
    int ready[2];
    pid_t pid = -1;

    if (pipe2(ready, O_CLOEXEC) == 0)
        pid = fork();
    if (pid < 0) {
        message("cannot split off a process: %s", strerror(errno));
        return -1;
    }
    if (pid) {
        close(ready[1]);
        wait_for(pid, ready[0]);
    }
    setsid();
    signal(SIGHUP, SIG_IGN); /* until the service can read it */
    dup3(ready[1], STDERR_FILENO + 1, O_CLOEXEC);
    if (ready[1] != STDERR_FILENO + 1)
        close(ready[1]);
    close_range(STDERR_FILENO + 2, ~0u, 0);
    return STDERR_FILENO + 1;
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
