/* The headers of a PE file for x86-64 or i386 that may say anything, each offset checked against its size;
   those of PE32 widened (pe_wide.h). */
#ifndef UMBRA_IMAGE_PE_HEADERS_H
#define UMBRA_IMAGE_PE_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

#include "image/pe_format.h"
#include "support/bounded_file.h"
#include "support/failure.h"

struct pe_headers {
    struct pe_file_header file;
    struct pe_optional_header optional;
    uint64_t directories; /* file offsets */
    uint64_t sections;
};

/* False, with a text without the path ("is not a PE file"). */
bool pe_headers_read(struct pe_headers *headers, const struct bounded_file *file,
                     struct failure *failure);

/* The sections' headers, file.section_count of them, to be freed; null if they are not in the
   file. */
struct pe_section *pe_sections_copy(const struct pe_headers *headers,
                                    const struct bounded_file *file);

/* Bytes of a section in the file; what is longer than the section in memory is not loaded. */
uint32_t pe_section_bytes(const struct pe_section *section);

#endif
