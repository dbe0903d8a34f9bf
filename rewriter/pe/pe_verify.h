/* Verifying and undoing instrumented PE images: see rewriter/verify_image.h. */
#ifndef UMBRA_REWRITER_PE_VERIFY_H
#define UMBRA_REWRITER_PE_VERIFY_H

#include "rewriter/verify_image.h"

/* Each changes input's bytes. */
bool pe_verify(struct input_file *input, struct verify_result *result, struct failure *failure);

/* Writes the original. */
bool pe_undo(struct input_file *input, struct output_file *output, struct failure *failure);

#endif
