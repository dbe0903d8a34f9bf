/*
 * Reading an ELF image that may say anything: every offset, count and address is checked against
 * the file before it is followed. What is not there reads as empty; what contradicts itself is
 * refused by elf_image_read.
 *
 *      +------------------+
 *      | ELF header       |  e_phoff, e_shoff
 *      | program headers  |  PT_LOAD PT_DYNAMIC PT_GNU_EH_FRAME ...   copied to `segments`
 *      | ...              |
 *      | section headers  |  optional, in stripped-down files absent   copied to `sections`
 *      +------------------+
 *
 * Records are in their wide form here, whatever the file's class: elf_class.h.
 */
#ifndef UMBRA_REWRITER_ELF_IMAGE_H
#define UMBRA_REWRITER_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/elf/image/elf_class.h"
#include "support/failure.h"

struct elf_image {
    const char *path; /* borrowed, for messages */
    uint8_t *bytes;   /* borrowed */
    size_t size;
    const struct elf_class *class;
    Elf64_Ehdr header;
    Elf64_Phdr *segments;
    size_t segment_count;
    uint32_t *loads; /* indexes of the PT_LOAD segments that hold bytes; ascending by address */
    size_t load_count;
    Elf64_Shdr *sections; /* null if there are none or they do not fit the file */
    size_t section_count;
    const char *section_names; /* .shstrtab, within bytes */
    size_t section_names_size;
    Elf64_Dyn *dynamic; /* up to, not including, DT_NULL */
    size_t dynamic_count;
    size_t dynamic_segment; /* index of PT_DYNAMIC */
    uint64_t base;          /* lowest address of a PT_LOAD, rounded down to a page */
    uint64_t end;           /* one past the highest */
    size_t symbol_count;    /* entries of the dynamic symbol table, 0 if there is none */
};

/* Addresses; of something that is not there, size 0. */
struct elf_span {
    uint64_t address, size;
};

/* A table within the file. */
struct elf_table {
    const uint8_t *bytes; /* unaligned */
    size_t count;         /* entries, or bytes of a string table */
    const struct elf_image *image; /* of symbols and relocations: has the class, and addends */
};

/* A program or library for a machine that elf_class.h has, dynamically linked or not. image->path is set. */
bool elf_image_read(struct elf_image *image, const char *path, uint8_t *bytes, size_t size,
                    struct failure *failure);
void elf_image_free(struct elf_image *image);

/* A program that no dynamic linker loads, position-independent or not. */
bool elf_image_is_static(const struct elf_image *image);
/* Loaded with musl, as its interpreter or the libraries that it needs say. */
bool elf_image_is_of_musl(const struct elf_image *image);
/* Made by Go's linker. */
bool elf_image_is_go(const struct elf_image *image);

/* Refuses what cannot be instrumented: images instrumented before, Go programs. */
bool elf_image_require_supported(const struct elf_image *image, struct failure *failure);

/*
 * `size` bytes at an address, as far as a PT_LOAD takes them from the file; null otherwise.
 * elf_available says how many there are from that address on.
 */
uint8_t *elf_at(const struct elf_image *image, uint64_t address, uint64_t size);
uint64_t elf_available(const struct elf_image *image, uint64_t address);
bool elf_is_executable(const struct elf_image *image, uint64_t address);

/* First entry with that tag, or null. */
const Elf64_Dyn *elf_dynamic(const struct elf_image *image, int64_t tag);
uint64_t elf_dynamic_value(const struct elf_image *image, int64_t tag, uint64_t otherwise);
/* A string of the dynamic string table; null if it lies outside it or does not end in it. */
const char *elf_dynamic_string(const struct elf_image *image, uint64_t offset);

const Elf64_Phdr *elf_segment(const struct elf_image *image, uint32_t type);
const Elf64_Shdr *elf_section(const struct elf_image *image, const char *name);
const char *elf_section_name(const struct elf_image *image, const Elf64_Shdr *section);

/* Symbols: of the dynamic table, or of SHT_SYMTAB; strings as for elf_dynamic_string. */
struct elf_table elf_dynamic_symbols(const struct elf_image *image);
struct elf_table elf_static_symbols(const struct elf_image *image, struct elf_table *strings);
Elf64_Sym elf_symbol(struct elf_table symbols, size_t index);
const char *elf_string(struct elf_table strings, uint64_t offset);

/* .rela.dyn or .rel.dyn without what it shares with the PLT's relocations. */
struct elf_table elf_relocations(const struct elf_image *image);
struct elf_table elf_plt_relocations(const struct elf_image *image);
/* With its addend, wherever that is. One that has none there, as that of a slot, reads as 0. */
Elf64_Rela elf_relocation(struct elf_table relocations, size_t index);

/* Calls visit with the address of each pointer that DT_RELR has moved, until it returns false. */
bool elf_packed_visit(const struct elf_image *image, bool (*visit)(void *, uint64_t),
                      void *context);

/* Is there a note by that owner, of any type? */
bool elf_has_note(const struct elf_image *image, const char *owner);
/* Content of NT_GNU_BUILD_ID. */
struct elf_table elf_build_id(const struct elf_image *image);

#endif
