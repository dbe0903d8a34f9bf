/* The dynamic linker's tables, each with a new entry. */
#ifndef UMBRA_REWRITER_ELF_GROW_H
#define UMBRA_REWRITER_ELF_GROW_H

#include "rewriter/elf/write/elf_layout.h"

/* Where the content of a table is put together: the original's where it stays as it is. */
uint8_t *elf_layout_table(const struct elf_layout *layout, uint64_t address);

/* Where an entry of the original's tables is now; and whether that is where it was. */
uint64_t elf_relocation_place(const struct elf_layout *layout, size_t index);
uint64_t elf_symbol_place(const struct elf_layout *layout, size_t index);
bool elf_relocation_is_in_place(const struct elf_layout *layout, size_t index);
bool elf_symbol_is_in_place(const struct elf_layout *layout);

/* Decides which tables grow where they are: see elf_room.h. */
void elf_tables_plan(struct elf_layout *layout, const char *agent);
/* Notes what these overwrite. */
bool elf_tables_note(struct elf_layout *layout, struct change_list *changes,
                     struct failure *failure);
/* Leaves room for the program headers at the start of `tables`, or finds it in the original. */
void elf_headers_build(struct elf_layout *layout);
/* Gives the dynamic tables each its new entry; what is copied for that goes to `tables`. */
void elf_tables_build(struct elf_layout *layout, const char *agent);
/* Sets the relocation of the hook word, once that has its address. */
void elf_tables_bind(struct elf_layout *layout);
/* Overwrites what was noted, last of all. */
void elf_tables_store(const struct elf_layout *layout);

#endif
