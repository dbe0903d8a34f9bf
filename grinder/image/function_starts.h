/* Where the functions of an image that was not instrumented begin. */
#ifndef UMBRA_GRINDER_FUNCTION_STARTS_H
#define UMBRA_GRINDER_FUNCTION_STARTS_H

#include "grinder/image/image_file.h"

/*
 * A manifest that has nothing but functions, none of them hooked: those of an ELF file's symbols, and those
 * that .eh_frame_hdr has unwind information of, which stripped files keep. A function that neither knows
 * is part of the one before it. False, with nothing to free, if the file has no loaded code.
 */
bool function_starts_read(struct manifest *manifest, const struct image_file *image,
                          const struct loaded_ranges *ranges);

#endif
