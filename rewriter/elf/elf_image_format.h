/* ELF as a format of images. */
#ifndef UMBRA_REWRITER_ELF_IMAGE_FORMAT_H
#define UMBRA_REWRITER_ELF_IMAGE_FORMAT_H

#include "rewriter/format/image_format.h"

extern const struct image_format image_format_elf;   /* of x86-64 */
extern const struct image_format image_format_elf32; /* of i386: prologues are hooked, bodies are not copied */

#endif
