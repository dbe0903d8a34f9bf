#include "grinder/image/debug_client.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/failure.h"
#include "support/progress.h"

#define TIMEOUT_S 20 /* for each file to begin to come; the library's own default is 90 */

static struct {
    __typeof__(debuginfod_begin) *begin;
    __typeof__(debuginfod_find_debuginfo) *find_debuginfo;
    __typeof__(debuginfod_set_progressfn) *set_progress;
    debuginfod_client *client; /* null until the first file is asked for */
    const struct debug_wish *wish;
    uint64_t fetched;
    time_t deadline;
    volatile sig_atomic_t is_too_large;
    bool is_too_long;
} state;

static time_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* The file is compressed on its way: it may be larger than what comes. */
static void file_is_too_large(int signal)
{
    (void)signal;
    state.is_too_large = true;
}

/* Called about once a second. Non-zero stops the transfer. */
static int watch(debuginfod_client *client, long done, long all)
{
    (void)client;
    if (done > 0 && all > 0)
        progress_share((size_t)done, (size_t)all, state.wish->name);
    if (done > 0 && (uint64_t)done > state.fetched)
        state.fetched = (uint64_t)done;
    if (state.fetched > state.wish->bytes || (all > 0 && (uint64_t)all > state.wish->bytes))
        state.is_too_large = true;
    state.is_too_long = now() >= state.deadline;
    return state.is_too_large || state.is_too_long;
}

static bool load(struct failure *failure)
{
    void *library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return fail_because(failure, DEBUGINFOD_SONAME " is not installed");
    state.begin = (__typeof__(state.begin))dlsym(library, "debuginfod_begin");
    state.find_debuginfo =
        (__typeof__(state.find_debuginfo))dlsym(library, "debuginfod_find_debuginfo");
    state.set_progress =
        (__typeof__(state.set_progress))dlsym(library, "debuginfod_set_progressfn");
    if (!state.begin || !state.find_debuginfo || !state.set_progress)
        return fail_because(failure, DEBUGINFOD_SONAME " is of another version");
    state.client = state.begin();
    if (!state.client)
        return fail_because(failure, DEBUGINFOD_SONAME " does not begin");
    state.set_progress(state.client, watch);
    return true;
}

static void set_number(const char *variable, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    setenv(variable, text, 1);
}

/* The library looks at its own limits before more than these have come. */
static void set_limits(const struct debug_wish *wish)
{
    const struct rlimit bytes = {wish->bytes, RLIM_INFINITY};
    const struct rlimit lower = {wish->bytes, wish->bytes};

    if (setrlimit(RLIMIT_FSIZE, &bytes) < 0)
        setrlimit(RLIMIT_FSIZE, &lower);
    set_number(DEBUGINFOD_MAXSIZE_ENV_VAR, wish->bytes);
    set_number(DEBUGINFOD_MAXTIME_ENV_VAR, (uint64_t)wish->seconds);
    state.is_too_large = state.is_too_long = false;
    state.fetched = 0;
    state.deadline = now() + wish->seconds;
}

static int error_of(int result)
{
    if (result >= 0)
        return 0;
    return state.is_too_large ? EFBIG : state.is_too_long ? ETIME : -result;
}

static void fetch(const struct debug_wish *wish, struct debug_answer *answer)
{
    char *path = NULL;
    struct stat stat;
    int file;

    state.wish = wish;
    set_limits(wish);
    file = state.find_debuginfo(state.client, wish->id, wish->id_size, &path);
    progress_clear();
    answer->error = error_of(file);
    /* what was kept is not fetched again, and nobody watched it */
    if (file >= 0 && state.fetched && fstat(file, &stat) == 0)
        state.fetched = (uint64_t)stat.st_size;
    answer->bytes = state.is_too_large ? wish->bytes : state.fetched;
    if (file >= 0)
        snprintf(answer->path, sizeof(answer->path), "%s", path ? path : "");
    if (file >= 0)
        close(file);
    free(path);
}

static void answer(const struct debug_wish *wish, struct debug_answer *answer)
{
    struct failure failure;

    if (state.client || load(&failure)) {
        fetch(wish, answer);
        return;
    }
    answer->error = ENOPKG;
    snprintf(answer->why, sizeof(answer->why), "%.*s", (int)sizeof(answer->why) - 1, failure.text);
}

/* Root's environment may be another's. */
static void set_environment(const char *servers, const char *cache)
{
    if (geteuid() == 0)
        clearenv();
    if (!getenv(DEBUGINFOD_TIMEOUT_ENV_VAR))
        set_number(DEBUGINFOD_TIMEOUT_ENV_VAR, TIMEOUT_S);
    setenv(DEBUGINFOD_URLS_ENV_VAR, servers, 1);
    setenv(DEBUGINFOD_CACHE_PATH_ENV_VAR, cache, 1);
}

void debug_client_run(int socket, const char *servers, const char *cache)
{
    const struct sigaction too_large = {.sa_handler = file_is_too_large};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct debug_wish wish;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGXFSZ, &too_large, NULL);
    umask(077);
    if (null >= 0)
        dup2(null, STDOUT_FILENO); /* who reads it waits for the grinder's end, not for ours */
    set_environment(servers, cache);
    while (recv(socket, &wish, sizeof(wish), 0) == sizeof(wish)) {
        struct debug_answer answered = {0};

        answer(&wish, &answered);
        if (send(socket, &answered, sizeof(answered), MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(EXIT_SUCCESS);
}
