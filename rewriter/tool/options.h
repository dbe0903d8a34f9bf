/* The command line of `instrument`. */
#ifndef UMBRA_REWRITER_OPTIONS_H
#define UMBRA_REWRITER_OPTIONS_H

#include "rewriter/format/rewrite_options.h"
#include "rewriter/functions/filter.h"

enum verb {
    VERB_REWRITE,
    VERB_LIST,
    VERB_VERIFY,
    VERB_UNDO,
    VERB_BISECT,
    VERB_HELP, /* from here on nothing is looked at */
    VERB_VERSION,
    VERB_PRINT_OPTIONS,
};

enum options_outcome {
    OPTIONS_FINE,
    OPTIONS_WRONG,      /* said on stderr */
    OPTIONS_UNREADABLE, /* a filter file: said on stderr */
};

struct options {
    enum verb verb;
    char *file;
    char *output, *agent;
    const char **command; /* --bisect: borrowed, ends with null */
    int summary, json;
    enum rewrite_how how;
    int result_fd; /* -1: none */
    uint64_t away; /* as in rewrite_options.h */
    char *original;
    int marks_blocks, counts_blocks, no_calls, counts_instructions;
    int unwinder; /* is_unwinder in rewrite_options.h */
    int overwrite, bundle, confined, no_verify, instrument_imports, poison, quiet;
    struct filter filter, times;
};

/* words[0] is the program; they end with null, and may change places. */
enum options_outcome options_read(struct options *options, int count, char **words);
void options_free(struct options *options);

/* On stdout: the page of --help; the options, as shells complete them (support/command_line.h). */
void options_show_help(void);
void options_print(void);

#endif
