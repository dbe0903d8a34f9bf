/*
 * The verbs and their options, once for all (support/command_line.h). From these tables come what is
 * read, the pages of --help (help.h), what shells complete, and what a config file may hold.
 */
#ifndef UMBRA_FRONT_OPTIONS_H
#define UMBRA_FRONT_OPTIONS_H

#include <stdbool.h>

#include "support/command_line.h"

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

/* The codes of options that have no letter. */
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

/* Sections of --help. */
enum help_section {
    HELP_OWN,
    HELP_OF_GRINDER, /* handed on to the grinder, which explains them */
};

/* All of them, in the order of --help. A verb is a bit in them: 1 << verb. */
extern const struct command_option verb_options[];

const char *verb_name(enum verb verb);
enum verb verb_named(const char *name);

/* Reads the options of a verb, arguments[0]: as command_line_begin and command_line_next do, but an
   option that is wrong ends the process. */
void verb_begin(struct command_line *line, enum verb verb, int count, char **arguments);
bool verb_next(struct command_line *line, enum verb verb);

/* Says what is wrong with an option that was refused, and ends the process. */
_Noreturn void verb_refuse_option(enum verb verb, const char *word);

/* What was asked for before the verb does anything. */
struct asked_first {
    bool help, version, no_config, verbose;
};

/* arguments[0] is the verb. The words of a recorded program are not looked at. */
struct asked_first verb_asked_first(enum verb verb, int count, char **arguments);

#endif
