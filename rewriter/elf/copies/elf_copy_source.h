/* What an ELF image tells of functions that are to be copied (copy/). */
#ifndef UMBRA_REWRITER_ELF_COPY_SOURCE_H
#define UMBRA_REWRITER_ELF_COPY_SOURCE_H

#include "rewriter/copy/copy_source.h"
#include "rewriter/elf/code/elf_code.h"

/* Fills in an empty source but for `doubt`; copy_source_free ends it. */
void elf_copy_source(struct copy_source *source, const struct elf_code *elf,
                     const struct elf_image *image);

/* Why a member is not to be copied, as far as an ELF file knows. */
enum flow_doubt elf_copy_doubt(const struct elf_code *elf, const struct elf_image *image,
                               const struct function *function);

#endif
