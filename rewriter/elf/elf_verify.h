/* Verifying and undoing instrumented ELF images: see rewriter/verify_image.h. */
#ifndef UMBRA_REWRITER_ELF_VERIFY_H
#define UMBRA_REWRITER_ELF_VERIFY_H

#include "rewriter/verify_image.h"

/* Each changes input's bytes. */
bool elf_verify(struct input_file *input, struct verify_result *result, struct failure *failure);

/* Writes the original. */
bool elf_undo(struct input_file *input, struct output_file *output, struct failure *failure);

#endif
