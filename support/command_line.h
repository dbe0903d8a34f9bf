/*
 * Command lines, described by one table of options for each program:
 *
 *      static const struct command_option options[] = {
 *          {"output", 'o', "FOLDER", NULL, OF(RECORD), 'o', 0, "the recording (umbra.data)"},
 *          {"how", 0, "WAY", "auto copy", OF(RECORD), HOW, 0, "auto (default) copies bodies"},
 *          {"quiet", 'q', NULL, NULL, OF(RECORD) | OF(TOP), 'q', 0, "no progress"},
 *          {NULL, 0, NULL, NULL, 0, 0, 0, NULL},
 *      };
 *
 * From it come what getopt_long reads, the options in --help, what shells complete, and the options
 * that a manual page has to have. A name may stand in several rows, if no verb is in two of them.
 */
#ifndef UMBRA_SUPPORT_COMMAND_LINE_H
#define UMBRA_SUPPORT_COMMAND_LINE_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/failure.h"

struct command_option {
    const char *name;   /* behind "--"; null where there is only a letter */
    char letter;        /* 0: none. The last row has neither */
    const char *value;  /* what --help calls it: FILE and FOLDER are paths; null: it takes none */
    const char *values; /* all that it may be, or null: words and ranges, with blanks between */
    unsigned verbs;     /* a bit for each verb that has it; of programs without verbs, any */
    int code;           /* for whoever reads */
    int section;        /* of --help */
    const char *help;   /* '\n' begins a new line, and long ones are broken */
};

/*
 * Values are as in "perf timer 0..10000" or "64K..256G"; "1.." has no end. What they count is told by
 * `value`: SECONDS may have a fraction, BYTES one of K, M, G behind them; all others are digits.
 */

/* Of all verbs, and of programs that have none. */
#define COMMAND_LINE_ALL (~0u)

/* A section of options that are read, but neither listed nor completed, nor thought to be meant. */
#define COMMAND_LINE_HIDDEN (-1)

/* Rows that one verb has, at most. */
#define COMMAND_LINE_MOST 64

/* --- reading --- */

enum command_line_fault {
    COMMAND_LINE_FINE,
    COMMAND_LINE_UNKNOWN, /* no such option */
    COMMAND_LINE_LACKS,   /* its value is missing */
    COMMAND_LINE_EXCESS,  /* it takes no value, and was given one */
};

struct command_line {
    /* Set by command_line_begin; may be changed before the first word is read. */
    bool is_ended_by_word; /* the first that is no option ends them: a program whose words follow */
    bool has_whole_names;  /* beginnings of names do not stand for them */

    /* What was read last. */
    const struct command_option *option; /* null for an option that is unknown */
    const char *value;                   /* null if it takes none */
    enum command_line_fault fault;
    const char *word; /* with a fault: the word that was wrong, or "-x" of the letters in one */

    /* Behind the last option: the words that are none, up to the null pointer. */
    char **rest;

    const struct command_option *options;
    unsigned verbs;
    int count;
    char **words;
    char letter_word[3];
    char letters[2 * COMMAND_LINE_MOST + 3];
    struct option table[COMMAND_LINE_MOST + 1];
};

/* Begins with words[1]; the words are borrowed, may change places, and end with null. getopt_long
   is used, so one command line is read after the other. */
void command_line_begin(struct command_line *line, const struct command_option *options,
                        unsigned verbs, int count, char **words);

/* Reads one option, and leaves it or what is wrong with it in `line`. Returns false behind the
   last one. */
bool command_line_next(struct command_line *line);

/* Fails if something was wrong: "--smaples=9: unknown option (did you mean --samples?)". */
bool command_line_check(const struct command_line *line, struct failure *failure);

/* --- the table --- */

/* The first row of these verbs with that name, which need not end there, or that letter; null if
   there is none. */
const struct command_option *command_line_named(const struct command_option *options,
                                                unsigned verbs, const char *name, size_t length);
const struct command_option *command_line_lettered(const struct command_option *options,
                                                   unsigned verbs, char letter);

/* The name of these verbs that is nearly what was typed (support/nearest.h); null if none is. */
const char *command_line_nearest(const struct command_option *options, unsigned verbs,
                                 const char *name, size_t length);

/* The place of a word in row->values, from 0; -1 if it is not there. */
int command_line_find_value(const struct command_option *row, const char *word);

/* Reads a number in one of the ranges; false if it is none, or in none of them. */
bool command_line_number(const struct command_option *row, const char *word, double *number);

/* row->values for a message: "auto, prologue or copy", "a number from 0 to 10000, perf or no",
   "bytes from 1M to 4G". Text is its buffer, cut if it is too small. */
const char *command_line_list_values(const struct command_option *row, char *text, size_t size);

/* --- printing, on stdout --- */

/*
 * The options in a section of --help, in the order of the table, no line over 80 columns. Their
 * text begins in that column.
 *
 *        -o, --output=FOLDER     the recording (umbra.data)
 *        --in-place=no           use no namespaces: run files beside their
 *                                originals
 */
void command_line_print_help(const struct command_option *options, unsigned verbs, int section,
                             int column);

/* A text in lines up to 80 columns; the first was begun, up to that column, where the others
   begin. */
void command_line_print_text(const char *text, int column);

/*
 * For shells that complete: a line for each spelling of an option.
 *
 *      --output=<tab>FOLDER<tab>the recording (umbra.data)
 *      -o<tab>FOLDER<tab>the recording (umbra.data)
 *      --how=<tab>auto copy<tab>auto (default) copies bodies
 *      --quiet<tab>-<tab>no progress
 *
 * The second field is the words that it may be, FOLDER or FILE for paths, another word in capitals if
 * there are none, - if it takes no value. The third is one line.
 */
void command_line_print_options(const struct command_option *options, unsigned verbs);

#endif
