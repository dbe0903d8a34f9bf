#include "grinder/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes of memory that this process can write to. */
static uint64_t data_size(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;

    if (file) {
        if (fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(int resource, uint64_t most)
{
    struct rlimit value;

    if (getrlimit((__rlimit_resource_t)resource, &value) < 0)
        return;
    if (value.rlim_max > most)
        value.rlim_max = most;
    value.rlim_cur = value.rlim_max;
    setrlimit((__rlimit_resource_t)resource, &value);
}

/* What a library or its crash prints is no business of the user's terminal. */
static void silence(void)
{
    int null = open("/dev/null", O_RDWR);

    for (int i = 0; null >= 0 && i < 3; i++)
        dup2(null, i);
}

/* Where exit() was called, before any other handler runs. */
static void leave(void)
{
    _exit(EXIT_FAILURE);
}

pid_t child_start(const struct child_limits *limits, int (*work)(void *with, int pipe), void *with,
                  int *pipe)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        silence();
        limit(RLIMIT_CPU, limits->seconds);
        limit(RLIMIT_DATA, data_size() + limits->memory);
        limit(RLIMIT_CORE, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        atexit(leave);
        _exit(work(with, ends[1]));
    }
    close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    *pipe = ends[0];
    return pid;
}

int child_wait(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
