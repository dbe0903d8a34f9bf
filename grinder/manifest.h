/* The manifest in an instrumented file: trace/image_manifest.h draws it. */
#ifndef UMBRA_GRINDER_MANIFEST_H
#define UMBRA_GRINDER_MANIFEST_H

#include "grinder/image_file.h"
#include "trace/image_manifest.h"

struct manifest {
    struct image_manifest *bytes; /* owned; null if not loaded */
    const struct manifest_function *functions;
    uint32_t function_count;
    const struct manifest_import *imports;
    uint32_t import_count;
    uint32_t hooked;
};

/* 0, or -1 with *why set to a static text. */
int manifest_load(struct manifest *manifest, const struct image_file *image, const char **why);
/* Name of the import at that place among the functions; null if it is none. */
const char *manifest_import_name(const struct manifest *manifest, uint32_t function);
/* Path of the file that was instrumented; null if the manifest has none. */
const char *manifest_original_path(const struct manifest *manifest);
void manifest_free(struct manifest *manifest);

#endif
