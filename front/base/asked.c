#include "front/base/asked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "front/base/say.h"
#include "support/memory.h"

#define MOST_INHERITED 8

static void failed(struct instrument_result *result, const char *what, const char *why)
{
    *result = (struct instrument_result){.outcome = INSTRUMENT_FAILED, .reason = REASON_OTHER};
    snprintf(result->text, sizeof(result->text), "%.60s: %.400s", what, why);
}

/* Reads what instrument left in the memory file, and no more than a result has: a hostile file may
   have made it write anything. */
static void read_result(struct instrument_result *result, int from, int status)
{
    char *lines = memory_zeroed(1, INSTRUMENT_RESULT_SIZE + 1);
    ssize_t size = pread(from, lines, INSTRUMENT_RESULT_SIZE, 0);
    struct failure failure;
    char what[64];

    snprintf(what, sizeof(what), "instrument ended with status %d", status);
    if (size < 0)
        failed(result, what, strerror(errno));
    else if (!instrument_result_read(result, lines, (size_t)size, &failure))
        failed(result, what, failure.text);
    else if (status ? result->outcome < INSTRUMENT_NOTHING : result->outcome > INSTRUMENT_NOTHING)
        failed(result, what, "its result contradicts that");
    free(lines);
}

int asked_instrument(const struct words *arguments, const int *inherited,
                     const struct tool_limits *limits, struct instrument_result *result)
{
    int answer = memfd_create("result", MFD_CLOEXEC), all[MOST_INHERITED + 2] = {answer};
    struct words command = {0};
    int status, count = 1;

    if (answer < 0) {
        failed(result, "memfd_create", strerror(errno));
        return STATUS_FAILED;
    }
    while (inherited && *inherited >= 0 && count <= MOST_INHERITED)
        all[count++] = *inherited++;
    all[count] = -1;
    words_add(&command, tools_find()->instrument);
    words_print(&command, "--result-fd=%d", answer);
    words_add_all(&command, arguments->list);
    status = tool_run_limited(command.list, all, limits);
    read_result(result, answer, status);
    words_free(&command);
    close(answer);
    return status;
}
