/* Finding the manifest in a PE image that was instrumented before. */
#ifndef UMBRA_REWRITER_PE_MANIFEST_H
#define UMBRA_REWRITER_PE_MANIFEST_H

#include "rewriter/pe/pe_image.h"
#include "rewriter/verify_image.h"

/* Looks for the image header at the start of a writable section, by its content; follows it. */
bool pe_manifest_find(struct manifest_place *place, const struct pe_image *image);
/* Finds it and reads it; manifest_free frees it. */
bool pe_manifest_read(struct manifest *manifest, const struct pe_image *image);
/* By any version, its manifest whole or not. */
bool pe_is_instrumented(const struct pe_image *image);

#endif
