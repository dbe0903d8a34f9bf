/*
 * Proving that an instrumented image is its original but for what its manifest says, and taking
 * the instrumentation out again. The proof, in this order, so that what is wrong is named as
 * closely as can be:
 *
 *      image header, manifest     found, and agree with the file about addresses
 *      every hooked function      begins with the jump to its stub, the stub leads to the entry
 *                                 hook with the function's own number
 *      every copy                 is executable code behind the original
 *      original                   put back what the manifest keeps: XXH3 and size are the
 *                                 original's
 *      everything else            XXH3 of the whole file is the manifest's `seal`: what was
 *                                 added and what stands in changed places is as it was written
 *
 * A format refuses what is no image of its own first.
 */
#ifndef UMBRA_REWRITER_VERIFY_IMAGE_H
#define UMBRA_REWRITER_VERIFY_IMAGE_H

#include "image/loaded_ranges.h"
#include "image/manifest.h"
#include "rewriter/base/input_file.h"
#include "rewriter/base/output_file.h"
#include "rewriter/code/processor.h"

struct verify_result {
    size_t functions, hooked, copied, changes;
    uint64_t original_size, original_hash;
};

/* An instrumented image. Its bytes are changed. */
struct instrumented {
    const struct processor *processor;
    const char *path;
    uint8_t *bytes;
    size_t size;
    struct loaded_ranges ranges;
    struct manifest_place place;
    struct manifest manifest;
};

/* Reads the manifest; false, with the reason and nothing to close, if there is none or it is not
   whole. */
bool instrumented_open(struct instrumented *instrumented, const struct processor *processor,
                       const struct input_file *input, struct failure *failure);
void instrumented_close(struct instrumented *instrumented);

bool instrumented_verify(struct instrumented *instrumented, struct verify_result *result,
                         struct failure *failure);
/* Writes the original. */
bool instrumented_undo(struct instrumented *instrumented, struct output_file *output,
                       struct failure *failure);

#endif
