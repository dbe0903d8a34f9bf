/*
 * The original of an instrumented file, put together again from that and its manifest
 * (image_manifest.h), and what hashes of its functions are worth: two builds of a program share
 * those of the functions whose bytes are the same, which is most only as long as nothing moved.
 *
 *      original_elf.c, original_pe.c   what differs by format
 */
#ifndef UMBRA_GRINDER_ORIGINAL_BYTES_H
#define UMBRA_GRINDER_ORIGINAL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/images.h"

/* Bytes of the file that are loaded: a segment or a section. */
struct original_part {
    uint64_t rva, offset, size;
};

struct original_bytes {
    uint8_t *bytes; /* null if it could not be put together: memory is as large as the file */
    uint64_t size;
    struct original_part *parts;
    size_t part_count;
};

/* The result has the hash that the manifest names, or is null. */
void original_bytes_read(struct original_bytes *original, const struct image *image);
void original_bytes_free(struct original_bytes *original);

/* size bytes that are loaded at rva; null if they are not known. Good until original is freed. */
const uint8_t *original_bytes_at(const struct original_bytes *original, uint32_t rva,
                                 uint64_t size);

/* XXH3 64 of the function at index in the manifest; 0 if its size is not known. */
uint64_t original_bytes_hash(const struct original_bytes *original, const struct image *image,
                             uint32_t index);

/* For the formats. original->bytes are the instrumented file's, as many as it takes; they are
   overwritten with the original's, and parts filled in. False: they do not fit each other. */
bool original_elf_restore(struct original_bytes *original, const struct image *image);
bool original_pe_restore(struct original_bytes *original, const struct image *image);

/* What the manifest calls changes. */
bool original_undo_changes(struct original_bytes *original, const struct image_manifest *manifest);
/* The functions' first bytes; where they lie, parts say. */
bool original_undo_patches(struct original_bytes *original, const struct image *image);
/* count bytes of the file lie at offset. */
bool original_has(const struct original_bytes *original, uint64_t offset, uint64_t count);

#endif
