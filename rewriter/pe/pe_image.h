/*
 * Reading a PE image that may say anything: every offset, count and address is checked against the
 * file before it is followed. What is not there reads as empty; what contradicts itself is refused
 * by pe_image_read. Addresses are those of an image at its preferred base: base + RVA.
 */
#ifndef UMBRA_REWRITER_PE_IMAGE_H
#define UMBRA_REWRITER_PE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "image/pe_format.h"
#include "rewriter/code/processor.h"
#include "support/failure.h"

struct pe_image {
    const char *path; /* borrowed, for messages */
    uint8_t *bytes;   /* borrowed */
    size_t size;
    const struct processor *processor;           /* it is for */
    size_t nt;                                   /* file offset of the signature */
    size_t optional, directories, section_table; /* file offsets */
    struct pe_file_header file;
    struct pe_optional_header header;
    struct pe_directory directory[PE_DIRECTORIES]; /* zeros where the file has fewer */
    struct pe_section *sections;                   /* ascending by rva, none overlaps another;
                                                      in the file, only those without code may */
    size_t section_count;
    uint64_t base, end; /* addresses: preferred, and one past the last section's page */
};

/* A table within the file. */
struct pe_table {
    const uint8_t *bytes; /* unaligned; null if there is none */
    size_t count;         /* entries */
};

/* A program or library for x86-64 or i386. image->path is set. */
bool pe_image_read(struct pe_image *image, const char *path, uint8_t *bytes, size_t size,
                   struct failure *failure);
void pe_image_free(struct pe_image *image);

/* By its first bytes. */
bool pe_is_pe(const uint8_t *bytes, size_t size);
/* The machine it is for; 0 if it is no PE file, but for MS-DOS or the like. */
uint16_t pe_machine(const uint8_t *bytes, size_t size);

#define PE_FOUND_CLR                                                                               \
    "expected machine code, found a .NET program, which is compiled when it runs; use a profiler " \
    "for .NET"

/* Made by Go's linker; code for a virtual machine. */
bool pe_image_is_go(const struct pe_image *image);
bool pe_image_is_clr(const struct pe_image *image);
/* The same, of an image that may be none of ours. */
bool pe_has_clr_header(const uint8_t *bytes, size_t size);
/* Exports what the agent exports. */
bool pe_image_is_agent(const struct pe_image *image);
/* Refuses what cannot be instrumented: images instrumented before, Go programs, .NET. */
bool pe_image_require_supported(const struct pe_image *image, struct failure *failure);

/*
 * `size` bytes at an address or RVA, as far as a section takes them from the file; null otherwise.
 * pe_available says how many there are from that RVA on.
 */
uint8_t *pe_at(const struct pe_image *image, uint64_t address, uint64_t size);
uint8_t *pe_at_rva(const struct pe_image *image, uint32_t rva, uint64_t size);
uint64_t pe_available(const struct pe_image *image, uint32_t rva);
const struct pe_section *pe_section_at(const struct pe_image *image, uint32_t rva);
bool pe_is_executable(const struct pe_image *image, uint64_t address);
/* A pointer, as the image's data hold them, or an entry of that size. */
uint64_t pe_word(const struct pe_image *image, const uint8_t *bytes);
/* What is set in the entry of a lookup table that has a number instead of a name. */
uint64_t pe_import_by_ordinal(const struct pe_image *image);
bool pe_is_32(const struct pe_image *image);
/* A string; null if it does not end within its section. */
const char *pe_string(const struct pe_image *image, uint32_t rva);

/* The data of a directory: `count` entries of that size; empty if it lies outside the file. */
struct pe_table pe_directory_table(const struct pe_image *image, enum pe_directory_index index,
                                   size_t entry_size);

/* Where the sections' raw data ends in the file, and the COFF symbol table with its strings. */
uint64_t pe_raw_end(const struct pe_image *image);
struct pe_table pe_symbols(const struct pe_image *image);
/* Bytes, from the 4 of its size on. */
struct pe_table pe_symbol_strings(const struct pe_image *image);

/* The debug directory's first entry of that type; false if there is none. */
bool pe_debug_find(const struct pe_image *image, uint32_t type, struct pe_debug *entry);

/* The 4 bytes in which PE_CET_COMPAT is set; null if there are none. */
uint8_t *pe_shadow_stack_word(const struct pe_image *image);
/* GUID and age of its PDB. */
struct pe_table pe_build_id(const struct pe_image *image);

#endif
