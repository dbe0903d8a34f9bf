/* Reading a manifest from bytes that may say anything. */
#ifndef UMBRA_REWRITER_MANIFEST_READER_H
#define UMBRA_REWRITER_MANIFEST_READER_H

#include "trace/image_manifest.h"

#include <stdbool.h>
#include <stddef.h>

struct manifest {
    struct image_manifest head;
    struct manifest_function *functions; /* head.function_count */
    struct manifest_change *changes;     /* head.change_count */
};

/*
 * Copies the tables out; manifest_free frees them. False, with nothing to free, if the bytes hold
 * no manifest of this version. Afterwards the head's counts and sizes are true, and each function's
 * patch_size and change's size fits its `original`; what they refer to is not looked at.
 */
bool manifest_read(struct manifest *manifest, const uint8_t *bytes, size_t size);
void manifest_free(struct manifest *manifest);

#endif
