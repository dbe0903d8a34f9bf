#include "service/command.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "service/linux/signals_before.h"
#include "service/message.h"

#define STATUS_NOT_RUN   126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNALED  128

extern char **environ;

pid_t command_start(char **arguments, const char *instance, const struct signals *signals,
                    int *exit_status)
{
    posix_spawnattr_t attributes;
    pid_t pid = 0;
    int error;

    error = setenv("UMBRA_INSTANCE_ID", instance, 1) < 0 ? errno : 0;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &signals->before->mask);
    posix_spawnattr_setsigdefault(&attributes, &signals->before->ignored_by_us);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error)
        error = posix_spawnp(&pid, arguments[0], NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    if (!error)
        return pid;

    message("%s: cannot run the command: %s", arguments[0], strerror(error));
    *exit_status = error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
    return 0;
}

void command_signal(pid_t pid, int number)
{
    kill(pid, number);
}

bool command_has_ended(pid_t pid, int *exit_status)
{
    int status;

    if (waitpid(pid, &status, WNOHANG) != pid)
        return false;
    *exit_status = WIFSIGNALED(status) ? STATUS_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}
