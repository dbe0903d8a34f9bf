#include "front/tool/record_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/recording/recording.h"
#include "front/tool/options.h"
#include "support/memory.h"

/* The place of the value among those that it may be. */
static int read_value(const struct command_option *option, const char *value)
{
    int place = command_line_find_value(option, value);
    char list[128];

    if (place < 0)
        say_and_exit(STATUS_USAGE, "--%s=%s: expected %s", option->name, value,
                     command_line_list_values(option, list, sizeof(list)));
    return place;
}

static bool read_yes(const struct command_option *option, const char *value)
{
    return read_value(option, value) == 0;
}

/* A filter's path must lead there from anywhere. */
static void hand_on(struct words *words, const char *name, const char *value)
{
    bool is_path = value && !strcmp(name, "filter");
    char *path = is_path ? realpath(value, NULL) : NULL;

    if (value && !*value)
        say_and_exit(STATUS_USAGE, "record: --%s=: expected a value behind it, found none", name);
    if (is_path && (!path || access(path, R_OK) < 0))
        say_and_exit(STATUS_USAGE, "--filter=%s: cannot be read: %s", value, strerror(errno));
    if (value)
        words_print(words, "--%s=%s", name, path ? path : value);
    else
        words_print(words, "--%s", name);
    free(path);
}

/* One that counts as it was given last. */
static void hand_on_last(struct words *words, const char *name, const char *value)
{
    char *option = memory_print("--%s", name);

    words_drop(words, option);
    hand_on(words, name, value);
    free(option);
}

static pid_t read_pid(const char *value)
{
    char *end;
    long pid = strtol(value, &end, 10);

    if (!*value || *end || pid < 1 || pid > INT_MAX)
        say_and_exit(STATUS_USAGE, "record: -p %s: expected the number of a process", value);
    return (pid_t)pid;
}

static void take_option(struct record_options *options, const struct command_option *option,
                        const char *value)
{
    const char *name = option->name;

    switch (option->code) {
    case OPTION_INSTRUMENT:
        if (option->values)
            read_value(option, value);
        hand_on(&options->instrument, name, value);
        break;
    case OPTION_HOW:
        read_value(option, value);
        options->is_of_stacks = !strcmp(value, "samples");
        words_drop(&options->instrument, "--how");
        if (!options->is_of_stacks)
            hand_on(&options->instrument, name, value);
        break;
    case 'p':
        options->pid = read_pid(value);
        options->is_of_stacks = true;
        break;
    case OPTION_TWICE:
        options->is_twice = true;
        break;
    case OPTION_SERVICE:
        hand_on_last(&options->service, name, value);
        break;
    case OPTION_LEAVE:
        words_add(&options->leave, value);
        break;
    case 'F':
        hand_on_last(&options->service, "samples", value);
        break;
    case 'g': /* who calls whom is always recorded */
        break;
    case 'o':
        options->output = value;
        break;
    case OPTION_CHILDREN:
        options->children = read_yes(option, value);
        break;
    case OPTION_IN_PLACE:
        options->in_place = read_yes(option, value);
        break;
    case 'v':
        options->is_verbose = true;
        break;
    case 'q':
        options->is_quiet = true;
        break;
    }
}

/* What perf record is asked for, and Umbra cannot do. */
#define OF_OTHERS "ae"

static _Noreturn void refuse_option(const char *word)
{
    static const struct {
        const char *option, *what;
    } known[] = {
        {"-a", "Umbra records a program and what that runs, not the whole system"},
        {"-e", "Umbra records calls and their times, no events of the processor"},
        {"-t", "Umbra samples whole processes: -p PID, or a program from its beginning"},
        {"--tid", "Umbra samples whole processes: -p PID, or a program from its beginning"},
        {"-c", "Umbra takes samples by time, -F of them a second"},
        {"-F", "expected how many samples a second behind it, found nothing"},
        {"-f", "what a program starts is recorded, too: leave it out"},
        {"--call-graph", "who calls whom is always recorded: leave it out"},
        {"--event", "Umbra records calls and their times, no events of the processor"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!strncmp(word, known[i].option, strlen(known[i].option)))
            say_and_exit(STATUS_USAGE, "record: %s: %s: umbra record -- PROGRAM [ARGUMENT…]",
                         known[i].option, known[i].what);
    verb_refuse_option(VERB_RECORD, word);
}

static bool has_word(const struct words *words, const char *begin)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strncmp(words->list[i], begin, strlen(begin)))
            return true;
    return false;
}

