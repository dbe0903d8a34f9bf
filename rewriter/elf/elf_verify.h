/*
 * Proving that an instrumented ELF image is its original but for what its manifest says, and
 * taking the instrumentation out again. The proof, in this order, so that what is wrong is named
 * as closely as can be:
 *
 *      image header, manifest     found, and agree with the file about addresses
 *      every hooked function      begins with the jump to its stub, the stub leads to the entry
 *                                 hook with the function's own number
 *      original                   put back what the manifest keeps: XXH3 and size are the
 * original's everything else            XXH3 of the whole file is the manifest's `seal`: what was
 * added and what stands in changed places is as it was written
 */
#ifndef UMBRA_REWRITER_ELF_VERIFY_H
#define UMBRA_REWRITER_ELF_VERIFY_H

#include "rewriter/input_file.h"
#include "rewriter/output_file.h"

#include <stddef.h>

struct verify_result {
    size_t functions, hooked, changes;
    uint64_t original_size, original_hash;
};

/* Changes input's bytes, as does elf_undo. */
bool elf_verify(struct input_file *input, struct verify_result *result, struct failure *failure);

/* Writes the original. */
bool elf_undo(struct input_file *input, struct output_file *output, struct failure *failure);

#endif
