#include "front/cache/instrumenting.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "front/base/asked.h"
#include "front/files/image_kind.h"
#include "support/memory.h"

#define MB          (1ull << 20)
#define BASE_MEMORY (512 * MB)
#define BASE_OUTPUT (64 * MB)
#define UNTOLD_SIZE (64 * MB) /* is taken for real, whatever a file takes on the disk */

#define STATUS_SIGNALED 128

/* --- why there is none --- */

static char *why_too_large(const struct tool_limits *limits)
{
    return memory_print("instrument wrote more than %" PRIu64 " MB", limits->output >> 20);
}

/* What a limit, or a fault of instrument, ended. The same file would end it again. Null: something
   else did, which says nothing of the file. */
static char *why_ended(int status, const struct tool_limits *limits)
{
    switch (status - STATUS_SIGNALED) {
    case TOOL_TOO_LONG - STATUS_SIGNALED:
        return memory_print("instrument took longer than %u s", limits->seconds);
    case SIGXCPU:
        return memory_print("instrument took more than %u s of processor time",
                            limits->processor_seconds);
    case SIGXFSZ:
        return why_too_large(limits);
    case SIGSEGV:
    case SIGBUS:
    case SIGABRT:
    case SIGILL:
    case SIGFPE:
    case SIGSYS:
        return memory_print("instrument crashed (signal %d)", status - STATUS_SIGNALED);
    }
    return NULL;
}

static enum instrumenting judge_end(int status, const struct tool_limits *limits,
                                    char reason[INSTRUMENTING_REASON_SIZE])
{
    char *why = why_ended(status, limits);
    enum instrumenting judged = why ? INSTRUMENTING_LEFT : INSTRUMENTING_FAILED;

    if (!why)
        why = memory_print("instrument was killed (signal %d)", status - STATUS_SIGNALED);
    snprintf(reason, INSTRUMENTING_REASON_SIZE, "%s", why);
    free(why);
    return judged;
}

/* A limit would end it again; what it says of the file that it writes, as of a full disk, is no
   property of the original and is not to be kept. */
static enum instrumenting judge_failure(const struct instrument_result *result,
                                        const struct tool_limits *limits,
                                        char reason[INSTRUMENTING_REASON_SIZE])
{
    switch (result->reason) {
    case REASON_MEMORY:
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "%.400s; it may use %" PRIu64 " MB",
                 result->text, limits->memory >> 20);
        return INSTRUMENTING_LEFT;
    case REASON_SIZE:
        return judge_end(STATUS_SIGNALED + SIGXFSZ, limits, reason);
    case REASON_OUTPUT:
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "the cache cannot be written: %.400s",
                 result->text);
        return INSTRUMENTING_FAILED;
    default:
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "%s", result->text);
        return INSTRUMENTING_FAILED;
    }
}

/* Judges by how instrument ended, and what it tells. */
static enum instrumenting judge(int status, const struct instrument_result *result,
                                const struct tool_limits *limits,
                                char reason[INSTRUMENTING_REASON_SIZE])
{
    if (status == TOOL_TOO_LONG || status > STATUS_SIGNALED)
        return judge_end(status, limits, reason);
    switch (result->outcome) {
    case INSTRUMENT_DONE:
        return INSTRUMENTING_DONE;
    case INSTRUMENT_NOTHING:
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "%s",
                 result->reason == REASON_FILTER ? INSTRUMENTING_NOTHING : result->text);
        return INSTRUMENTING_LEFT;
    case INSTRUMENT_REFUSED:
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "%s", result->text);
        return INSTRUMENTING_LEFT;
    default:
        return judge_failure(result, limits, reason);
    }
}

/* --- running it --- */

/* By what it takes on the disk: a hole costs nothing, and could be as large as one likes. Some file
   systems do not tell. libLLVM 14, of 110 MB, takes 0.9 GB. */
static struct tool_limits limits_for(int original)
{
    struct stat status = {0};
    uint64_t size, taken;

    fstat(original, &status);
    size = (uint64_t)status.st_size < UNTOLD_SIZE ? (uint64_t)status.st_size : UNTOLD_SIZE;
    taken = (uint64_t)status.st_blocks * 512;
    size = taken > size ? taken : size;
    return (struct tool_limits){.memory = BASE_MEMORY + 16 * size,
                                .output = BASE_OUTPUT + 4 * size,
                                .processor_seconds = 300,
                                .seconds = 600};
}

static const char *agent_for(int original)
{
    struct image_look look;

    image_look_at(&look, original);
    return tools_find()->agents[look.processor];
}

static void add_command(struct words *words, const struct words *options, const char *agent,
                        const char *part, const char *path)
{
    words_print(words, "--agent=%s", agent);
    words_add_all(words, options->list);
    words_add(words, "--confined");
    words_add(words, "--overwrite");
    words_add(words, "-o");
    words_add(words, part);
    words_add(words, "--");
    words_add(words, path);
}

enum instrumenting instrumenting_run(const struct words *options, int original, int folder,
                                     const char *name, char reason[INSTRUMENTING_REASON_SIZE])
{
    const struct tool_limits limits = limits_for(original);
    char *path = memory_print("/proc/self/fd/%d", original);
    char *part = memory_print("/proc/self/fd/%d/%s", folder, name);
    const int inherited[] = {original, folder, -1};
    struct instrument_result result;
    struct words words = {0};
    int status;

    add_command(&words, options, agent_for(original), part, path);
    status = asked_instrument(&words, inherited, &limits, &result);
    words_free(&words);
    free(path);
    free(part);
    return judge(status, &result, &limits, reason);
}
