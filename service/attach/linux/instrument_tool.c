#include "service/attach/linux/instrument_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/neighbour.h"

extern char **environ;

bool instrument_tool_find(char path[PATH_MAX])
{
    static const char *const places[] = {"instrument", "../rewriter/instrument", NULL};
    char folder[PATH_MAX];

    return neighbour_folder(folder) && neighbour_find(folder, places, X_OK, path);
}

/* What it says on standard error, cut to size; to its end. */
static void read_text(int file, char text[INSTRUMENT_TEXT_SIZE])
{
    size_t size = 0;
    char rest[INSTRUMENT_TEXT_SIZE];
    ssize_t got;

    while ((got = read(file, size < INSTRUMENT_TEXT_SIZE - 1 ? text + size : rest,
                       size < INSTRUMENT_TEXT_SIZE - 1 ? INSTRUMENT_TEXT_SIZE - 1 - size
                                                       : sizeof(rest))) > 0 ||
           (got < 0 && errno == EINTR))
        if (got > 0 && size < INSTRUMENT_TEXT_SIZE - 1)
            size += (size_t)got;
    text[size] = 0;
    text[strcspn(text, "\n")] = 0;
}

static pid_t start(char *const *words, int output, int said)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;

    posix_spawn_file_actions_init(&actions);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
    if (posix_spawn(&pid, words[0], &actions, NULL, words, environ))
        pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

bool instrument_tool_run(char *const *words, int output, char text[INSTRUMENT_TEXT_SIZE])
{
    int ends[2], status = -1;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid = start(words, output, ends[1]);
    close(ends[1]);
    read_text(ends[0], text);
    close(ends[0]);
    while (pid && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
