#include "front/tool/bisect.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/tool/hooked_functions.h"
#include "front/tool/options.h"
#include "front/tool/trial.h"
#include "support/memory.h"
#include "support/narrowing.h"

#define MOST_SETS     8 /* that fail without each other */
#define MOST_TOGETHER 8 /* files, or functions, of a set */
#define MOST_OF_FILE  2 /* sets of functions of one file: then it is left as a whole */

struct bisect {
    struct trials trials;
    struct trial native;
    struct trial all;                  /* the last run with all files but what was found */
    struct words found;                /* options of umbra record that leave out what was found */
    struct words blamed;               /* the file of each of them */
    struct words files;                /* instrumented in its recording */
    const char *file;                  /* whose functions are looked at */
    struct hooked_functions functions; /* of it */
    char *filter;                      /* its path */
    bool is_quiet;
    bool is_shown; /* each run */
};

/* --- the command line --- */

/* An option of record, which is handed on. */
static void hand_on(struct trials *trials, const char *name, const char *value)
{
    if (value)
        words_print(&trials->options, "--%s=%s", name, value);
    else
        words_print(&trials->options, "--%s", name);
}

static void read_options(struct bisect *bisect, int count, char **arguments)
{
    struct trials *trials = &bisect->trials;
    struct command_line line;

    verb_begin(&line, VERB_BISECT, count, arguments);
    while (verb_next(&line, VERB_BISECT)) {
        if (line.option->code == OPTION_CHECK)
            trials->check = line.value;
        else if (line.option->code == 'v')
            trials->is_verbose = true;
        else if (line.option->code == 'q')
            bisect->is_quiet = true;
        else
            hand_on(trials, line.option->name, line.value);
    }
    trials->program = line.rest;
    if (!*trials->program)
        say_and_exit(STATUS_USAGE,
                     "bisect: expected a program, found none: umbra bisect [OPTION…] -- PROGRAM "
                     "[ARGUMENT…]");
}

/* --- runs --- */

static bool is_failure(const struct bisect *bisect, const struct trial *trial)
{
    return bisect->trials.check ? trial->checked != 0 : trial->status != bisect->native.status;
}

__attribute__((format(printf, 3, 4))) static void
tell(const struct bisect *bisect, const struct trial *trial, const char *format, ...)
{
    char *how, *what = NULL;
    va_list arguments;

    if (!bisect->is_shown)
        return;
    va_start(arguments, format);
    if (vasprintf(&what, format, arguments) < 0)
        what = NULL;
    va_end(arguments);
    how = trial_describe(&bisect->trials, trial);
    say("run %u: %s: %s", bisect->trials.count, what ? what : "", how);
    free(what);
    free(how);
}

static void take_files(struct bisect *bisect)
{
    struct recording recording;

    words_free(&bisect->files);
    trial_open_recording(&bisect->trials, &bisect->all, &recording);
    recording_list_files(&recording, "instrumented", &bisect->files);
    recording_free(&recording);
}

/* Whether it fails with all files, without what was found so far. */
static bool fails_with_all(struct bisect *bisect)
{
    trial_forget(&bisect->trials, &bisect->all);
    bisect->all = trial_recorded(&bisect->trials, &bisect->found);
    take_files(bisect);
    tell(bisect, &bisect->all, "recorded, files instrumented: %zu", bisect->files.count);
    return is_failure(bisect, &bisect->all);
}

/* The options that leave all files but some of bisect->files. */
static void leave_others(const struct bisect *bisect, const uint64_t *files, size_t count,
                         struct words *more)
{
    words_add_all(more, bisect->found.list);
    words_add(more, "--leave=*");
    for (size_t i = 0; i < count; i++)
        words_print(more, "--leave=!%s", bisect->files.list[files[i]]);
}

static bool fails_with_files(void *owner, const uint64_t *files, size_t count)
{
    struct bisect *bisect = owner;
    struct words more = {0};
    struct trial trial;

    leave_others(bisect, files, count, &more);
    trial = trial_recorded(&bisect->trials, &more);
    trial_forget(&bisect->trials, &trial);
    tell(bisect, &trial, "%zu of %zu files instrumented", count, bisect->files.count);
    words_free(&more);
    return is_failure(bisect, &trial);
}

static bool fails_with_functions(void *owner, const uint64_t *functions, size_t count)
{
    struct bisect *bisect = owner;
    struct words more = {0};
    struct trial trial;

    leave_others(bisect, NULL, 0, &more);
    words_print(&more, "--leave=!%s", bisect->file);
    hooked_functions_write_filter(&bisect->functions, functions, count, bisect->filter);
    words_print(&more, "--filter=%s", bisect->filter);
    trial = trial_recorded(&bisect->trials, &more);
    trial_forget(&bisect->trials, &trial);
    tell(bisect, &trial, "%zu of %zu functions hooked in %s", count, bisect->functions.count,
         bisect->file);
    words_free(&more);
    return is_failure(bisect, &trial);
}

