#include "service/launch/command.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "service/base/message.h"
#include "service/launch/linux/command_file.h"
#include "service/launch/linux/signals_before.h"

#define STATUS_NOT_RUN   126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNALED  128

extern char **environ;

/* Under Wine, the root of the file system is drive Z. */
static int set_rendezvous(const char *path)
{
    char value[PATH_MAX + 2];

    if (!path)
        return unsetenv("UMBRA_RENDEZVOUS");
    snprintf(value, sizeof(value), "Z:%s", path);
    for (char *at = value; *at; at++)
        *at = *at == '/' ? '\\' : *at;
    return setenv("UMBRA_RENDEZVOUS", value, 1);
}

static int run_directly(pid_t *pid, const posix_spawnattr_t *attributes, char **arguments)
{
    return posix_spawnp(pid, arguments[0], NULL, attributes, arguments, environ);
}

/* Puts `wine` and the path of the file before what followed the program's name. */
static int run_by_wine(pid_t *pid, const posix_spawnattr_t *attributes, char **arguments,
                       char *path)
{
    size_t count = 0;
    char **with_wine;
    int error;

    while (arguments[count])
        count++;
    with_wine = calloc(count + 2, sizeof(*with_wine));
    if (!with_wine)
        return ENOMEM;
    with_wine[0] = "wine";
    with_wine[1] = path;
    memcpy(with_wine + 2, arguments + 1, (count - 1) * sizeof(*with_wine));
    error = run_directly(pid, attributes, with_wine);
    free(with_wine);
    return error;
}

static int run(pid_t *pid, const posix_spawnattr_t *attributes, char **arguments, bool *by_wine)
{
    char path[PATH_MAX];

    *by_wine = command_file_find_windows(path, sizeof(path), arguments[0]);
    if (*by_wine)
        return run_by_wine(pid, attributes, arguments, path);
    return run_directly(pid, attributes, arguments);
}

/* Where the file of the command is there, strerror names another reason than the true one. */
static const char *find_hindrance(const char *command, int error)
{
    char path[PATH_MAX];
    struct stat status;

    if (!command_file_find(path, sizeof(path), command) || stat(path, &status) < 0)
        return strerror(error);
    if (error == ENOENT)
        return "the interpreter that it names is not there, or needs what is not there";
    return error == EACCES && S_ISDIR(status.st_mode) ? "it is a folder" : strerror(error);
}

pid_t command_start(char **arguments, const char *instance, const char *rendezvous,
                    const struct signals *signals, int *exit_status)
{
    posix_spawnattr_t attributes;
    bool by_wine = false;
    pid_t pid = 0;
    int error = 0;

    if (instance &&
        (setenv("UMBRA_INSTANCE_ID", instance, 1) < 0 || set_rendezvous(rendezvous) < 0))
        error = errno;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &signals->before->mask);
    posix_spawnattr_setsigdefault(&attributes, &signals->before->ignored_by_us);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error)
        error = run(&pid, &attributes, arguments, &by_wine);
    posix_spawnattr_destroy(&attributes);
    if (!error)
        return pid;

    message(by_wine ? "%s: a Windows program; cannot run wine: %s"
                    : "%s: cannot run the command: %s",
            arguments[0], by_wine ? strerror(error) : find_hindrance(arguments[0], error));
    *exit_status = error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
    return 0;
}

bool command_is_for_windows(char **arguments)
{
    char path[PATH_MAX];

    return command_file_find_windows(path, sizeof(path), arguments[0]);
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
