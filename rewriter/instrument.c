/* instrument: rewrites a built program so that every function calls the entry hook. */
#include "rewriter/rewrite.h"

#include <stdio.h>
#include <stdlib.h>

#include <popt.h>

#define STATUS_FAILED 1
#define STATUS_USAGE  2

static struct rewrite_options options;
static char *output, *agent;
static int overwrite, bundle, no_verify, instrument_imports, list, version;

static const struct poptOption option_table[] = {
    {NULL, 'o', POPT_ARG_STRING, &output, 0, "write the instrumented image there", "OUT"},
    {"overwrite", 0, POPT_ARG_NONE, &overwrite, 0, "replace OUT if it exists", NULL},
    {"agent", 0, POPT_ARG_STRING, &agent, 0, "have the image load this libhooks.so", "PATH"},
    {"bundle", 0, POPT_ARG_NONE, &bundle, 0, "put a copy of the agent beside OUT", NULL},
    {"no-verify", 0, POPT_ARG_NONE, &no_verify, 0, "do not have LIEF judge the result", NULL},
    {"instrument-imports", 0, POPT_ARG_NONE, &instrument_imports, 0,
     "hook the calls to functions of other images, too", NULL},
    {"list", 0, POPT_ARG_NONE, &list, 0, "print every function and what became of it", NULL},
    {"version", 0, POPT_ARG_NONE, &version, 0, "print the version", NULL},
    POPT_AUTOHELP POPT_TABLEEND,
};

static int usage(const char *problem, const char *what)
{
    fprintf(stderr, "instrument: %s%s%s; see --help\n", what ? what : "", what ? ": " : "",
            problem);
    return STATUS_USAGE;
}

static int failed(const struct failure *failure)
{
    fprintf(stderr, "instrument: %s\n", failure->text);
    return STATUS_FAILED;
}

static int run_list(const char *file)
{
    struct failure failure;

    options.input = file;
    options.instrument_imports = instrument_imports;
    return list_file(&options, &failure) ? 0 : failed(&failure);
}

static int run_rewrite(const char *file)
{
    struct rewrite_result result;
    struct failure failure;

    options.input = file;
    options.output = output;
    options.agent = agent;
    options.overwrite = overwrite;
    options.bundle = bundle;
    options.no_verify = no_verify;
    options.instrument_imports = instrument_imports;
    if (!rewrite_file(&options, &result, &failure))
        return failed(&failure);
    printf("%s: %zu functions found, %zu hooked, %zu left alone\n", output, result.found,
           result.hooked, result.found - result.hooked);
    return 0;
}

static int run(poptContext context)
{
    int code = poptGetNextOpt(context);
    const char *file;

    if (code < -1)
        return usage(poptStrerror(code), poptBadOption(context, POPT_BADOPTION_NOALIAS));
    if (version) {
        puts("instrument " UMBRA_VERSION);
        return 0;
    }
    file = poptGetArg(context);
    if (!file)
        return usage("expected the image to instrument, found no FILE", NULL);
    if (poptPeekArg(context))
        return usage("expected one FILE, found another", poptPeekArg(context));
    if (list)
        return output ? usage("--list takes no -o", NULL) : run_list(file);
    if (!output)
        return usage("expected -o OUT", file);
    return run_rewrite(file);
}

int main(int count, const char **arguments)
{
    poptContext context = poptGetContext("instrument", count, arguments, option_table, 0);
    int status;

    poptSetOtherOptionHelp(context, "FILE -o OUT [OPTION...]  or  --list FILE");
    status = run(context);
    poptFreeContext(context);
    free(output);
    free(agent);
    return status;
}
