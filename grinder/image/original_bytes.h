/* The original of an instrumented file (image/original.h). */
#ifndef UMBRA_GRINDER_ORIGINAL_BYTES_H
#define UMBRA_GRINDER_ORIGINAL_BYTES_H

#include <stdint.h>

#include "image/loaded_ranges.h"
#include "image/manifest.h"

struct original_bytes {
    uint8_t *bytes; /* null if it could not be put together: memory is as large as the file */
    struct loaded_ranges ranges;
};

/* Reads the original of the instrumented file at path, whose manifest that is (not loaded: null).
   The result has the hash that the manifest names, or is null. */
void original_bytes_read(struct original_bytes *original, const char *path,
                         const struct manifest *manifest);
/* A file that was not instrumented is its own original. */
void original_bytes_read_plain(struct original_bytes *original, const char *path);
void original_bytes_free(struct original_bytes *original);

/* size bytes that are loaded at rva; null if they are not known. Good until original is freed. */
const uint8_t *original_bytes_at(const struct original_bytes *original, uint32_t rva,
                                 uint64_t size);

#endif
