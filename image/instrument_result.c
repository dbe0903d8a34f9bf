#include "image/instrument_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/utf8.h"

#define VERSION "1"

static const char *const outcome_words[] = {
    [INSTRUMENT_DONE] = "instrumented",       [INSTRUMENT_LISTED] = "listed",
    [INSTRUMENT_NOTHING] = "nothing-to-hook", [INSTRUMENT_REFUSED] = "refused",
    [INSTRUMENT_FAILED] = "failed",
};

static const struct {
    const char *word;
    enum instrument_outcome outcome;
} reasons[] = {
    [REASON_NONE] = {"", INSTRUMENT_DONE},
    [REASON_FILTER] = {"filter", INSTRUMENT_NOTHING},
    [REASON_NO_FUNCTIONS] = {"no-functions", INSTRUMENT_NOTHING},
    [REASON_NO_IMAGE] = {"no-image", INSTRUMENT_REFUSED},
    [REASON_MACHINE] = {"machine", INSTRUMENT_REFUSED},
    [REASON_GO] = {"go", INSTRUMENT_REFUSED},
    [REASON_INSTRUMENTED] = {"instrumented", INSTRUMENT_REFUSED},
    [REASON_AGENT] = {"agent", INSTRUMENT_REFUSED},
    [REASON_MALFORMED] = {"malformed", INSTRUMENT_REFUSED},
    [REASON_UNSUPPORTED] = {"unsupported", INSTRUMENT_REFUSED},
    [REASON_INPUT] = {"input", INSTRUMENT_FAILED},
    [REASON_NO_AGENT] = {"no-agent", INSTRUMENT_FAILED},
    [REASON_OUTPUT] = {"output", INSTRUMENT_FAILED},
    [REASON_SIZE] = {"size", INSTRUMENT_FAILED},
    [REASON_MEMORY] = {"memory", INSTRUMENT_FAILED},
    [REASON_VERIFICATION] = {"verification", INSTRUMENT_FAILED},
    [REASON_OTHER] = {"other", INSTRUMENT_FAILED},
};

#define OUTCOMES (sizeof(outcome_words) / sizeof(*outcome_words))
#define REASONS  (sizeof(reasons) / sizeof(*reasons))

enum instrument_outcome instrument_reason_outcome(enum instrument_reason reason)
{
    return reasons[reason].outcome;
}

/* A list looks for functions, too, but prints their numbers itself. */
static bool has_counts(enum instrument_outcome outcome)
{
    return outcome == INSTRUMENT_DONE || outcome == INSTRUMENT_NOTHING;
}

/* --- writing --- */

void instrument_result_add_unmatched(struct instrument_result *result, const char *option,
                                     const char *pattern)
{
    size_t used = strlen(result->unmatched), room = sizeof(result->unmatched) - used;
    char *line = result->unmatched + used;
    int length = snprintf(line, room, "--%s=%s", option, pattern);

    if (length < 0 || (size_t)length + 1 >= room) {
        *line = 0;
        return;
    }
    utf8_sanitise(line);
    memcpy(line + length, "\n", 2);
}

/* Lines as they stand in the file: with the key in front. */
static size_t print_unmatched(const char *unmatched, char *lines, size_t room)
{
    size_t used = 0;

    for (size_t length; *unmatched; unmatched += length + 1) {
        int added;

        length = strcspn(unmatched, "\n");
        added = snprintf(lines + used, room - used, "unmatched=%.*s\n", (int)length, unmatched);
        if ((size_t)added >= room - used)
            break;
        used += (size_t)added;
    }
    return used;
}

#define END "end\n"

size_t instrument_result_print(const struct instrument_result *result,
                               char lines[INSTRUMENT_RESULT_SIZE])
{
    size_t size = INSTRUMENT_RESULT_SIZE - sizeof(END), used;
    char text[INSTRUMENT_TEXT_SIZE];

    snprintf(text, sizeof(text), "%s", result->text);
    utf8_sanitise(text);
    used =
        (size_t)snprintf(lines, size, "umbra-result=" VERSION "\noutcome=%s\nreason=%s\ntext=%s\n",
                         outcome_words[result->outcome], reasons[result->reason].word, text);
    if (has_counts(result->outcome))
        used += (size_t)snprintf(lines + used, size - used,
                                 "found=%" PRIu64 "\nhooked=%" PRIu64 "\ncopied=%" PRIu64
                                 "\nunsafe=%" PRIu64 "\n",
                                 result->found, result->hooked, result->copied, result->unsafe);
    used += print_unmatched(result->unmatched, lines + used, size - used);
    memcpy(lines + used, END, sizeof(END));
    return used + strlen(END);
}

/* --- reading --- */

/* The value of the next line, if that has this key; else null, and `rest` stays. */
static char *take(char **rest, const char *key)
{
    size_t length = strlen(key);
    char *value = *rest + length + 1, *end;

    if (strncmp(*rest, key, length) != 0 || (*rest)[length] != '=' || !(end = strchr(value, '\n')))
        return NULL;
    *end = 0;
    *rest = end + 1;
    return value;
}

