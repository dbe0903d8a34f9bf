/* What an image is rewritten or listed with, and what came of it. */
#ifndef UMBRA_REWRITER_REWRITE_OPTIONS_H
#define UMBRA_REWRITER_REWRITE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/instrument_result.h"
#include "rewriter/functions/filter.h"

struct chosen_functions {
    const uint64_t *addresses; /* ascending */
    size_t count;
};

/* How calls come to be recorded: --how. */
enum rewrite_how {
    REWRITE_AUTO,     /* what is best for the format */
    REWRITE_PROLOGUE, /* by a jump in each function's prologue */
    REWRITE_COPY,     /* also in copies of the functions' bodies, by callers: docs/copies.md */
};

struct rewrite_options {
    const char *input, *output;
    int descriptor;    /* of input; 0: it is to be opened */
    const char *agent; /* null: where it is installed */
    bool overwrite, bundle, no_verify;
    bool as_summary, as_json;            /* --list */
    bool instrument_imports;             /* calls to functions of other images, too */
    enum rewrite_how how;
    uint64_t away; /* address of what is added, for a process that has mapped the original; 0: behind all else */
    bool is_unwinder; /* with that: what is hooked is how it finds unwind information, and nothing else */
    const char *original; /* what the image's path is, where that process is, and the manifest says; null: input's */
    bool marks_blocks;    /* that run: copy_blocks.h */
    bool counts_blocks;   /* how often each runs */
    bool counts_no_calls; /* with one of these */
    bool counts_instructions; /* of each context: copy_count.h */
    bool poison; /* overwrite the originals of copied bodies, for tests */
    struct filter *filter;               /* which of its rules match is noted there; may be null */
    struct filter *times; /* whose calls are each timed, its matches noted; may be null; ELF only */
    const struct chosen_functions *only; /* null: all that the filter lets pass */
};

struct rewrite_result {
    size_t found, hooked;
    size_t copied; /* of those hooked: their bodies, too */
    size_t unsafe; /* found, and left alone for want of a safe patch */
    enum instrument_reason reason; /* of what is not done */
    /* What the original had and the image written has not: */
    bool lost_signature;
    unsigned lost_rights; /* rewriter/base/rights.h */
};

#endif
