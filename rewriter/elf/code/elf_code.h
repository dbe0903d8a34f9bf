/* What an ELF image says about its code: where it lies, and where functions may begin. */
#ifndef UMBRA_REWRITER_ELF_CODE_H
#define UMBRA_REWRITER_ELF_CODE_H

#include "rewriter/code/code.h"
#include "rewriter/elf/code/elf_generated.h"
#include "rewriter/elf/code/elf_memory_lock.h"
#include "rewriter/elf/code/elf_probes.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/unwind/cfi.h"

struct elf_code {
    const struct elf_class *class; /* of the image */
    struct code code;
    struct code_map map;
    struct function_list functions; /* ascending, each with its reason or undecided */
    struct eh_frame frame;
    struct elf_span generated; /* elf_generated.h */
    struct elf_memory_locks locks;
    struct elf_probes probes;
    struct cfi_cursor cursor; /* of the function being swept */
    const struct fde *fde;    /* null if it has none */
    uint64_t swept;           /* its address */
};

struct elf_code_options {
    bool instrument_imports;
};

/* Finds and classifies the functions of an image; every later step is format-neutral. */
void elf_code_read(struct elf_code *elf, const struct elf_image *image,
                   const struct elf_code_options *options);
/* Functions with a name only, not classified. */
void elf_names_read(struct elf_code *elf, const struct elf_image *image);
void elf_code_free(struct elf_code *elf);

#endif
