/*
 * Putting an instrumented ELF image together. The original's bytes stay where they are; behind
 * them come three segments, at the end of the file and of the address space alike:
 *
 *      original            patched prologues; what elf_changes.c notes: ELF header, branches;
 *                          tables that grow where they are: elf_room.h
 *      (hole)              in a program whose program headers do not stay, up to the offset that
 *                          equals the address: kernels before 5.18 tell the loader where they are
 *                          by adding e_phoff to the load address
 *      RX   stubs, copies of bodies (docs/copies.md)
 *      R    program headers and dynamic tables as far as they do not stay,
 *           unwind information of the stubs, .eh_frame_hdr, manifest
 *      RW   .dynamic, image_header, the page of the hook word
 *      (not loaded)        .shstrtab, section headers
 *
 * Into a static executable the agent itself is put, between RW and what is not loaded, and its data
 * is preceded by pointers and thread-local storage: elf_embedding.h.
 *
 * .rela.dyn gets its new entry right behind the relative relocations, and the one that was there
 * goes to the end, so that the hook word is bound before an IRELATIVE relocation runs a resolver,
 * which may be hooked.
 */
#ifndef UMBRA_REWRITER_ELF_WRITER_H
#define UMBRA_REWRITER_ELF_WRITER_H

#include "rewriter/base/output_file.h"
#include "rewriter/copy/copy_plan.h"
#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/patch/patch_plan.h"

struct elf_writer_source {
    struct elf_image *image; /* its bytes are patched */
    struct elf_code *elf;    /* planned */
    const struct patch_plan *plan;
    const struct copy_plan *copies;
    const char *original_path;       /* absolute */
    const char *agent;               /* as the dynamic section is to name it */
    struct elf_embedding *embedding; /* the agent itself, for a static executable; else null */
    uint64_t away; /* where the new segments begin; 0: behind everything */
    uint64_t original_hash;
};

bool elf_write(const struct elf_writer_source *source, struct output_file *output,
               struct failure *failure);

#endif