/* Where all calls are timed anyway, or some of them, there are no times of each. */
static void refuse_times(const struct record_options *options)
{
    static const char *const clocked[] = {"--timing=exact", "--timing=adaptive", "--mode=calltrace",
                                          "--samples=0", "--samples=no"};

    if (!has_word(&options->instrument, "--time="))
        return;
    for (size_t i = 0; i < sizeof(clocked) / sizeof(*clocked); i++)
        if (has_word(&options->service, clocked[i]))
            say_and_exit(STATUS_USAGE,
                         "record: --time is for recordings with --timing=samples or none: leave %s "
                         "out",
                         clocked[i]);
}

/* As instrument has it, which would refuse each file. */
static void check_blocks(const struct words *words)
{
    bool marks = has_word(words, "--count=blocks"), once = has_word(words, "--once");

    if (once && !marks)
        say_and_exit(STATUS_USAGE, "record: --once is for --count=blocks");
    if (!marks && !has_word(words, "--count=instructions") && has_word(words, "--no-calls"))
        say_and_exit(STATUS_USAGE,
                     "record: --no-calls is for --count: there would be nothing to record");
    if (marks && has_word(words, "--how=prologue"))
        say_and_exit(STATUS_USAGE, "record: --count=blocks: blocks are counted in copies; leave "
                                   "--how=prologue out");
}

/* Copies count them where they count calls, which they leave to hooks if each call is timed. */
static void check_instructions(const struct record_options *options)
{
    const char *excess = has_word(&options->instrument, "--how=prologue")  ? "--how=prologue"
                         : has_word(&options->service, "--timing=exact")   ? "--timing=exact"
                         : has_word(&options->service, "--mode=calltrace") ? "--mode=calltrace"
                                                                           : NULL;

    if (excess && has_word(&options->instrument, "--count=instructions"))
        say_and_exit(STATUS_USAGE,
                     "record: --count=instructions: instructions are counted with the calls that "
                     "copies count; leave %s out",
                     excess);
}

/* Nothing is instrumented, so that there is nothing to choose of it. */
static void check_stacks(const struct record_options *options)
{
    const char *excess = options->instrument.count ? options->instrument.list[0]
                         : options->leave.count    ? "--leave"
                         : !options->children      ? "--children=no"
                         : !options->in_place      ? "--in-place=no"
                                                   : NULL;

    if (!options->is_of_stacks)
        return;
    for (size_t i = 0; i < options->service.count && !excess; i++)
        if (strncmp(options->service.list[i], "--samples=", strlen("--samples=")) != 0)
            excess = options->service.list[i];
    if (excess)
        say_and_exit(STATUS_USAGE, "record: %s: does nothing with --how=samples: leave it out",
                     excess);
}

/* The first run counts, and reads no clock; samples are of the second. */
static void check_twice(struct record_options *options)
{
    const char *excess = options->is_of_stacks                             ? "--how=samples"
                         : has_word(&options->instrument, "--time=")       ? "--time"
                         : has_word(&options->service, "--timing=")        ? "--timing"
                         : has_word(&options->service, "--mode=calltrace") ? "--mode=calltrace"
                         : has_word(&options->service, "--slices=")        ? "--slices"
                                                                           : NULL;

    if (!options->is_twice)
        return;
    if (excess)
        say_and_exit(STATUS_USAGE,
                     "record: %s: does nothing with --twice, whose times are samples of the second "
                     "run: leave it out",
                     excess);
    for (size_t i = 0; i < options->service.count; i++)
        if (!strncmp(options->service.list[i], "--samples=", strlen("--samples=")))
            words_add(&options->samples, options->service.list[i]);
    words_drop(&options->service, "--samples");
    words_add(&options->service, "--timing=none");
}

void record_options_read(struct record_options *options, int count, char **arguments)
{
    struct command_line line;

    *options =
        (struct record_options){.output = RECORDING_DEFAULT, .children = true, .in_place = true};
    verb_begin(&line, VERB_RECORD, count, arguments);
    while (command_line_next(&line)) {
        if (line.fault)
            refuse_option(line.word);
        if (strchr(OF_OTHERS, line.option->code))
            refuse_option((char[]){'-', line.option->letter, 0});
        take_option(options, line.option, line.value);
    }
    refuse_times(options);
    check_instructions(options);
    check_blocks(&options->instrument);
    check_stacks(options);
    check_twice(options);
    options->program = line.rest;
    if (options->pid && *options->program)
        say_and_exit(STATUS_USAGE,
                     "record: -p %d: that process is sampled; expected no program beside it, found "
                     "%s",
                     (int)options->pid, *options->program);
    if (!options->pid && !*options->program)
        say_and_exit(STATUS_USAGE,
                     "record: expected a program, found none: umbra record [OPTION…] -- PROGRAM "
                     "[ARGUMENT…]");
}