/* --- what was found --- */

/* The command that leaves out what was found so far; to be freed. */
static char *make_command(const struct bisect *bisect)
{
    struct words words = {0};
    char *text = memory_copy_string("umbra record");

    words_add_all(&words, bisect->trials.options.list);
    words_add_all(&words, bisect->found.list);
    words_add(&words, "--");
    words_add_all(&words, bisect->trials.program);
    for (size_t i = 0; i < words.count; i++) {
        char *before = text, *word = say_quoted(words.list[i]);
        text = memory_print("%s %s", before, word);
        free(before);
        free(word);
    }
    words_free(&words);
    return text;
}

static bool has_found(const struct bisect *bisect, const char *option)
{
    for (size_t i = 0; i < bisect->found.count; i++)
        if (!strcmp(bisect->found.list[i], option))
            return true;
    return false;
}

static void add_found(struct bisect *bisect, const char *file, char *option)
{
    words_add(&bisect->found, option);
    words_add(&bisect->blamed, file);
    free(option);
}

/* Leaves a file as it is: then none of its functions needs to be left out. */
static void leave_file(struct bisect *bisect, const char *file)
{
    struct words found = bisect->found, blamed = bisect->blamed;

    bisect->found = bisect->blamed = (struct words){0};
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(blamed.list[i], file) != 0)
            add_found(bisect, blamed.list[i], memory_copy_string(found.list[i]));
    add_found(bisect, file, memory_print("--leave=%s", file));
    words_free(&found);
    words_free(&blamed);
}

/* By its name, if that is its alone: an address may be one of another function in other files. */
static void leave_function(struct bisect *bisect, size_t which)
{
    const struct hooked_function *function = &bisect->functions.list[which];
    char *option = memory_print("--exclude=function:%s", function->name ? function->name : "");

    if (!hooked_function_is_alone(&bisect->functions, which) || has_found(bisect, option)) {
        free(option);
        option = memory_print("--exclude=%#" PRIx64, function->address);
    }
    add_found(bisect, bisect->file, option);
}

static char *describe_function(const struct bisect *bisect, size_t which)
{
    const struct hooked_function *function = &bisect->functions.list[which];

    return function->name ? memory_print("%#" PRIx64 " %s", function->address, function->name)
                          : memory_print("%#" PRIx64, function->address);
}

/* A line of the result, with the command that leaves it out. */
__attribute__((format(printf, 2, 3))) static void conclude(const struct bisect *bisect,
                                                           const char *format, ...)
{
    char *command = make_command(bisect);
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf(": %s\n", command);
    fflush(stdout);
    free(command);
}

static void conclude_file(struct bisect *bisect, const char *file, const char *why)
{
    leave_file(bisect, file);
    conclude(bisect, "culprit: %s, as a whole: %s; leave it out with", file, why);
}

/* --- the search --- */

static void conclude_functions(struct bisect *bisect, const struct narrowing *found)
{
    const uint64_t *needed = found->needed;
    size_t count = found->needed_count;
    char *text;

    if (count == 1) {
        leave_function(bisect, needed[0]);
        text = describe_function(bisect, needed[0]);
        conclude(bisect, "culprit: %s: %s; leave it out with", bisect->file, text);
        free(text);
        return;
    }
    printf("no single function is to blame: it fails when these %zu functions of %s are hooked "
           "together:\n",
           count, bisect->file);
    for (size_t i = 0; i < count; i++) {
        text = describe_function(bisect, needed[i]);
        printf("    %s\n", text);
        free(text);
    }
    leave_function(bisect, needed[count - 1]);
    conclude(bisect, "leave one of them out with");
}

static void search_functions(struct bisect *bisect)
{
    struct narrowing narrowing = {
        .fails = fails_with_functions, .owner = bisect, .most = MOST_TOGETHER};
    uint64_t *all;

    all = memory_zeroed(bisect->functions.count + 1, sizeof(*all));
    for (size_t i = 0; i < bisect->functions.count; i++)
        all[i] = i;
    narrow(&narrowing, all, bisect->functions.count);
    if (narrowing.needed_count > MOST_TOGETHER)
        conclude_file(bisect, bisect->file, "it takes many of its functions together");
    else if (!narrowing.needed_count)
        conclude_file(bisect, bisect->file, "none of its functions is to blame");
    else
        conclude_functions(bisect, &narrowing);
    free(narrowing.needed);
    free(all);
}

