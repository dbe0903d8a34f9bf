/*
 * The parts of an image's file that are loaded: the load segments of an ELF image, the sections of
 * a PE image, as far as they lie in the file, which may say anything.
 *
 *      file      | headers | part 0      |  | part 1   | ...      offset, size
 *                          \             \   \          \
 *      memory      base ... | part 0      | ... | part 1   | ... end      rva: address - base
 */
#ifndef UMBRA_IMAGE_PARTS_H
#define UMBRA_IMAGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/bounded_file.h"

struct image_part {
    uint64_t rva, offset, size; /* offset + size is within the file; size is not 0 */
    bool is_writable, is_executable;
};

struct image_parts {
    bool is_pe;
    uint64_t base, end;       /* addresses: preferred, and one past what is loaded */
    struct image_part *items; /* owned; ascending by rva */
    size_t count;
};

/* False, with nothing to free, if the headers are not in the file or are of another format. */
bool image_parts_read(struct image_parts *parts, const struct bounded_file *file);
void image_parts_free(struct image_parts *parts);

/* The part that has the byte at rva; null if none does. */
const struct image_part *image_part_at(const struct image_parts *parts, uint64_t rva);

/* Offset in the file of size bytes that are loaded at rva from one part; false if there are none
   such. */
bool image_parts_find(const struct image_parts *parts, uint64_t rva, uint64_t size,
                      uint64_t *offset);

#endif
