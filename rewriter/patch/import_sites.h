/*
 * Sites: six bytes of code that call or jump through the slot of an import, call [rip + slot] or
 * jmp [rip + slot]; elf_imports.h and pe_imports.h draw them, and what they are replaced by.
 */
#ifndef UMBRA_REWRITER_IMPORT_SITES_H
#define UMBRA_REWRITER_IMPORT_SITES_H

#include "rewriter/patch/patch_write.h"
#include "rewriter/patch/stub.h"

#define IMPORT_SITE_SIZE 6

/* The hooked import whose site this is, or null. */
const struct function *import_site_function(const struct function_list *functions,
                                            const struct slot_use *use);

/*
 * Notes the sites that are to be replaced where they stand, while the image is as it was read.
 * Without imports in the list of functions there is nothing to note or to replace.
 */
bool import_sites_note(struct change_list *changes, const struct function_list *functions,
                       const struct code *code, const struct code_map *map,
                       const struct patched_file *file, struct failure *failure);

/* Replaces the sites, once all functions are planned and have their stubs. */
void import_sites_redirect(const struct function_list *functions, const struct code *code,
                           const struct code_map *map, struct stub_segment *stubs,
                           const struct stub_moves *moves);

#endif
