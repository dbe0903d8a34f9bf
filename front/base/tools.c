#include "front/base/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/base/words.h"
#include "support/memory.h"
#include "support/neighbour.h"

#define STATUS_NOT_RUN  126
#define STATUS_SIGNALED 128
#define MOST_FILES      64 /* that a limited tool may have open */
#define PLACE_SECONDS   60

/* Null if it is not there. */
static char *find(const char *folder, const char *const *places)
{
    char path[PATH_MAX];

    return neighbour_find(folder, places, F_OK, path) ? memory_copy_string(path) : NULL;
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
static const char *const agent_places_i386[] = {
    "../lib/*/umbra/libhooks32.so", "../lib*/umbra/libhooks32.so", "../hooks/libhooks32.so", NULL};

const struct tools *tools_find(void)
{
    static struct tools tools;
    char folder[PATH_MAX];

    if (tools.own)
        return &tools;
    tools.own = realpath("/proc/self/exe", NULL);
    if (!tools.own || !neighbour_folder(folder))
        say_and_exit(STATUS_FAILED, "/proc/self/exe: cannot be read: %s; mount /proc",
                     strerror(errno));
    tools.instrument = find_or_exit("instrument", folder, instrument_places);
    tools.service = find_or_exit("call_trace_service", folder, service_places);
    tools.grinder = find_or_exit("grinder", folder, grinder_places);
    tools.agents[PROCESSOR_X86_64] = find_or_exit("libhooks.so", folder, agent_places);
    tools.agents[PROCESSOR_I386] = find(folder, agent_places_i386);
    return &tools;
}

static const char *spoken_name;

void tools_speak_as(const char *name)
{
    spoken_name = name;
}

/* Returns only if that fails, with errno. */
static void execute(char *const *arguments)
{
    const struct tools *tools = tools_find();
    struct words renamed = {0};

    if (!spoken_name ||
        (strcmp(arguments[0], tools->grinder) != 0 && strcmp(arguments[0], tools->service) != 0)) {
        execv(arguments[0], arguments);
        return;
    }
    words_add(&renamed, spoken_name);
    words_add_all(&renamed, arguments + 1);
    execv(arguments[0], renamed.list);
    words_free(&renamed);
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
    execute(arguments);
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
            execute(arguments);
        _exit(STATUS_NOT_RUN);
    }
    return status_of(child);
}

/* What is read of it, and when it is to end. */
struct running_tool {
    pid_t pid;
    int ended; /* pidfd: readable when it has ended */
    int from;  /* both its streams; -1 at their end */
    char *text;
    size_t used, size;
};

/* All is read, so that who writes does not wait. */
static void read_some(struct running_tool *tool)
{
    bool fits = tool->used + 1 < tool->size;
    char rest[512];
    ssize_t count = fits ? read(tool->from, tool->text + tool->used, tool->size - 1 - tool->used)
                         : read(tool->from, rest, sizeof(rest));

    if (count > 0 && fits)
        tool->used += (size_t)count;
    if (count == 0 || (count < 0 && errno != EINTR)) {
        close(tool->from);
        tool->from = -1;
    }
}

static int64_t milliseconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Returns false if it still runs after that time. A process that it left behind may hold its
   streams: what is there by now is read. */
static bool read_until_end(struct running_tool *tool, int64_t time)
{
    struct pollfd events[] = {{tool->from, POLLIN, 0}, {tool->ended, POLLIN, 0}};
    int64_t end = milliseconds() + time;

    for (;;) {
        int64_t left = end - milliseconds();
        events[0].fd = tool->from;
        if (poll(events, 2, left < 0 ? 0 : (int)left) < 0 && errno != EINTR)
            return true;
        if (events[0].revents)
            read_some(tool);
        else if (events[1].revents)
            return true;
        else if (left <= 0)
            return false;
    }
}

static void become_silent(int output)
{
    int nothing = open("/dev/null", O_RDONLY);

    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
}

