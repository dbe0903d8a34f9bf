/*
 * Instrumenting a whole tree of files: every ELF program and library for this machine below a
 * directory, told by content; everything else is kept: other files, symbolic and hard links,
 * permissions, times. What cannot be instrumented is copied as it is, and named with its reason on
 * stderr. The new tree appears whole or not at all.
 */
#ifndef UMBRA_REWRITER_TREE_H
#define UMBRA_REWRITER_TREE_H

#include "rewriter/format/rewrite_options.h"
#include "support/failure.h"

struct tree_result {
    size_t files; /* regular files in the tree, each counted once however many links it has */
    size_t instrumented;
    size_t refused; /* ELF programs and libraries that were copied instead; of these: */
    size_t is_go, is_instrumented, other_machine, no_functions;
    size_t omitted;       /* sockets, pipes and devices */
    size_t unsafe;        /* functions left alone for want of a safe patch, */
    size_t copied;        /* bodies of hooked ones, */
    size_t found, hooked; /* and all, of all instrumented files */
};

/*
 * options->input and output are directories; with options->overwrite, output is replaced as a
 * whole. Fails, and leaves nothing behind, if no file could be instrumented.
 */
bool rewrite_tree(const struct rewrite_options *options, struct tree_result *result,
                  struct failure *failure);

#endif
