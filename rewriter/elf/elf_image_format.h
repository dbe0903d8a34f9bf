/* ELF as a format of images. */
#ifndef UMBRA_REWRITER_ELF_IMAGE_FORMAT_H
#define UMBRA_REWRITER_ELF_IMAGE_FORMAT_H

#include "rewriter/format/image_format.h"

extern const struct image_format image_format_elf;

#endif
