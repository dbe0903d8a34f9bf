/* Giving an instrumented ELF image's original back, from the image and its manifest. */
#ifndef UMBRA_REWRITER_ELF_ORIGINAL_H
#define UMBRA_REWRITER_ELF_ORIGINAL_H

#include "rewriter/elf/elf_image.h"
#include "rewriter/manifest_reader.h"

/*
 * Puts the original's bytes back: afterwards the first original_size of image->bytes are the
 * original, and their XXH3 is original_hash; false if they are not. `path_of_original`, which may
 * be null, helps to say where the first difference is.
 */
bool elf_original_restore(const struct elf_image *image, const struct manifest *manifest,
                          const char *path_of_original, struct failure *failure);

#endif
