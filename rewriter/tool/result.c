#include "rewriter/tool/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    int descriptor; /* -1: none, or written */
    pid_t owner;    /* children end by exit, too */
} destination = {-1, 0};

static void write_lost_memory(void)
{
    static const struct instrument_result lost = {
        .outcome = INSTRUMENT_FAILED, .reason = REASON_MEMORY, .text = "out of memory"};
    struct failure ignored;

    if (getpid() == destination.owner)
        result_write(&lost, &ignored);
}

void result_begin(int descriptor)
{
    destination.descriptor = descriptor;
    destination.owner = getpid();
    atexit(write_lost_memory);
}

void result_take_counts(struct instrument_result *result, const struct rewrite_result *counts)
{
    result->found = counts->found;
    result->hooked = counts->hooked;
    result->copied = counts->copied;
    result->unsafe = counts->unsafe;
    result->reason = counts->hooked ? REASON_NONE : REASON_FILTER;
    result->outcome = instrument_reason_outcome(result->reason);
    if (!counts->hooked)
        snprintf(result->text, sizeof(result->text), "the filter leaves no function to hook");
}

void result_take_failure(struct instrument_result *result, enum instrument_reason reason,
                         const struct failure *why, const char *path)
{
    const char *text = why->text;
    size_t length = strlen(path);

    if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    result->reason = reason;
    result->outcome = instrument_reason_outcome(reason);
    snprintf(result->text, sizeof(result->text), "%.*s", (int)sizeof(result->text) - 1, text);
}

void result_take_unmatched(struct instrument_result *result, const struct filter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!filter->rules[i].has_matched)
            instrument_result_add_unmatched(result, filter_rule_option(filter, i),
                                            filter->rules[i].pattern);
}

bool result_write(const struct instrument_result *result, struct failure *failure)
{
    static char lines[INSTRUMENT_RESULT_SIZE];
    int descriptor = destination.descriptor;
    size_t size, written = 0;

    if (descriptor < 0)
        return true;
    destination.descriptor = -1;
    size = instrument_result_print(result, lines);
    while (written < size) {
        ssize_t count = write(descriptor, lines + written, size - written);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return fail(failure, "--result-fd", "cannot write the result: %s", strerror(errno));
        written += (size_t)count;
    }
    return true;
}
