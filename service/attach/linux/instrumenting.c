#include "service/attach/linux/instrumenting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS   256
#define TEXT_SIZE    1024
#define MOST_AT_ONCE 64

extern char **environ;

/* Beside this program, or in the same build folder. */
static bool find_tool(char path[PATH_MAX])
{
    static const char *const places[] = {"instrument", "../rewriter/instrument"};
    char own[PATH_MAX - 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

    if (length <= 0)
        return false;
    own[length] = 0;
    *strrchr(own, '/') = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        snprintf(path, PATH_MAX, "%s/%s", own, places[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* What it says on standard error, cut to size; to its end. */
static void read_text(int file, char text[TEXT_SIZE])
{
    size_t size = 0;
    char rest[TEXT_SIZE];
    ssize_t got;

    while ((got = read(file, size < TEXT_SIZE - 1 ? text + size : rest,
                       size < TEXT_SIZE - 1 ? TEXT_SIZE - 1 - size : sizeof(rest))) > 0 ||
           (got < 0 && errno == EINTR))
        if (got > 0 && size < TEXT_SIZE - 1)
            size += (size_t)got;
    text[size] = 0;
    text[strcspn(text, "\n")] = 0;
}

static pid_t start(char **words, int said)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
    if (posix_spawn(&pid, words[0], &actions, NULL, words, environ))
        pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static bool run(char **words, char text[TEXT_SIZE])
{
    int ends[2], status = -1;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid = start(words, ends[1]);
    close(ends[1]);
    read_text(ends[0], text);
    close(ends[0]);
    while (pid && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What is shared by those who take the next one. */
struct queue {
    struct instrumenting **waiting; /* in the order in which they begin */
    size_t count, next;
    const char *tool, *agent;
    char *const *filters;
};

static void instrument(const struct queue *queue, struct instrumenting *wanted)
{
    char away[40], agent[PATH_MAX + 16], text[TEXT_SIZE] = "";
    char *words[MOST_WORDS] = {(char *)queue->tool,
                               (char *)wanted->original,
                               "-o",
                               (char *)wanted->output,
                               away,
                               agent,
                               "--no-verify",
                               "-q"};
    size_t count = 0;
    const char *why;

    snprintf(away, sizeof(away), "--away=%#" PRIx64, wanted->away);
    snprintf(agent, sizeof(agent), "--agent=%s", queue->agent);
    while (words[count])
        count++;
    if (wanted->is_unwinder)
        words[count++] = "--unwinder";
    for (char *const *filter = wanted->is_unwinder ? NULL : queue->filters;
         filter && *filter && count < MOST_WORDS - 1; filter++)
        words[count++] = *filter;
    wanted->is_done = run(words, text);
    if (wanted->is_done)
        return;
    why = strstr(text, ": "); /* behind "instrument: " */
    fail_because(&wanted->failure, "%s", why ? why + 2 : *text ? text : "instrument failed");
}

static void *take_all(void *with)
{
    struct queue *queue = with;
    size_t i;

    while ((i = __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED)) < queue->count)
        instrument(queue, queue->waiting[i]);
    return NULL;
}

/* This thread is one of those who take: what cannot be made is not missed. */
static void take_together(struct queue *queue)
{
    pthread_t others[MOST_AT_ONCE - 1];
    size_t count = 0;

    for (long i = 1;
         i < sysconf(_SC_NPROCESSORS_ONLN) && i < MOST_AT_ONCE && (size_t)i < queue->count; i++)
        if (!pthread_create(&others[count], NULL, take_all, queue))
            count++;
    take_all(queue);
    while (count)
        pthread_join(others[--count], NULL);
}

static int compare(const void *a, const void *b)
{
    const struct instrumenting *one = *(struct instrumenting *const *)a;
    const struct instrumenting *other = *(struct instrumenting *const *)b;

    return (one->work < other->work) - (one->work > other->work);
}

static void fail_all(struct instrumenting *all, size_t count, const char *why)
{
    for (size_t i = 0; i < count; i++)
        fail_because(&all[i].failure, "%s", why);
}

void instrumenting_run(struct instrumenting *all, size_t count, const char *agent,
                       char *const *filters)
{
    char tool[PATH_MAX];
    struct queue queue = {.count = count, .tool = tool, .agent = agent, .filters = filters};

    if (!find_tool(tool)) {
        fail_all(all, count,
                 "expected instrument beside this program, found none; install Umbra as a whole");
        return;
    }
    queue.waiting = calloc(count + 1, sizeof(*queue.waiting));
    if (!queue.waiting) {
        fail_all(all, count, "out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++)
        queue.waiting[i] = &all[i];
    qsort(queue.waiting, count, sizeof(*queue.waiting), compare);
    take_together(&queue);
    free(queue.waiting);
}
