/*
 * How a process ended, from what remains of it. Whoever its parent is may have collected it by now;
 * what is asked in turn:
 *
 *      pidfd, PIDFD_GET_INFO     Linux 6.15: once it was collected
 *      /proc/PID/stat            as long as it was not; the pid is still its own then
 */
#include "service/base/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* linux/pidfd.h, newer than most that are installed: its first 64 bytes. */
struct pidfd_facts {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t numbers[11];
    int32_t exit_code;
};

#define PIDFD_FACTS_EXIT (1u << 3)
#define PIDFD_GET_FACTS  _IOWR(0xff, 11, struct pidfd_facts)

#define EXIT_CODE_FIELD 52
#define STATE_FIELD     3

_Static_assert(sizeof(struct pidfd_facts) == 64, "PIDFD_INFO_SIZE_VER0");

static bool ask_watch(int watch, int *status)
{
    struct pidfd_facts facts = {.mask = PIDFD_FACTS_EXIT};

    if (watch < 0 || ioctl(watch, PIDFD_GET_FACTS, &facts) < 0 || !(facts.mask & PIDFD_FACTS_EXIT))
        return false;
    *status = facts.exit_code;
    return true;
}

/* "PID (NAME) STATE …", proc(5); the name may hold anything, a ')' too. */
static bool ask_proc(pid_t pid, int *status)
{
    char path[64], stat[1024];
    const char *at;
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, stat, sizeof(stat) - 1);
    close(fd);
    stat[length < 0 ? 0 : length] = 0;
    at = strrchr(stat, ')');
    if (!at || strncmp(at, ") Z", 3))
        return false;
    for (int field = STATE_FIELD - 1; at && field < EXIT_CODE_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%d", status) == 1;
}

void process_read_end(pid_t pid, int watch, enum trace_end_how *how, uint32_t *code)
{
    int status;

    *how = TRACE_END_HOW_UNKNOWN;
    *code = 0;
    /* It may be collected in between: then the watch knows. */
    if (!ask_watch(watch, &status) && !ask_proc(pid, &status) && !ask_watch(watch, &status))
        return;
    if (WIFEXITED(status)) {
        *how = TRACE_END_EXITED;
        *code = (uint32_t)WEXITSTATUS(status);
    } else if (WIFSIGNALED(status)) {
        *how = TRACE_END_KILLED;
        *code = (uint32_t)WTERMSIG(status);
    }
}
