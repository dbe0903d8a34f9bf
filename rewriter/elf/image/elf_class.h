/*
 * What differs between the files of one machine and another: how wide their records are, how
 * relocations are numbered, which registers unwind information counts from. All else reads and
 * writes records in their wide form, Elf64_, whatever the file has:
 *
 *      file, class 32           memory            file, class 64
 *      Elf32_Sym   -- widen -->  Elf64_Sym  <--- as it is ---  Elf64_Sym
 *                  <- narrow --             ----------------->
 *
 * Elf32_Rel has no addend: it stands in the word that is relocated, see elf_relocation.
 */
#ifndef UMBRA_REWRITER_ELF_CLASS_H
#define UMBRA_REWRITER_ELF_CLASS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/code/processor.h"

/* What an ELF file consists of. */
enum elf_record {
    ELF_HEADER,
    ELF_SEGMENT,
    ELF_SECTION,
    ELF_DYNAMIC,
    ELF_SYMBOL,
    ELF_RELOCATION,
    ELF_RECORDS, /* how many kinds there are */
};

struct elf_record_layout;

struct elf_class {
    const struct processor *processor;
    uint16_t machine;         /* e_machine */
    uint8_t identity;         /* e_ident[EI_CLASS] */
    uint8_t word;             /* bytes of an address, and of what DT_RELR and DT_GNU_HASH consist of */
    uint64_t highest_address; /* where a segment may end */
    const struct elf_record_layout *records;
    bool has_addends; /* relocations hold theirs; else it is in the word that they relocate */
    bool counts_from_got; /* code has distances from the global offset table, not from itself */
    struct {
        int64_t table, size, entry_size, relative_count; /* tags of the dynamic section */
        uint32_t section;                                /* SHT_RELA or SHT_REL */
        uint32_t relative, irelative, slot, jump_slot, copy; /* types */
    } relocations;
    struct {
        uint16_t stack_pointer, frame_pointer, return_address; /* numbers in .eh_frame */
    } unwind;
};

extern const struct elf_class elf_class_x86_64, elf_class_i386;

/* The class of what begins with an ELF header; null if it is another machine's, or cut off. */
const struct elf_class *elf_class_of(const uint8_t *bytes, size_t size);

/* Bytes that a record takes in the file. */
size_t elf_record_size(const struct elf_class *class, enum elf_record kind);
/* Where a field of the wide form, given by its offset there, is in the file's form, which has it. */
size_t elf_record_field(const struct elf_class *class, enum elf_record kind, size_t wide);

/* From bytes of the file to the wide form, which `wide` points to, and back. What the file's form
   does not have reads as 0. */
void elf_record_read(const struct elf_class *class, enum elf_record kind, void *wide,
                     const uint8_t *bytes);
void elf_record_write(const struct elf_class *class, enum elf_record kind, const void *wide,
                      uint8_t *bytes);

/* An address, zero-extended. */
uint64_t elf_word_read(const struct elf_class *class, const uint8_t *bytes);
void elf_word_write(const struct elf_class *class, uint64_t word, uint8_t *bytes);

#endif
