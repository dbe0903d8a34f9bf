/* The headers of an instrumented PE image. */
#ifndef UMBRA_REWRITER_PE_HEADERS_H
#define UMBRA_REWRITER_PE_HEADERS_H

#include "rewriter/pe/pe_layout.h"

/* File offsets of the new sections, and of the end of the last. */
struct pe_files {
    uint32_t stubs, tables, header, end;
};

struct pe_files pe_headers_place(const struct pe_layout *layout);

/* Writes them into the image's bytes; the checksum becomes 0. */
void pe_headers_write(const struct pe_layout *layout, const struct pe_files *files);

/* Clears PE_CET_COMPAT. Code may hold the way to that bit, so this comes before any patch. */
void pe_shadow_stack_clear(const struct pe_image *image);

#endif
