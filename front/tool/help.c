#include "front/tool/help.h"

#include <stdio.h>

#include "front/base/say.h"

#define COLUMN 26 /* where the text about an option begins */

static const struct page {
    const char *synopsis;
    const char *summary; /* in the overview */
    const char *text;    /* lines */
    const char *examples;
} pages[VERB_COUNT] = {
    [VERB_RECORD] =
        {"[OPTION]... [--] PROGRAM [ARGUMENT]...", "run a program, and record it and what it runs",
         "Runs it and records it, its libraries and the programs that it runs. Nothing on\n"
         "the disk is changed. The recording is a folder; an earlier one of that name\n"
         "becomes FOLDER.old.\n",
         "  umbra record -- make -j2\n"
         "  umbra record --timing=exact --include='parse*' -- ./app input\n"},
    [VERB_REPORT] =
        {"[RECORDING] [OPTION]...", "write the page to browse a recording with",
         "Writes the page to browse a recording with (umbra.data if none is named), and\n"
         "says where it is; or prints a summary, or writes a profile for another program.\n",
         "  umbra report --text\n"
         "  umbra report --output-format=flamegraph -o make.svg\n"},
    [VERB_TOP] = {"[RECORDING] [OPTION]...", "the hottest functions, while the program runs",
                  "Shows the hottest functions while the program runs; q ends it.\n",
                  "  umbra top\n"},
    [VERB_DIFF] =
        {"[BEFORE AFTER] [OPTION]...", "what changed from one recording to another",
         "Shows what changed from one recording to another (umbra.data.old and umbra.data\n"
         "if none are named).\n",
         "  umbra diff\n"
         "  umbra diff before.data after.data --threshold=5\n"},
    [VERB_LS] = {"[FOLDER]... [OPTION]...", "the recordings in a folder",
                 "Lists the recordings in folders (the current one if none is named).\n",
                 "  umbra ls --left umbra.data\n"
                 "  umbra ls --json | jq '.[] | select(.status != 0).path'\n"},
    [VERB_CACHE] = {"[OPTION]...", "where instrumented files are kept, and how many",
                    "Shows where instrumented files are kept, and how many there are.\n",
                    "  umbra cache --limit=10G\n"},
    [VERB_BISECT] = {"[OPTION]... [--] PROGRAM [ARGUMENT]...",
                     "find the hook that makes a program fail",
                     "Of a program that fails only when it is recorded: finds the file and the\n"
                     "function whose hook does it.\n",
                     "  umbra bisect --check='cmp $UMBRA_STDOUT good' -- ./app\n"},
};

static int finished(void)
{
    return fflush(stdout) != 0 || ferror(stdout) ? STATUS_FAILED : 0;
}

static void show_verbs(void)
{
    for (enum verb verb = 0; verb < VERB_COUNT; verb++)
        printf("  %-8s %s\n", verb_name(verb), pages[verb].summary);
}

int help_show_overview(void)
{
    fputs("umbra VERB [OPTION]... - profiles any installed program, as it is\n"
          "\n"
          "  umbra record -- PROGRAM [ARGUMENT]...\n"
          "  umbra report\n"
          "\n",
          stdout);
    show_verbs();
    fputs("\n"
          "A recording is a folder: umbra.data, if no other is named.\n"
          "\n"
          "umbra VERB --help       a verb's options, with examples; umbra help VERB, too\n"
          "umbra --version         the version\n"
          "man umbra               all of it\n"
          "\n"
          "Exit status: of record the program's, 128 + N if signal N killed it, 127 if\n"
          "there is none, 1 if nothing could be run; else 0, 1 for failure, 2 for wrong\n"
          "usage.\n",
          stdout);
    return finished();
}

static bool has_grinders(enum verb verb)
{
    for (const struct command_option *option = verb_options; option->name; option++)
        if (option->section == HELP_OF_GRINDER && option->verbs & 1u << verb)
            return true;
    return false;
}

int help_show(enum verb verb)
{
    printf("umbra %s %s\n%s\n", verb_name(verb), pages[verb].synopsis, pages[verb].text);
    command_line_print_help(verb_options, 1u << verb, HELP_OWN, COLUMN);
    if (has_grinders(verb)) {
        puts("Of the grinder, which has more (grinder --help):");
        command_line_print_help(verb_options, 1u << verb, HELP_OF_GRINDER, COLUMN);
    }
    printf("\n%s", pages[verb].examples);
    return finished();
}

int help_print_verbs(void)
{
    for (enum verb verb = 0; verb < VERB_COUNT; verb++)
        printf("%s\t%s\n", verb_name(verb), pages[verb].summary);
    return finished();
}

int help_print_options(enum verb verb)
{
    command_line_print_options(verb_options, 1u << verb);
    return finished();
}
