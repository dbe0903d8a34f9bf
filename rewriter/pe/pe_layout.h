/* The parts of an instrumented PE image while it is put together; see pe_writer.h. */
#ifndef UMBRA_REWRITER_PE_LAYOUT_H
#define UMBRA_REWRITER_PE_LAYOUT_H

#include "rewriter/base/buffer.h"
#include "rewriter/patch/stub.h"
#include "rewriter/pe/pe_code.h"

/* Within .umbrar. */
struct pe_part {
    size_t offset, size;
};

struct pe_layout {
    const struct pe_image *image;
    struct stub_segment stubs;      /* .umbrax */
    struct buffer tables;           /* .umbrar */
    uint32_t stubs_rva, tables_rva; /* of the sections */
    uint32_t header_rva;            /* .umbraw, and the image_header at its start */
    struct pe_part imports, exceptions, relocations, manifest;
};

/* Appends the import directory, the agent first; to be called first. */
bool pe_imports_build(struct pe_layout *layout, const char *agent, struct failure *failure);
/* Sets the slot of entry_hook, once the header has its place. */
void pe_imports_bind(struct pe_layout *layout);

/* Appends .pdata with entries for the stubs; moves: where each function's instructions went. */
void pe_exceptions_build(struct pe_layout *layout, const struct pe_code *pe,
                         const struct stub_moves *moves);

#endif
