/* The dynamic linker's tables and the program headers with their new entries: copied, or grown. */
#ifndef UMBRA_REWRITER_ELF_GROWN_H
#define UMBRA_REWRITER_ELF_GROWN_H

#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/write/elf_growth.h"
#include "rewriter/elf/write/elf_new_segments.h"

/* elf_grown_free ends it. */
struct elf_grown {
    const struct elf_growth *growth;
    struct elf_new_segment *segment; /* has what was copied */
    struct buffer overwriting;       /* what takes bytes of the original, once it is stored */
    struct elf_moves moves;
    /* Wherever they are; size 0 of what is as it was. */
    struct elf_span headers, strings, symbols, versions, hash, gnu_hash, relocations;
    uint64_t hook_relocation;       /* address of the entry for the hook word */
    uint64_t agent_name, hook_name; /* offsets in the strings */
};

/*
 * Leaves room for the program headers, at the start of the empty segment or in the original, and
 * gives the dynamic tables each its new entry; what is copied for that goes to the segment. Both
 * pointers must go on. The copies have their addresses.
 */
void elf_grown_build(struct elf_grown *grown, const struct elf_growth *growth,
                     struct elf_new_segment *segment, const struct copy_set *copies);
void elf_grown_free(struct elf_grown *grown);

/* Where the content of a table is put together: the original's where it stays as it is. */
uint8_t *elf_grown_at(const struct elf_grown *grown, uint64_t address);

/* Where an entry of the original's tables is now. */
uint64_t elf_relocation_place(const struct elf_grown *grown, size_t index);
uint64_t elf_symbol_place(const struct elf_grown *grown, size_t index);

/* Sets the relocation of the hook word, which is at that address. */
void elf_grown_bind(const struct elf_grown *grown, uint64_t hook);
/* Overwrites what was noted, last of all. */
void elf_grown_store(const struct elf_grown *grown);

#endif
