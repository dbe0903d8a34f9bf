/* instrument: rewrites a built program so that every function calls the entry hook. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewriter/base/output_file.h"
#include "rewriter/base/place.h"
#include "rewriter/base/say.h"
#include "rewriter/tool/bisect.h"
#include "rewriter/tool/listing.h"
#include "rewriter/tool/options.h"
#include "rewriter/tool/result.h"
#include "rewriter/tool/rewrite.h"
#include "rewriter/tool/tree.h"
#include "rewriter/tool/verify.h"
#include "support/confinement.h"

#define STATUS_FAILED 1
#define STATUS_USAGE  2

static bool is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void print_tree(const char *output, const struct tree_result *result)
{
    size_t others = result->refused - result->is_go - result->is_instrumented -
                    result->other_machine - result->no_functions;

    say_result(
        "%s: %zu files: %zu instrumented, %zu other files copied, %zu refused (%zu Go, %zu "
        "already instrumented, %zu for another machine, %zu with nothing to hook, %zu for other "
        "reasons); %zu functions found, %zu hooked, %zu left alone, %zu of them for want of a safe "
        "patch",
        output, result->files, result->instrumented,
        result->files - result->instrumented - result->refused, result->refused, result->is_go,
        result->is_instrumented, result->other_machine, result->no_functions, others, result->found,
        result->hooked, result->found - result->hooked, result->unsafe);
}

static void warn_of_unmatched(const struct options *options, struct instrument_result *told)
{
    filter_warn(&options->filter);
    filter_warn(&options->times);
    result_take_unmatched(told, &options->filter);
    result_take_unmatched(told, &options->times);
}

static bool rewrite(struct options *options, struct instrument_result *told,
                    struct failure *failure)
{
    struct rewrite_options wanted = {
        .input = options->file,
        .output = options->output,
        .agent = options->agent,
        .overwrite = options->overwrite,
        .bundle = options->bundle,
        .no_verify = options->no_verify,
        .instrument_imports = options->instrument_imports,
        .how = options->how,
        .away = options->away,
        .is_unwinder = options->unwinder,
        .original = options->original,
        .marks_blocks = options->marks_blocks,
        .counts_blocks = options->counts_blocks,
        .counts_no_calls = options->no_calls,
        .counts_instructions = options->counts_instructions,
        .poison = options->poison,
        .filter = &options->filter,
        .times = &options->times,
    };
    struct tree_result tree;
    struct rewrite_result result;

    if (is_directory(options->file)) {
        if (!rewrite_tree(&wanted, &tree, failure))
            return false;
        print_tree(options->output, &tree);
        result_take_counts(told, &(struct rewrite_result){.found = tree.found,
                                                          .hooked = tree.hooked,
                                                          .copied = tree.copied,
                                                          .unsafe = tree.unsafe});
        return true;
    }
    output_file_sweep(options->output);
    if (!rewrite_file(&wanted, &result, failure)) {
        result_take_counts(told, &result);
        told->reason = result.reason;
        return false;
    }
    rewrite_say_losses(options->file, &result);
    warn_of_unmatched(options, told);
    result_take_counts(told, &result);
    say_result("%s: %zu functions found, %zu hooked, %zu left alone", options->output, result.found,
               result.hooked, result.found - result.hooked);
    return true;
}

/* To what rewriting it takes: a hostile file may take this process over. */
static void confine_to(const struct options *options)
{
    const char *readable[] = {options->file, "/usr/lib/debug", "/proc/self", options->agent, NULL};
    char folder[PATH_MAX];

    if (options->verb == VERB_LIST)
        confine_tool(readable, NULL);
    else if (path_beside(folder, options->output, "."))
        confine_tool(readable, folder);
}

static bool list(struct options *options, struct instrument_result *told, struct failure *failure)
{
    struct rewrite_options wanted = {.input = options->file,
                                     .instrument_imports = options->instrument_imports,
                                     .how = options->how,
                                     .as_summary = options->summary,
                                     .as_json = options->json,
                                     .filter = &options->filter,
                                     .times = &options->times};

    if (!list_file(&wanted, &told->reason, failure))
        return false;
    warn_of_unmatched(options, told);
    told->reason = REASON_NONE;
    told->outcome = INSTRUMENT_LISTED;
    return true;
}

static bool find_culprits(struct options *options, struct failure *failure)
{
    struct rewrite_options wanted = {
        .input = options->file,
        .agent = options->agent,
        .no_verify = true,
        .instrument_imports = options->instrument_imports,
        .how = options->how,
        .poison = options->poison,
        .filter = &options->filter,
    };

    return bisect(&wanted, options->command, failure);
}

static bool run(struct options *options, struct instrument_result *told, struct failure *failure)
{
    switch (options->verb) {
    case VERB_HELP:
        options_show_help();
        say_check_stdout();
        return true;
    case VERB_PRINT_OPTIONS:
        options_print();
        say_check_stdout();
        return true;
    case VERB_VERSION:
        puts("instrument " UMBRA_VERSION);
        say_check_stdout();
        return true;
    case VERB_LIST:
        if (options->confined)
            confine_to(options);
        return list(options, told, failure);
    case VERB_VERIFY:
        return verify_file(options->file, failure);
    case VERB_UNDO:
        return undo_file(options->file, options->output, options->overwrite, failure);
    case VERB_BISECT:
        return find_culprits(options, failure);
    case VERB_REWRITE:
        if (options->confined)
            confine_to(options);
        break;
    }
    return rewrite(options, told, failure);
}

/* Says how it ended, to people and to programs. */
static bool run_and_tell(struct options *options)
{
    struct instrument_result told = {.reason = REASON_OTHER};
    struct failure failure;
    bool is_done;

    if (options->result_fd >= 0)
        result_begin(options->result_fd);
    is_done = run(options, &told, &failure);
    if (is_done && !say_end(&failure)) {
        is_done = false;
        told.reason = REASON_OTHER;
    }
    if (!is_done)
        say_problem("%s", failure.text);
    if (!is_done && options->result_fd >= 0)
        result_take_failure(&told, told.reason, &failure,
                            told.reason == REASON_OUTPUT ? options->output : options->file);
    if (result_write(&told, &failure))
        return is_done;
    say_problem("%s", failure.text);
    return false;
}

/* A file that is opened in the place of a standard stream would be taken for it. */
static void open_standard_streams(void)
{
    int descriptor;

    do
        descriptor = open("/dev/null", O_RDWR);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

int main(int count, char **arguments)
{
    struct options options;
    int status = STATUS_USAGE;

    open_standard_streams();
    switch (options_read(&options, count, arguments)) {
    case OPTIONS_WRONG:
        break;
    case OPTIONS_UNREADABLE:
        status = STATUS_FAILED;
        break;
    case OPTIONS_FINE:
        if (options.quiet)
            say_problems_only();
        status = run_and_tell(&options) ? 0 : STATUS_FAILED;
        break;
    }
    options_free(&options);
    return status;
}
