/* Functions and imports that are left alone for what they are called. */
#ifndef UMBRA_REWRITER_ELF_NAMES_H
#define UMBRA_REWRITER_ELF_NAMES_H

#include "rewriter/functions/patch_reason.h"

/* Why a function of that name is left alone, or PATCH_UNDECIDED. */
enum patch_reason elf_name_reason(const char *name);

/* Why an import of that name is left alone, or PATCH_UNDECIDED: as a function of that name, or since its
   calls are not like a call of a function, or it looks at its caller. */
enum patch_reason elf_import_reason(const char *name);

#endif
