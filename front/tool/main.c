/* umbra: one command for the three programs behind it. What it does is what they do; --verbose
   shows how it calls them. */
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "front/cache/cache_limit.h"
#include "front/tool/bisect.h"
#include "front/tool/inside.h"
#include "front/tool/list.h"
#include "front/tool/record.h"
#include "front/tool/views.h"
#include "support/memory.h"

static const char help[] =
    "umbra VERB [OPTION]... - profiles any installed program, as it is\n"
    "record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "               run it and record it, its libraries and the programs that it\n"
    "               runs; return its exit status. Nothing on the disk is changed\n"
    "report [RECORDING] [OPTION]...\n"
    "               write the page to browse a recording with, and say where it is\n"
    "top [RECORDING]  the hottest functions, while the program runs\n"
    "diff [BEFORE AFTER]  what changed from one recording to another\n"
    "ls [FOLDER]... the recordings in a folder\n"
    "cache          where instrumented files are kept, and how many there are\n"
    "bisect [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "               of a program that fails only when it is recorded: find the file and\n"
    "               the function whose hook does it\n"
    "\n"
    "A recording is a folder: umbra.data, if no other is named. record renames an\n"
    "earlier one to umbra.data.old.\n"
    "\n"
    "Of record:\n"
    "  -o, --output=FOLDER     the recording (default: umbra.data)\n"
    "  --children=no           only the program itself, not what it runs\n"
    "  --in-place=no           use no namespaces: run instrumented files beside their\n"
    "                          originals; children are recorded only as far as they\n"
    "                          load the same libraries\n"
    "  --include=PATTERN       hook functions that match\n"
    "  --exclude=PATTERN       leave functions that match alone\n"
    "  --filter=FILE           read patterns from a file\n"
    "  --leave=PATTERN         leave files that match as they are; with ! in front: do not\n"
    "  --instrument-imports    also hook calls to functions of other images\n"
    "  --how=WAY               auto (default): copy functions' bodies where that is certain,\n"
    "                          hook the others in their prologue; or hook all there: prologue\n"
    "  --mode=MODE             profile (default), or calltrace: each call with times;\n"
    "                          report: a mode of the grinder\n"
    "  --timing=WAY            samples (default): what functions compute, and what they wait;\n"
    "                          or what calls take: adaptive, exact (of each call); or none\n"
    "  --node-limit=N          these and the following are options of\n"
    "                          call_trace_service start\n"
    "  --slices=N\n"
    "  --samples=HZ\n"
    "  --max-trace-size=BYTES\n"
    "  --ring-size=BYTES\n"
    "  --max-events-size=BYTES\n"
    "  --keep-newest\n"
    "  --paused\n"
    "  -q, --quiet             no progress on the terminal, and no word at the end\n"
    "  (perf's -F HZ is --samples=HZ; -g needs no option)\n"
    "Of report; all other options are the grinder's (grinder --help):\n"
    "  --text                  print the summary instead of writing the page\n"
    "  --output-format=NAME    a profile in that format of the grinder's\n"
    "  -o, --output-file=FILE  where to write, - for standard output (default:\n"
    "                          report.html or profile.SUFFIX in the recording)\n"
    "Of ls:\n"
    "  --left                  what a recording left as it was, and why\n"
    "Of cache:\n"
    "  --clear                 remove what is in it; recordings keep what they need\n"
    "  --limit=SIZE            let it grow to that size; K, M, G, T may follow\n"
    "Of bisect; all other options are those of record:\n"
    "  --check=COMMAND         it fails if this shell command does, run after each run\n"
    "                          with its status in $UMBRA_STATUS and its output in the\n"
    "                          files $UMBRA_STDOUT and $UMBRA_STDERR (default: if its\n"
    "                          status is not the one it has natively)\n"
    "Of all:\n"
    "  -v, --verbose           show the commands that are run\n"
    "  -h, --help              this page; umbra help, too\n"
    "  -V, --version           the version\n"
    "Exit status: of record the program's, 128 + N if signal N killed it, 127 if there\n"
    "is none, 1 if nothing could be run; else 0, 1 for failure, 2 for wrong usage.\n";

static int cache_main(int count, char **arguments)
{
    static const struct option table[] = {
        {"clear", no_argument, NULL, 'c'},
        {"limit", required_argument, NULL, 'l'},
        {NULL, 0, NULL, 0},
    };
    const char *limit = NULL;
    bool is_clear = false;
    int code, status;

    opterr = 0;
    while ((code = getopt_long(count, arguments, "", table, NULL)) >= 0) {
        if (code == 'c')
            is_clear = true;
        else if (code == 'l')
            limit = optarg;
        else
            say_wrong_option("cache", arguments[optind - 1]);
    }
    if (optind < count)
        say_and_exit(STATUS_USAGE, "cache: expected no argument, found %s", arguments[optind]);
    status = limit ? cache_set_limit(limit) : 0;
    if (status)
        return status;
    if (is_clear)
        return cache_clear();
    return limit ? 0 : cache_show();
}

static const struct verb {
    const char *name;
    int (*run)(int count, char **arguments);
} verbs[] = {
    {"record", record_main}, {"report", report_main}, {"top", top_main},       {"diff", diff_main},
    {"ls", list_main},       {"cache", cache_main},   {"bisect", bisect_main},
};

/* In front of the program's own words. */
static bool asks_for(const char *option, const char *letter, int count, char **arguments)
{
    for (int i = 1; i < count && arguments[i][0] == '-' && strcmp(arguments[i], "--"); i++)
        if (!strcmp(arguments[i], option) || !strcmp(arguments[i], letter))
            return true;
    return false;
}

static int show_help(void)
{
    return fputs(help, stdout) < 0 || fflush(stdout) != 0 ? STATUS_FAILED : 0;
}

static int show_version(void)
{
    return puts("umbra " UMBRA_VERSION) < 0 || fflush(stdout) != 0 ? STATUS_FAILED : 0;
}

static int run_verb(const struct verb *verb, int count, char **arguments)
{
    if (asks_for("--help", "-h", count, arguments))
        return show_help();
    if (asks_for("--version", "-V", count, arguments))
        return show_version();
    tools_speak_as(memory_print("umbra %s", verb->name));
    return verb->run(count, arguments);
}

/* Where the caller has closed one, no file of ours is to take its number. The program finds it
   closed. */
static void open_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int count, char **arguments)
{
    open_standard_descriptors();
    if (count > 1 && !strcmp(arguments[1], "inside"))
        return inside_main(count, arguments);
    if (asks_for("--help", "-h", count, arguments) || (count > 1 && !strcmp(arguments[1], "help")))
        return show_help();
    if (asks_for("--version", "-V", count, arguments))
        return show_version();
    if (count > 1 && *arguments[1] == '-')
        say_and_exit(STATUS_USAGE,
                     "%s: expected a verb in front of it: record, report, top, diff, ls, cache or "
                     "bisect; to record a program: umbra record -- PROGRAM",
                     arguments[1]);
    if (count < 2)
        say_and_exit(STATUS_USAGE,
                     "expected a verb: record, report, top, diff, ls, cache or bisect; umbra "
                     "--help says more");
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
        if (!strcmp(arguments[1], verbs[i].name))
            return run_verb(&verbs[i], count - 1, arguments + 1);
    say_and_exit(STATUS_USAGE,
                 "%s: expected a verb: record, report, top, diff, ls, cache or bisect; to record a "
                 "program: umbra record -- %s",
                 arguments[1], arguments[1]);
}
