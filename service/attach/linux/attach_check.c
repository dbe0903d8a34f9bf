#include "service/attach/linux/attach_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/attach/linux/attached.h"
#include "trace/agent_name.h"
#include "trace/attached_agent.h"

#define IN_MEMORY "memfd:" ATTACHED_AGENT_NAME

/* The number behind a name in /proc/PID/status; -1: there is none. */
static long status_number(const char *status, const char *name)
{
    const char *found = strstr(status, name);

    return found ? strtol(found + strlen(name), NULL, 10) : -1;
}

static bool read_text(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    ssize_t got = -1;
    int file;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        got = read(file, text, size - 1);
        close(file);
    }
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* ELFCLASS64, for this processor. */
static bool is_for_x86_64(pid_t pid)
{
    char header[20];

    return read_text(pid, "exe", header, sizeof(header)) && header[4] == 2 && header[18] == 62;
}

bool attach_check_process(pid_t pid, struct failure *failure)
{
    char status[8192];
    const char *state, *features;

    if (pid == getpid())
        return fail_because(failure, "is this very program");
    if (!read_text(pid, "status", status, sizeof(status)))
        return fail_because(failure, "is no process");
    state = strstr(status, "State:\t");
    if (state && (state[7] == 'Z' || state[7] == 'X'))
        return fail_because(failure, "has ended");
    if (state && (state[7] == 'T' || state[7] == 't'))
        return fail_because(failure, "is stopped; continue it first (kill -CONT)");
    if (status_number(status, "Tgid:\t") != pid)
        return fail_because(failure, "is a thread; give the number of its process, %ld",
                            status_number(status, "Tgid:\t"));
    if (status_number(status, "TracerPid:\t") > 0)
        return fail_because(failure,
                            "is traced by process %ld, a debugger or strace, say; end that first",
                            status_number(status, "TracerPid:\t"));
    if (status_number(status, "Uid:\t") != (long)geteuid())
        return fail_because(failure, "is of another user, %ld; be that user, with sudo -u, say",
                            status_number(status, "Uid:\t"));
    features = strstr(status, "x86_Thread_features:\t");
    if (features && strstr(features, "shstk"))
        return fail_because(failure, "has a shadow stack, which return addresses could not be put "
                                     "back on when the hooks go");
    return is_for_x86_64(pid) ||
           fail_because(
               failure,
               "expected a program for x86-64, found one for another machine, or a kernel thread");
}

bool attach_check_mapped(const struct address_space *space, struct failure *failure)
{
    for (size_t i = 0; i < space->count; i++) {
        const char *name = attached_base_name(space->ranges[i].path);

        if (!strncmp(name, "libj9vm", 7))
            return fail_because(failure,
                                "is a Java machine of OpenJ9's, whose stack walker is not known to "
                                "bear hooks; HotSpot's is");
        if (agent_name_is(name))
            return fail_because(failure, "is instrumented already");
        if (!strcmp(name, ATTACHED_AGENT_NAME) || !strncmp(name, IN_MEMORY, strlen(IN_MEMORY)))
            return fail_because(failure, "is attached to, or was and has the agent still");
    }
    return true;
}
