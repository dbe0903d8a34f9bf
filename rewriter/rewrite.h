/* The two verbs of `instrument`. */
#ifndef UMBRA_REWRITER_REWRITE_H
#define UMBRA_REWRITER_REWRITE_H

#include "rewriter/failure.h"
#include "rewriter/filter.h"

#include <stddef.h>

struct rewrite_options {
    const char *input, *output;
    const char *agent; /* null: where it is installed */
    bool overwrite, bundle, no_verify;
    bool instrument_imports; /* calls to functions of other images, too */
    struct filter *filter; /* which of its rules match is noted there; may be null */
};

struct rewrite_result {
    size_t found, hooked;
    bool lost_signature; /* which the original had */
};

bool rewrite_file(const struct rewrite_options *options, struct rewrite_result *result,
                  struct failure *failure);

/*
 * Prints every function of an original or instrumented image, options->input, to standard output.
 * The filter is for an original: it says what would become of it.
 */
bool list_file(const struct rewrite_options *options, struct failure *failure);

#endif
