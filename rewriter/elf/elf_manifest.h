/* Finding the manifest in an ELF image that was instrumented before. */
#ifndef UMBRA_REWRITER_ELF_MANIFEST_H
#define UMBRA_REWRITER_ELF_MANIFEST_H

#include "rewriter/elf/elf_image.h"
#include "rewriter/manifest_reader.h"

/*
 * Looks for the image header at the end of address space, where the rewriter puts it, and follows
 * it; sections, which strip may have removed, are not needed. It is freed with manifest_free.
 */
bool elf_manifest_read(struct manifest *manifest, const struct elf_image *image);
bool elf_is_instrumented(const struct elf_image *image);

#endif
