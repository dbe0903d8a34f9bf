/*
 * Calls from code that a code generator made, in the image (rewriter/elf/elf_generated.h) or at run
 * time. In a process that has such an image they pass: the return address is read by others. Others
 * pay nothing. The hot path never sees these calls, as they get no context.
 */
#ifndef UMBRA_HOOKS_GENERATED_H
#define UMBRA_HOOKS_GENERATED_H

#include <stdbool.h>

#include "trace/image_manifest.h"

/* An image is registered. Under the guard. */
void generated_note(const struct image_header *image);

/* Whether this return address leads to such code. Without the guard. */
bool generated_is_caller(uint64_t site);

#endif
