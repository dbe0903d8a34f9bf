/*
 * Images that are left whole, since something other than the program relies on their bytes. They
 * are known by what they contain, whatever they are called.
 */
#ifndef UMBRA_REWRITER_ELF_MARKS_H
#define UMBRA_REWRITER_ELF_MARKS_H

#include "rewriter/elf/image/elf_image.h"

/* What such an image is, and what relies on it: `found …` of a message; null if it is none. */
const char *elf_marks_find(const struct elf_image *image);

#endif
