/* instrument: rewrites a built program so that every function calls the entry hook. */
#include "rewriter/options.h"
#include "rewriter/rewrite.h"
#include "rewriter/say.h"
#include "rewriter/tree.h"
#include "rewriter/verify.h"

#include <stdio.h>
#include <sys/stat.h>

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
        "reasons); %zu functions found, %zu hooked, %zu left alone",
        output, result->files, result->instrumented,
        result->files - result->instrumented - result->refused, result->refused, result->is_go,
        result->is_instrumented, result->other_machine, result->no_functions, others, result->found,
        result->hooked, result->found - result->hooked);
}

static bool rewrite(struct options *options, struct failure *failure)
{
    struct rewrite_options wanted = {
        .input = options->file,
        .output = options->output,
        .agent = options->agent,
        .overwrite = options->overwrite,
        .bundle = options->bundle,
        .no_verify = options->no_verify,
        .instrument_imports = options->instrument_imports,
        .filter = &options->filter,
    };
    struct tree_result tree;
    struct rewrite_result result;

    if (is_directory(options->file)) {
        if (!rewrite_tree(&wanted, &tree, failure))
            return false;
        print_tree(options->output, &tree);
        return true;
    }
    if (!rewrite_file(&wanted, &result, failure))
        return false;
    filter_warn(&options->filter);
    say_result("%s: %zu functions found, %zu hooked, %zu left alone", options->output, result.found,
               result.hooked, result.found - result.hooked);
    return true;
}

static bool list(struct options *options, struct failure *failure)
{
    struct rewrite_options wanted = {.input = options->file,
                                     .instrument_imports = options->instrument_imports,
                                     .filter = &options->filter};

    if (!list_file(&wanted, failure))
        return false;
    filter_warn(&options->filter);
    return true;
}

static bool run(struct options *options, struct failure *failure)
{
    switch (options->verb) {
    case VERB_VERSION:
        return puts("instrument " UMBRA_VERSION) >= 0;
    case VERB_LIST:
        return list(options, failure);
    case VERB_VERIFY:
        return verify_file(options->file, failure);
    case VERB_UNDO:
        return undo_file(options->file, options->output, options->overwrite, failure);
    case VERB_REWRITE:
        break;
    }
    return rewrite(options, failure);
}

int main(int count, const char **arguments)
{
    struct options options;
    struct failure failure;
    int status = STATUS_USAGE;

    switch (options_read(&options, count, arguments)) {
    case OPTIONS_WRONG:
        break;
    case OPTIONS_UNREADABLE:
        status = STATUS_FAILED;
        break;
    case OPTIONS_FINE:
        if (options.quiet)
            say_nothing();
        status = run(&options, &failure) ? 0 : STATUS_FAILED;
        if (status)
            fprintf(stderr, "instrument: %s\n", failure.text);
        break;
    }
    options_free(&options);
    return status;
}