static size_t count_blamed(const struct bisect *bisect, const char *file)
{
    size_t count = 0;

    for (size_t i = 0; i < bisect->blamed.count; i++)
        count += !strcmp(bisect->blamed.list[i], file);
    return count;
}

static void look_into_file(struct bisect *bisect, const char *file)
{
    struct recording recording;
    char *image;

    if (count_blamed(bisect, file) >= MOST_OF_FILE) {
        conclude_file(bisect, file, "it fails with others of its functions, too");
        return;
    }
    trial_open_recording(&bisect->trials, &bisect->all, &recording);
    image = memory_print("%s/images%s", recording.folder, file);
    bisect->file = file;
    hooked_functions_read(&bisect->functions, image, bisect->trials.folder);
    search_functions(bisect);
    hooked_functions_free(&bisect->functions);
    recording_free(&recording);
    free(image);
}

static void conclude_files(struct bisect *bisect, const struct narrowing *found)
{
    size_t count = found->needed_count;

    printf("no single file is to blame: it fails when these %zu files are instrumented together:\n",
           count);
    for (size_t i = 0; i < count; i++)
        printf("    %s\n", bisect->files.list[found->needed[i]]);
    leave_file(bisect, bisect->files.list[found->needed[count - 1]]);
    conclude(bisect, "leave one of them out with");
}

/* One set. Returns false if there is none to be told. */
static bool search_files(struct bisect *bisect)
{
    struct narrowing narrowing = {
        .fails = fails_with_files, .owner = bisect, .most = MOST_TOGETHER};
    uint64_t *all = memory_zeroed(bisect->files.count + 1, sizeof(*all));
    size_t count;

    for (size_t i = 0; i < bisect->files.count; i++)
        all[i] = i;
    narrow(&narrowing, all, bisect->files.count);
    count = narrowing.needed_count;
    if (count == 1)
        look_into_file(bisect, bisect->files.list[narrowing.needed[0]]);
    else if (count > 1 && count <= MOST_TOGETHER)
        conclude_files(bisect, &narrowing);
    free(narrowing.needed);
    free(all);
    return count > 0 && count <= MOST_TOGETHER;
}

static int search(struct bisect *bisect)
{
    for (int sets = 0; sets < MOST_SETS; sets++) {
        if (!search_files(bisect))
            say_and_exit(STATUS_FAILED,
                         "no few files are to blame: it fails when more than %d of %zu files are "
                         "instrumented together",
                         MOST_TOGETHER, bisect->files.count);
        if (!fails_with_all(bisect))
            return 0;
        say("without that it still fails: the search goes on");
    }
    say("it still fails; perhaps it does whatever is hooked, or not each time");
    return STATUS_FAILED;
}

/* --- what is looked for --- */

static void require_native_success(const struct bisect *bisect)
{
    char *how = trial_describe(&bisect->trials, &bisect->native);

    if (bisect->trials.check && bisect->native.checked)
        say_and_exit(STATUS_FAILED,
                     "it fails natively, too: %s; bisect finds what fails only "
                     "recorded",
                     how);
    free(how);
}

static void require_failure(struct bisect *bisect)
{
    bool fails = fails_with_all(bisect);
    char *how = trial_describe(&bisect->trials, &bisect->all);

    if (!fails && !bisect->trials.check && bisect->all.status)
        say_and_exit(STATUS_FAILED,
                     "it fails natively, too, and recorded as natively: %s; name what differs with "
                     "--check=COMMAND",
                     how);
    if (!fails)
        say_and_exit(
            STATUS_FAILED, "it does not fail when it is recorded: %s, as natively; %s", how,
            bisect->trials.check ? "does it fail each time?"
                                 : "if its output is wrong, check that with --check=COMMAND");
    free(how);
}

/* With nothing instrumented it must not fail. */
static void require_files(struct bisect *bisect)
{
    if (!bisect->files.count || fails_with_files(bisect, NULL, 0))
        say_and_exit(STATUS_FAILED,
                     "it fails recorded even if no file is instrumented, so no hook is to blame: "
                     "umbra record watches its system calls and gives it mounts of its own; try "
                     "--in-place=no");
}

int bisect_main(int count, char **arguments)
{
    struct bisect bisect = {0};

    read_options(&bisect, count, arguments);
    if (bisect.trials.is_verbose)
        say_commands();
    bisect.is_shown = bisect.trials.is_verbose || (isatty(STDERR_FILENO) && !bisect.is_quiet);
    trials_begin(&bisect.trials);
    bisect.filter = memory_print("%s/filter", bisect.trials.folder);
    bisect.native = trial_natively(&bisect.trials);
    tell(&bisect, &bisect.native, "natively");
    require_native_success(&bisect);
    require_failure(&bisect);
    require_files(&bisect);
    return search(&bisect);
}
