#include "rewriter/verify/judge.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewriter/base/child.h"

#define MEMORY_BASE (1ull << 30)
#define MEMORY_RATE 16 /* times the file's size */
#define TIME_BASE   20 /* seconds */
#define TIME_RATE   (4u << 20)

static const char *verdict_text(int verdict)
{
    switch (verdict) {
    case VERDICT_UNREADABLE:
        return "cannot parse it";
    case VERDICT_SEGMENTS:
        return "counts other program headers than were written";
    case VERDICT_SECTIONS:
        return "counts other sections than were written";
    case VERDICT_LIBRARIES:
        return "does not find the agent first among its libraries";
    default:
        return "gave up on it";
    }
}

static void child(const char *path, const struct judge_expectation *expected)
{
    child_begin(MEMORY_BASE + expected->size * MEMORY_RATE, TIME_BASE + expected->size / TIME_RATE);
    _exit((int)(expected->is_pe ? judge_lief_pe : judge_lief)(path, expected));
}

bool judge_image(const char *path, const char *name, const struct judge_expectation *expected,
                 struct failure *failure)
{
    const char *advice = "--no-verify writes it all the same";
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        child(path, expected);
    if (pid < 0)
        return fail(failure, name, "cannot start its verification: %s; %s", strerror(errno),
                    advice);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return fail(failure, name, "cannot verify it: %s; %s", strerror(errno), advice);
    if (WIFSIGNALED(status))
        return fail(failure, name, "verification failed: LIEF ended by signal %d (%s); %s",
                    WTERMSIG(status), strsignal(WTERMSIG(status)), advice);
    if (WEXITSTATUS(status) != VERDICT_WELL_FORMED)
        return fail(failure, name, "verification failed: LIEF %s; %s",
                    verdict_text(WEXITSTATUS(status)), advice);
    return true;
}
