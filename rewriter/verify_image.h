/*
 * Proving that an instrumented image is its original but for what its manifest says, and taking
 * the instrumentation out again. The proof, in this order, so that what is wrong is named as
 * closely as can be:
 *
 *      image header, manifest     found, and agree with the file about addresses
 *      every hooked function      begins with the jump to its stub, the stub leads to the entry
 *                                 hook with the function's own number
 *      original                   put back what the manifest keeps: XXH3 and size are the
 *                                 original's
 *      everything else            XXH3 of the whole file is the manifest's `seal`: what was
 *                                 added and what stands in changed places is as it was written
 *
 * A format opens the image and says where its bytes are.
 */
#ifndef UMBRA_REWRITER_VERIFY_IMAGE_H
#define UMBRA_REWRITER_VERIFY_IMAGE_H

#include "rewriter/input_file.h"
#include "rewriter/manifest_reader.h"
#include "rewriter/output_file.h"

struct verify_result {
    size_t functions, hooked, changes;
    uint64_t original_size, original_hash;
};

/* Where a manifest is. */
struct manifest_place {
    struct image_header header;
    const uint8_t *bytes; /* of the manifest, within the image */
    size_t room;          /* from there to the end of what is loaded with it */
};

/* An instrumented image. Its bytes are changed. */
struct instrumented {
    const char *path;
    uint8_t *bytes;
    size_t size;
    uint64_t base, end; /* addresses */
    struct manifest_place place;
    struct manifest manifest;
    uint64_t growth_limit; /* of `growth` */
    void *image;           /* of the format, for the functions */
    /* `size` bytes at an address, or null. */
    uint8_t *(*at)(void *image, uint64_t address, uint64_t size);
    bool (*is_executable)(void *image, uint64_t address);
    /*
     * Bytes by which the headers grew, and where in the file; called once the headers are those of
     * the original again. Null if the format never moves what is behind its headers.
     */
    uint64_t (*growth)(void *image, uint64_t *offset);
};

/* Reads the manifest at the place, if one was found; false, with the reason, if there is none or it
   is not whole. */
bool instrumented_read(struct instrumented *instrumented, bool is_found, struct failure *failure);

bool instrumented_verify(struct instrumented *instrumented, struct verify_result *result,
                         struct failure *failure);
/* Writes the original. */
bool instrumented_undo(struct instrumented *instrumented, struct output_file *output,
                       struct failure *failure);

/* Makes the image's first bytes the original; false, with the reason, if they do not become it. */
bool original_restore(struct instrumented *instrumented, struct failure *failure);

#endif
