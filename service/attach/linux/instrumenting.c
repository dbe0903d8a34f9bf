#include "service/attach/linux/instrumenting.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/attach/linux/instrument_tool.h"

#define MOST_WORDS   256
#define MOST_AT_ONCE 64

/* What is shared by those who take the next one. */
struct queue {
    struct instrumenting **waiting; /* in the order in which they begin */
    size_t count, next;
    const char *tool, *agent;
    char *const *filters;
};

static void instrument(const struct queue *queue, struct instrumenting *wanted)
{
    char away[40], agent[PATH_MAX + 16], name[PATH_MAX + 16], text[INSTRUMENT_TEXT_SIZE] = "";
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
    if (wanted->name) {
        snprintf(name, sizeof(name), "--original=%s", wanted->name);
        words[count++] = name;
    }
    for (char *const *filter = wanted->is_unwinder ? NULL : queue->filters;
         filter && *filter && count < MOST_WORDS - 1; filter++)
        words[count++] = *filter;
    wanted->is_done = instrument_tool_run(words, -1, text);
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

    if (!instrument_tool_find(tool)) {
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
