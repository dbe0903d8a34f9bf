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
    VERB_VERSION,
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
    int marks_blocks, no_calls;
    int overwrite, bundle, confined, no_verify, instrument_imports, poison, quiet;
    struct filter filter, times;
};

enum options_outcome options_read(struct options *options, int count, const char **arguments);
void options_free(struct options *options);

#endif
