/*
 * The ranges of an image's file that are loaded: the load segments of an ELF image, the sections of
 * a PE image, as far as they lie in the file, which may say anything.
 *
 *      file      | headers | range 0      |  | range 1   | ...      offset, size
 *                          \             \   \          \
 *      memory      base ... | range 0      | ... | range 1   | ... end      rva: address - base
 */
#ifndef UMBRA_IMAGE_LOADED_RANGES_H
#define UMBRA_IMAGE_LOADED_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/bounded_file.h"

struct loaded_range {
    uint64_t rva, offset, size; /* offset + size is within the file; size is not 0 */
    bool is_writable, is_executable;
};

struct loaded_ranges {
    bool is_pe;
    uint16_t machine;           /* EM_X86_64, EM_386, … */
    uint64_t base, end;         /* addresses: preferred, and one past what is loaded */
    struct loaded_range *items; /* owned; ascending by rva */
    size_t count;
};

/* False, with nothing to free, if the headers are not in the file or are of another format. */
bool loaded_ranges_read(struct loaded_ranges *ranges, const struct bounded_file *file);
void loaded_ranges_free(struct loaded_ranges *ranges);

/* The range that has the byte at rva; null if none does. */
const struct loaded_range *loaded_range_at(const struct loaded_ranges *ranges, uint64_t rva);

/* Offset in the file of size bytes that are loaded at rva from one range; false if there are none
   such. */
bool loaded_ranges_find(const struct loaded_ranges *ranges, uint64_t rva, uint64_t size,
                        uint64_t *offset);

#endif
