#include "front/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/say.h"
#include "support/memory.h"

#define STATUS_NOT_RUN  126
#define STATUS_SIGNALED 128

/* The first that matches, made absolute; each is seen from the folder. To be freed. */
static char *find(const char *folder, const char *const *places)
{
    char *found = NULL;

    for (; *places && !found; places++) {
        char *pattern = memory_print("%s/%s", folder, *places);
        glob_t matches;
        if (glob(pattern, 0, NULL, &matches) == 0)
            found = realpath(matches.gl_pathv[0], NULL);
        globfree(&matches);
        free(pattern);
    }
    return found;
}

static char *find_or_exit(const char *name, const char *folder, const char *const *places)
{
    char *path = find(folder, places);

    if (!path)
        say_and_exit(STATUS_FAILED,
                     "%s: expected it beside this program, in %s, or in the same build directory, "
                     "found none; install Umbra as a whole: meson install",
                     name, folder);
    return path;
}

static const char *const instrument_places[] = {"instrument", "../rewriter/instrument", NULL};
static const char *const service_places[] = {"call_trace_service", "../service/call_trace_service",
                                             NULL};
static const char *const grinder_places[] = {"grinder", "../grinder/grinder", NULL};
static const char *const agent_places[] = {
    "../lib/*/umbra/libhooks.so", "../lib*/umbra/libhooks.so", "../hooks/libhooks.so", NULL};

const struct tools *tools_find(void)
{
    static struct tools tools;
    char *folder, *slash;

    if (tools.own)
        return &tools;
    tools.own = realpath("/proc/self/exe", NULL);
    if (!tools.own)
        say_and_exit(STATUS_FAILED, "/proc/self/exe: cannot be read: %s; mount /proc",
                     strerror(errno));
    folder = memory_copy_string(tools.own);
    slash = strrchr(folder, '/');
    *slash = 0;
    tools.instrument = find_or_exit("instrument", folder, instrument_places);
    tools.service = find_or_exit("call_trace_service", folder, service_places);
    tools.grinder = find_or_exit("grinder", folder, grinder_places);
    tools.agent = find_or_exit("libhooks.so", folder, agent_places);
    free(folder);
    return &tools;
}

static int status_of(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return STATUS_NOT_RUN;
    return WIFSIGNALED(status) ? STATUS_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
}

void tool_become(char *const *arguments)
{
    say_command(arguments);
    execv(arguments[0], arguments);
}

int tool_run(char *const *arguments)
{
    return tool_run_to(arguments, STDOUT_FILENO);
}

int tool_run_to(char *const *arguments, int output)
{
    pid_t child;

    say_command(arguments);
    child = fork();
    if (child < 0)
        return STATUS_NOT_RUN;
    if (!child) {
        if (output == STDOUT_FILENO || dup2(output, STDOUT_FILENO) >= 0)
            execv(arguments[0], arguments);
        _exit(STATUS_NOT_RUN);
    }
    return status_of(child);
}

/* All of it is read, so that who writes does not wait. */
static void read_text(int from, char *text, size_t size)
{
    char rest[512];
    size_t used = 0;
    ssize_t count;

    for (;;) {
        const bool fits = used + 1 < size;
        count = fits ? read(from, text + used, size - 1 - used) : read(from, rest, sizeof(rest));
        if (count == 0 || (count < 0 && errno != EINTR))
            break;
        if (count > 0 && fits)
            used += (size_t)count;
    }
    text[used] = 0;
}

int tool_run_silently(char *const *arguments, char *text, size_t size)
{
    int ends[2];
    pid_t child;

    *text = 0;
    say_command(arguments);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return STATUS_NOT_RUN;
    child = fork();
    if (!child) {
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execv(arguments[0], arguments);
        _exit(STATUS_NOT_RUN);
    }
    close(ends[1]);
    if (child > 0)
        read_text(ends[0], text, size);
    close(ends[0]);
    return child < 0 ? STATUS_NOT_RUN : status_of(child);
}
