/*
 * Imports: functions of other images that this one calls. Whatever form the call has, it goes
 * through a slot of the global offset table, which the dynamic linker binds:
 *
 *      caller:   call  stub                e8 ........         lazy or bound at load time
 *      stub:     jmp   [rip + slot]        ff 25 ........      .plt, .plt.sec, .plt.got;
 *                                                              perhaps behind endbr64 or bnd
 *      caller:   call  [rip + slot]        ff 15 ........      -fno-plt
 *      caller:   jmp   [rip + slot]        ff 25 ........      -fno-plt, as a tail call
 *
 * The slot tells the import, so these are all one: six bytes that name the slot of an import,
 * a site. Each is replaced by a branch of six bytes to the import's own stub,
 *
 *      site:     call  import              67 e8 ........      the prefix means nothing here;
 *                jmp   import              67 e9 ........      linkers write the same
 *      ...
 *      import:   the frame of a stub, as trace/image_manifest.h draws it
 *      body:     jmp   [rip + slot]        ff 25 ........
 *
 * which is entered like a function: rsp at the return address, which is the original one. A slot
 * not yet bound leads back to the instruction behind the PLT stub's jump; that stays as it is.
 * A site that is displaced with a prologue is replaced in the stub it went to.
 *
 * An import is in the list of functions at the address of its slot. Two slots of one symbol
 * (.got and .got.plt) are two imports of the same name; a call passes through one of them. What is
 * not seen are calls through an address that was loaded first, `mov rbx, [rip + slot]; call rbx`:
 * the slot must keep the true address, as programs compare it.
 */
#ifndef UMBRA_REWRITER_ELF_IMPORTS_H
#define UMBRA_REWRITER_ELF_IMPORTS_H

#include "rewriter/code/code.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/patch/import_sites.h"

/* Adds to the functions each import that the swept code has a site of, undecided or with a reason.
 */
void elf_imports_add(struct function_list *functions, const struct code_map *map,
                     const struct elf_image *image);

#endif
