#include "grinder/options.h"

#include <popt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/memory.h"
#include "grinder/message.h"
#include "grinder/mode.h"

#define WRONG_USAGE 2

static const char help[] =
    "Usage: grinder --mode=MODE [OPTION…] TRACE…\n"
    "\n"
    "Turns traces that call_trace_service recorded into something to look at.\n"
    "\n"
    "  --mode=profile        a callgrind file, for kcachegrind and callgrind_annotate\n"
    "  --mode=summary        processes, threads, modules and the hottest functions, as text\n"
    "\n"
    "  --output-file=FILE    where to write, - for standard output\n"
    "                        (profile: callgrind.out.PID, summary: standard output)\n"
    "  --thread-parts        profile: a part a thread (this is the default)\n"
    "  --merged              profile: all threads of all traces in one part\n"
    "  --split               profile: a file a thread, FILE-01, FILE-02 …\n"
    "  --top=N               summary: show N functions (20)\n"
    "  --debug-dir=DIR       look for separate debug files here too; may be repeated\n"
    "  --path-map=FROM=TO    files that traces name below FROM are below TO here;\n"
    "                        may be repeated\n"
    "  --help                this text\n"
    "  --version             the version\n"
    "\n"
    "Exit status: 0 all is well; 1 a trace could not be read, is cut off, has lost\n"
    "contexts or does not balance, or the output could not be written; 2 wrong usage.\n";

enum { MODE = 1, OUTPUT, MERGED, THREAD_PARTS, SPLIT, TOP, DEBUG_DIR, PATH_MAP, HELP, VERSION };

static const struct poptOption table[] = {
    {"mode", 0, POPT_ARG_STRING, NULL, MODE, NULL, NULL},
    {"output-file", 0, POPT_ARG_STRING, NULL, OUTPUT, NULL, NULL},
    {"merged", 0, POPT_ARG_NONE, NULL, MERGED, NULL, NULL},
    {"thread-parts", 0, POPT_ARG_NONE, NULL, THREAD_PARTS, NULL, NULL},
    {"split", 0, POPT_ARG_NONE, NULL, SPLIT, NULL, NULL},
    {"top", 0, POPT_ARG_STRING, NULL, TOP, NULL, NULL},
    {"debug-dir", 0, POPT_ARG_STRING, NULL, DEBUG_DIR, NULL, NULL},
    {"path-map", 0, POPT_ARG_STRING, NULL, PATH_MAP, NULL, NULL},
    {"help", 'h', POPT_ARG_NONE, NULL, HELP, NULL, NULL},
    {"version", 'V', POPT_ARG_NONE, NULL, VERSION, NULL, NULL},
    POPT_TABLEEND,
};

__attribute__((format(printf, 1, 2), noreturn)) static void wrong_usage(const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    message("%s; see grinder --help", text);
    exit(WRONG_USAGE);
}

static int number_of_functions(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (!*text || *end || number < 0 || number > 1000000)
        wrong_usage("--top: expected a number of 0 to 1000000, found %s", text);
    return (int)number;
}

/* strings, which end with null, and one more; takes over text. */
static char **append(char **strings, char *text)
{
    size_t count = 0;
    char **longer;

    while (strings && strings[count])
        count++;
    longer = memory_zeroed(count + 2, sizeof(*longer));
    for (size_t i = 0; i < count; i++)
        longer[i] = strings[i];
    longer[count] = text;
    free(strings);
    return longer;
}

static void apply(struct options *options, int option, char *argument)
{
    switch (option) {
    case MODE:
        options->mode = mode_named(argument);
        if (!options->mode)
            wrong_usage("--mode: expected profile or summary, found %s", argument);
        break;
    case OUTPUT:
        free(options->output);
        options->output = memory_copy_string(argument);
        break;
    case MERGED:
        options->merged = 1;
        break;
    case THREAD_PARTS:
        options->merged = 0;
        break;
    case SPLIT:
        options->split = 1;
        break;
    case TOP:
        options->top = number_of_functions(argument);
        break;
    case DEBUG_DIR:
        options->debug_dirs = append(options->debug_dirs, memory_copy_string(argument));
        break;
    case PATH_MAP:
        if (*argument == '=' || !strchr(argument, '='))
            wrong_usage("--path-map: expected FROM=TO, found %s", argument);
        options->path_maps = append(options->path_maps, memory_copy_string(argument));
        break;
    case HELP:
        fputs(help, stdout);
        exit(EXIT_SUCCESS);
    case VERSION:
        puts("grinder (umbra) " UMBRA_VERSION);
        exit(EXIT_SUCCESS);
    }
}

static void check(const struct options *options)
{
    if (!options->mode)
        wrong_usage("expected --mode=profile or --mode=summary, found no --mode");
    if (!options->traces[0])
        wrong_usage("expected a trace file, found none");
    if (options->split && options->merged)
        wrong_usage("--split and --merged exclude each other");
    if (options->split && options->output && !strcmp(options->output, "-"))
        wrong_usage("--split needs a file name, found --output-file=-");
}

void options_read(struct options *options, int argc, const char **argv)
{
    /* Static: still held, and no leak, where wrong usage ends the program. */
    static poptContext context;
    const char **traces;
    int option;

    context = poptGetContext("grinder", argc, argv, table, 0);
    *options = (struct options){.top = 20};
    options->debug_dirs = memory_zeroed(1, sizeof(*options->debug_dirs));
    options->path_maps = memory_zeroed(1, sizeof(*options->path_maps));
    options->traces = memory_zeroed(1, sizeof(*options->traces));
    while ((option = poptGetNextOpt(context)) > 0) {
        char *argument = poptGetOptArg(context);
        apply(options, option, argument);
        free(argument);
    }
    if (option < -1)
        wrong_usage("%s: %s", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(option));
    for (traces = poptGetArgs(context); traces && *traces; traces++)
        options->traces = append(options->traces, memory_copy_string(*traces));
    poptFreeContext(context);
    check(options);
}

static void free_strings(char **strings)
{
    for (size_t i = 0; strings[i]; i++)
        free(strings[i]);
    free(strings);
}

void options_free(struct options *options)
{
    free_strings(options->debug_dirs);
    free_strings(options->path_maps);
    free_strings(options->traces);
    free(options->output);
}