static void set_limit(int resource, uint64_t value, uint64_t most)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) < 0)
        return;
    limit.rlim_max = most < limit.rlim_max ? most : limit.rlim_max;
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    setrlimit(resource, &limit);
}

/* A sanitizer takes terabytes of address space. */
static void limit_memory(uint64_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    (void)bytes;
#else
    set_limit(RLIMIT_AS, bytes, bytes);
#endif
}

static void keep_to(const struct tool_limits *limits)
{
    limit_memory(limits->memory);
    set_limit(RLIMIT_FSIZE, limits->output, limits->output);
    /* At the first of the two it is told so, and dies of SIGXCPU. */
    set_limit(RLIMIT_CPU, limits->processor_seconds, limits->processor_seconds + 5);
    set_limit(RLIMIT_NOFILE, MOST_FILES, MOST_FILES);
    set_limit(RLIMIT_CORE, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Returns false if it cannot be started. Between fork and exec nothing is called that another
   thread may have in hand. */
static bool begin_silently(struct running_tool *tool, char *const *arguments, const int *inherited,
                           const struct tool_limits *limits)
{
    int ends[2];

    *tool->text = 0;
    say_command(arguments);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    tool->from = ends[0];
    tool->pid = fork();
    if (tool->pid == 0) {
        become_silent(ends[1]);
        for (; inherited && *inherited >= 0; inherited++)
            fcntl(*inherited, F_SETFD, 0);
        if (limits)
            keep_to(limits);
        execv(arguments[0], arguments);
        _exit(STATUS_NOT_RUN);
    }
    close(ends[1]);
    tool->ended = tool->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, tool->pid, 0);
    return tool->pid > 0;
}

static int end_silently(struct running_tool *tool)
{
    tool->text[tool->used] = 0;
    if (tool->from >= 0)
        close(tool->from);
    if (tool->ended >= 0)
        close(tool->ended);
    return tool->pid < 0 ? STATUS_NOT_RUN : status_of(tool->pid);
}

int tool_run_silently(char *const *arguments, char *text, size_t size)
{
    struct running_tool tool = {.from = -1, .ended = -1, .pid = -1, .text = text, .size = size};

    if (begin_silently(&tool, arguments, NULL, NULL))
        while (!read_until_end(&tool, INT_MAX))
            ;
    return end_silently(&tool);
}

/* --- as many at a time as there are processors --- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t is_free;
    int taken;
} places = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void take_place(void)
{
    cpu_set_t processors;
    int count = 1;

    if (sched_getaffinity(0, sizeof(processors), &processors) == 0)
        count = CPU_COUNT(&processors);
    pthread_mutex_lock(&places.mutex);
    while (places.taken >= count)
        pthread_cond_wait(&places.is_free, &places.mutex);
    places.taken++;
    pthread_mutex_unlock(&places.mutex);
}

static void leave_place(void)
{
    pthread_mutex_lock(&places.mutex);
    places.taken--;
    pthread_cond_signal(&places.is_free);
    pthread_mutex_unlock(&places.mutex);
}

/* Returns whether it has ended by itself. */
static bool run_within(struct running_tool *tool, unsigned seconds)
{
    unsigned in_place = seconds < PLACE_SECONDS ? seconds : PLACE_SECONDS;
    bool has_ended = read_until_end(tool, (int64_t)in_place * 1000);

    leave_place();
    if (!has_ended)
        has_ended = read_until_end(tool, (int64_t)(seconds - in_place) * 1000);
    if (!has_ended)
        kill(tool->pid, SIGKILL);
    return has_ended;
}

int tool_run_limited(char *const *arguments, const int *inherited, const struct tool_limits *limits)
{
    char text[1];
    struct running_tool tool = {
        .from = -1, .ended = -1, .pid = -1, .text = text, .size = sizeof(text)};
    bool has_ended = true;
    int status;

    take_place();
    if (begin_silently(&tool, arguments, inherited, limits))
        has_ended = run_within(&tool, limits->seconds);
    else
        leave_place();
    status = end_silently(&tool);
    return has_ended ? status : TOOL_TOO_LONG;
}
