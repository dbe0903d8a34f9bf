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
    struct manifest_import *imports;     /* head.import_count */
    char *strings;                       /* the whole manifest: import->name is an offset in it */
};

/*
 * Copies the tables out; manifest_free frees them. False, with nothing to free, if the bytes hold
 * no manifest of this version. Afterwards the head's counts and sizes are true, and each function's
 * patch_size and change's size fits its `original`, and each import is of a function and has a
 * name; what else they refer to is not looked at.
 */
bool manifest_read(struct manifest *manifest, const uint8_t *bytes, size_t size);
/* Name of the import at that place among the functions; null if it is none. */
const char *manifest_import_name(const struct manifest *manifest, uint32_t function);
/* A string that the head names by its offset; null if it does not end within the manifest. */
const char *manifest_string(const struct manifest *manifest, uint32_t offset);
void manifest_free(struct manifest *manifest);

#endif
