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
        .how = options->how,
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
        return true;
    }
    output_file_sweep(options->output);
    if (!rewrite_file(&wanted, &result, failure))
        return false;
    rewrite_say_losses(options->file, &result);
    filter_warn(&options->filter);
    filter_warn(&options->times);
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

static bool list(struct options *options, struct failure *failure)
{
    struct rewrite_options wanted = {.input = options->file,
                                     .instrument_imports = options->instrument_imports,
                                     .how = options->how,
                                     .as_summary = options->summary,
                                     .as_json = options->json,
                                     .filter = &options->filter,
                                     .times = &options->times};

    if (!list_file(&wanted, failure))
        return false;
    filter_warn(&options->filter);
    filter_warn(&options->times);
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

static bool run(struct options *options, struct failure *failure)
{
    switch (options->verb) {
    case VERB_VERSION:
        puts("instrument " UMBRA_VERSION);
        say_check_stdout();
        return true;
    case VERB_LIST:
        if (options->confined)
            confine_to(options);
        return list(options, failure);
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
    return rewrite(options, failure);
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

int main(int count, const char **arguments)
{
    struct options options;
    struct failure failure;
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
        status = run(&options, &failure) && say_end(&failure) ? 0 : STATUS_FAILED;
        if (status)
            say_problem("%s", failure.text);
        break;
    }
    options_free(&options);
    return status;
}
