/* Finding the manifest in an ELF image that was instrumented before. */
#ifndef UMBRA_REWRITER_ELF_MANIFEST_H
#define UMBRA_REWRITER_ELF_MANIFEST_H

#include "rewriter/elf/elf_image.h"
#include "rewriter/verify_image.h"

/*
 * Looks for the image header in the writable segments, from the last one on, and follows it;
 * sections, which strip may have removed, are not needed.
 */
bool elf_manifest_find(struct manifest_place *place, const struct elf_image *image);
/* Finds it and reads it; manifest_free frees it. */
bool elf_manifest_read(struct manifest *manifest, const struct elf_image *image);
/* By any version, its manifest whole or not. */
bool elf_is_instrumented(const struct elf_image *image);

#endif
