/* What kind of ELF file something is. */
#ifndef UMBRA_REWRITER_ELF_KIND_H
#define UMBRA_REWRITER_ELF_KIND_H

#include <stddef.h>
#include <stdint.h>

#include "rewriter/format/image_kind.h"

enum image_kind elf_kind(uint8_t *bytes, size_t size);

#endif
