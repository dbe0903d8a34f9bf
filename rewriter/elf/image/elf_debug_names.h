/*
 * Names of functions in a separate debug file, which is looked for as image/debug_file.h has it.
 * They are for people: to choose functions by, and to be listed. What becomes of a function does
 * not depend on them, so that an image is instrumented in the same way wherever the debug file is.
 */
#ifndef UMBRA_REWRITER_ELF_DEBUG_NAMES_H
#define UMBRA_REWRITER_ELF_DEBUG_NAMES_H

#include "rewriter/elf/image/elf_image.h"
#include "rewriter/functions/function_list.h"

/* {0}: not looked for. */
struct elf_debug_names {
    bool is_read;
    struct elf_table symbols, strings; /* owned; empty if there are none; of the image's class */
};

/* Once; does nothing when called again. */
void elf_debug_names_read(struct elf_debug_names *names, const struct elf_image *image);
void elf_debug_names_free(struct elf_debug_names *names);

/* To functions that have none. With may_add, adds what is not in the list. The names stay ours. */
void elf_debug_names_give(const struct elf_debug_names *names, struct function_list *functions,
                          bool may_add);

#endif
