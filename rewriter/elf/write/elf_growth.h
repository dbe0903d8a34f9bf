/*
 * Where the dynamic linker's tables and the program headers grow, each by a few entries: where they
 * are, if elf_room.h finds room there, or in the new segment. Decided before anything new has an
 * address.
 */
#ifndef UMBRA_REWRITER_ELF_GROWTH_H
#define UMBRA_REWRITER_ELF_GROWTH_H

#include "rewriter/elf/copies/elf_copy_exports.h"
#include "rewriter/elf/write/elf_room.h"
#include "rewriter/patch/change_list.h"

#define ELF_OVERWRITES 8

struct elf_growth {
    const struct elf_image *image;
    const struct elf_exports *exports;
    const char *agent; /* as the dynamic section is to name it; null: no table grows but headers */
    struct elf_span headers;                       /* with the new ones; address 0: they move */
    struct elf_span strings, symbols, relocations; /* of the original */
    uint64_t relative_size; /* of the relative relocations, with which the original's begin */
    size_t new_symbols;     /* that of the hook, and of copies */
    struct elf_room room;
    struct elf_overwrite {
        uint64_t address; /* of bytes of the original that a grown table takes */
        size_t offset;    /* of what they become, among all that is overwritten */
        size_t size;
    } overwrites[ELF_OVERWRITES];
    size_t overwrite_count;
    size_t overwritten; /* bytes of all */
};

/* Decides; headers: how many program headers there will be. Exports and agent must go on. */
void elf_growth_plan(struct elf_growth *growth, const struct elf_exports *exports,
                     const char *agent, size_t headers);

/* Whether an entry of the original's tables stays where it is. */
bool elf_relocation_is_in_place(const struct elf_growth *growth, size_t index);
bool elf_symbol_is_in_place(const struct elf_growth *growth);

/* Whether any of these bytes of the original is in the ELF header, or in what tables grow into. */
bool elf_growth_takes(const struct elf_growth *growth, uint64_t address, uint64_t size);

/* Notes what will be overwritten. */
bool elf_growth_note(const struct elf_growth *growth, struct change_list *changes,
                     struct failure *failure);

#endif