static bool expected(struct failure *failure, const char *key)
{
    return fail_because(failure, "its result has no line %s= where one is expected", key);
}

static bool take_outcome(struct instrument_result *result, char **rest, struct failure *failure)
{
    const char *word = take(rest, "outcome");
    size_t i = 0;

    if (!word)
        return expected(failure, "outcome");
    while (i < OUTCOMES && strcmp(word, outcome_words[i]) != 0)
        i++;
    result->outcome = (enum instrument_outcome)i;
    return i < OUTCOMES || fail_because(failure, "its result has an unknown outcome");
}

static bool take_reason(struct instrument_result *result, char **rest, struct failure *failure)
{
    const char *word = take(rest, "reason");
    bool has_none = result->outcome == INSTRUMENT_DONE || result->outcome == INSTRUMENT_LISTED;
    size_t i = 0;

    if (!word)
        return expected(failure, "reason");
    while (i < REASONS && strcmp(word, reasons[i].word) != 0)
        i++;
    if (i == REASONS)
        return fail_because(failure, "its result has an unknown reason");
    result->reason = (enum instrument_reason)i;
    return (has_none ? i == REASON_NONE : i && reasons[i].outcome == result->outcome) ||
           fail_because(failure, "its result contradicts itself");
}

static bool take_text(struct instrument_result *result, char **rest, struct failure *failure)
{
    const char *text = take(rest, "text");

    if (!text)
        return expected(failure, "text");
    if (strlen(text) >= sizeof(result->text))
        return fail_because(failure, "its result has a text that is too long");
    memcpy(result->text, text, strlen(text) + 1);
    return true;
}

static bool take_count(uint64_t *count, const char *key, char **rest, struct failure *failure)
{
    const char *word = take(rest, key);
    char *end;

    if (!word)
        return expected(failure, key);
    errno = 0;
    *count = strtoull(word, &end, 10);
    return (*word >= '0' && *word <= '9' && !*end && errno == 0) ||
           fail_because(failure, "its result has no number behind %s=", key);
}

static bool take_counts(struct instrument_result *result, char **rest, struct failure *failure)
{
    if (!take_count(&result->found, "found", rest, failure) ||
        !take_count(&result->hooked, "hooked", rest, failure) ||
        !take_count(&result->copied, "copied", rest, failure) ||
        !take_count(&result->unsafe, "unsafe", rest, failure))
        return false;
    return (result->hooked <= result->found && result->copied <= result->hooked &&
            result->unsafe <= result->found - result->hooked &&
            (result->outcome == INSTRUMENT_DONE) == (result->hooked > 0)) ||
           fail_because(failure, "its result contradicts itself");
}

static bool take_unmatched(struct instrument_result *result, char **rest, struct failure *failure)
{
    size_t used = 0;
    char *option;

    while ((option = take(rest, "unmatched"))) {
        int added =
            snprintf(result->unmatched + used, sizeof(result->unmatched) - used, "%s\n", option);

        used += (size_t)added;
        if (used >= sizeof(result->unmatched))
            return fail_because(failure, "its result names too many patterns");
    }
    return true;
}

/* It was written as one line each, all of it plain. */
static bool is_plain(char *lines)
{
    for (char *line = lines, *end; *line; line = end + 1) {
        bool is_fine;

        end = strchr(line, '\n');
        if (!end)
            return false;
        *end = 0;
        is_fine = utf8_is_plain(line);
        *end = '\n';
        if (!is_fine)
            return false;
    }
    return true;
}

bool instrument_result_read(struct instrument_result *result, char *lines, size_t size,
                            struct failure *failure)
{
    char *rest = lines;
    const char *version;

    *result = (struct instrument_result){0};
    if (size >= INSTRUMENT_RESULT_SIZE)
        return fail_because(failure, "its result has more than %d bytes", INSTRUMENT_RESULT_SIZE);
    lines[size] = 0;
    if (size == 0)
        return fail_because(failure, "it gave no result");
    version = take(&rest, "umbra-result");
    if (!version)
        return expected(failure, "umbra-result");
    if (strcmp(version, VERSION) != 0)
        return fail_because(failure, "its result is of another version; install Umbra as a whole");
    if (strlen(rest) != size - (size_t)(rest - lines) || !is_plain(rest))
        return fail_because(failure, "its result is not plain text, or was cut");
    if (!take_outcome(result, &rest, failure) || !take_reason(result, &rest, failure) ||
        !take_text(result, &rest, failure) ||
        (has_counts(result->outcome) && !take_counts(result, &rest, failure)) ||
        !take_unmatched(result, &rest, failure))
        return false;
    return strcmp(rest, END) == 0 ||
           fail_because(failure, "its result was cut, or goes on behind its end");
}
