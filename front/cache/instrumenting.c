#include "front/cache/instrumenting.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "support/memory.h"

#define MB          (1ull << 20)
#define BASE_MEMORY (512 * MB)
#define BASE_OUTPUT (64 * MB)
#define UNTOLD_SIZE (64 * MB) /* is taken for real, whatever a file takes on the disk */

#define STATUS_SIGNALED 128

/* --- why there is none --- */

/* What instrument said, without its own name and the file's: the last line. */
static void take_reason(char *said, const char *path, const struct tool_limits *limits,
                        char reason[INSTRUMENTING_REASON_SIZE])
{
    char *line, *end = said + strlen(said);

    while (end > said && end[-1] == '\n')
        *--end = 0;
    line = strrchr(said, '\n');
    line = line ? line + 1 : said;
    if (!strncmp(line, "instrument: ", 12))
        line += 12;
    if (!strncmp(line, path, strlen(path)) && !strncmp(line + strlen(path), ": ", 2))
        line += strlen(path) + 2;
    if (strstr(line, "memory"))
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "%s; it may use %" PRIu64 " MB", line,
                 limits->memory >> 20);
    else
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "%s", *line ? line : "instrument failed");
}

/* "OUT: N functions found, N hooked, …" */
static bool hooks_nothing(const char *said)
{
    return strstr(said, " found, 0 hooked, ") != NULL;
}

/* What instrument says of the file that it writes, as of a full disk, is no property of the
   original and is not to be kept. */
static bool take_writing(char reason[INSTRUMENTING_REASON_SIZE], const char *part)
{
    size_t length = strlen(part);
    char *said;

    if (strncmp(reason, part, length) != 0)
        return false;
    said = memory_copy_string(reason + length + strspn(reason + length, ": "));
    snprintf(reason, INSTRUMENTING_REASON_SIZE, "the cache cannot be written: %s", said);
    free(said);
    return true;
}

static char *why_too_large(const struct tool_limits *limits)
{
    return memory_print("instrument wrote more than %" PRIu64 " MB", limits->output >> 20);
}

/* What a limit, or a fault of instrument, ended. The same file would end it again. Null: something
   else did, which says nothing of the file. */
static char *why_ended(int status, const char *said, const struct tool_limits *limits)
{
    if (status == STATUS_FAILED && strstr(said, strerror(EFBIG)))
        return why_too_large(limits);
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

/* Judges by what instrument said and how it ended. */
static enum instrumenting judge(int status, char *said, const char *path, const char *part,
                                const struct tool_limits *limits,
                                char reason[INSTRUMENTING_REASON_SIZE])
{
    char *why = why_ended(status, said, limits);

    if (status == 0 && !hooks_nothing(said))
        return INSTRUMENTING_DONE;
    if (status == 0)
        snprintf(reason, INSTRUMENTING_REASON_SIZE, INSTRUMENTING_NOTHING);
    else if (why)
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "%s", why);
    else if (status > STATUS_SIGNALED)
        snprintf(reason, INSTRUMENTING_REASON_SIZE, "instrument was killed (signal %d)",
                 status - STATUS_SIGNALED);
    else
        take_reason(said, path, limits, reason);
    if (status != 0 && !why && (status != STATUS_FAILED || take_writing(reason, part)))
        return INSTRUMENTING_FAILED;
    free(why);
    return INSTRUMENTING_LEFT;
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

static void add_command(struct words *words, const struct words *options, const char *part,
                        const char *path)
{
    const struct tools *tools = tools_find();

    words_add(words, tools->instrument);
    words_print(words, "--agent=%s", tools->agent);
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
    enum instrumenting result;
    struct words words = {0};
    char said[8192];
    int status;

    add_command(&words, options, part, path);
    status = tool_run_limited(words.list, inherited, &limits, said, sizeof(said));
    words_free(&words);
    result = judge(status, said, path, part, &limits, reason);
    free(path);
    free(part);
    return result;
}
