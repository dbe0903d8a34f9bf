/*
 * The verbs and their options, once for all. From these tables come what getopt reads, the pages of
 * --help (help.h), what shells complete, and what a config file may hold.
 */
#ifndef UMBRA_FRONT_OPTIONS_H
#define UMBRA_FRONT_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum verb {
    VERB_RECORD,
    VERB_REPORT,
    VERB_TOP,
    VERB_DIFF,
    VERB_LS,
    VERB_CACHE,
    VERB_BISECT,
    VERB_COUNT, /* none of them */
};

/* What getopt returns for an option that has no letter. */
enum option_code {
    OPTION_INSTRUMENT = 1, /* handed on to instrument, as it is */
    OPTION_SERVICE,        /* and to call_trace_service */
    OPTION_HOW,
    OPTION_TWICE,
    OPTION_LEAVE,
    OPTION_CHILDREN,
    OPTION_IN_PLACE,
    OPTION_CHECK,
    OPTION_LEFT,
    OPTION_JSON,
    OPTION_CLEAR,
    OPTION_LIMIT,
    OPTION_NO_CONFIG,
    OPTION_VIEW, /* read by views.c, word by word */
    OPTION_COUNT, /* all are below ' ', and letters are not */
};

struct verb_option {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* what --help calls it: FILE and FOLDER are paths; null: it takes none */
    const char *values;   /* all that it may be, with blanks between, or null */
    unsigned verbs;       /* a bit for each that has it: 1 << verb */
    int code;
    bool is_grinders; /* handed on to the grinder, which explains it */
    const char *help;
};

/* All of them, in the order of --help; the last has no name. */
extern const struct verb_option verb_options[];

const char *verb_name(enum verb verb);
enum verb verb_named(const char *name);

/* What getopt_long reads of a verb, each to be freed: a letter stands for its long name, too. The
   letters of record have what perf record has under others. */
struct option *verb_getopt_table(enum verb verb);
char *verb_getopt_letters(enum verb verb);

/* What getopt_long has refused just now, to be freed: a word, or "-x" of the letters in one. */
char *verb_refused_word(enum verb verb, char *const *arguments);

/* Says what is wrong with an option that was refused, and ends the process. */
_Noreturn void verb_refuse_option(enum verb verb, const char *word);

/* What was asked for before the verb does anything. */
struct asked_first {
    bool help, version, no_config, verbose;
};

/* arguments[0] is the verb. The words of a recorded program are not looked at. */
struct asked_first verb_asked_first(enum verb verb, int count, char **arguments);

#endif
