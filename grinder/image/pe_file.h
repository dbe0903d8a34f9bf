/* Sections and directories of a PE file for x86-64 or i386, each offset checked against its size. */
#ifndef UMBRA_GRINDER_PE_FILE_H
#define UMBRA_GRINDER_PE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/pe_format.h"
#include "support/bounded_file.h"
#include "support/failure.h"

struct symbol_table;

struct pe_file_section {
    const char *name;
    uint32_t rva;
    uint32_t size;   /* bytes in the file */
    uint32_t offset; /* there */
    int is_code;
};

struct pe_file {
    struct bounded_file file;
    struct pe_file_header header;
    uint64_t image_base;
    uint8_t word; /* bytes of an address */
    struct pe_directory directories[PE_DIRECTORIES]; /* zeroes where there is none */
    struct pe_file_section *sections;
    size_t section_count;
    char *strings; /* behind the symbols, zero-terminated, its size in front; null if none */
    uint32_t strings_size;
    char (*short_names)[9]; /* of the sections */
};

/* False, with a text without the path. Takes the file over, which pe_close closes, in either case.
 */
bool pe_open(struct pe_file *pe, struct bounded_file file, struct failure *failure);
void pe_close(struct pe_file *pe);

/* Null if there is none with contents in the file. */
const struct pe_file_section *pe_section_named(const struct pe_file *pe, const char *name);
/* The one that has the byte at rva in the file; null if there is none. */
const struct pe_file_section *pe_section_at(const struct pe_file *pe, uint32_t rva);

/* To be freed, with a zero behind them; null if they are not in the file. */
void *pe_section_read(const struct pe_file *pe, const struct pe_file_section *section);
void *pe_read(const struct pe_file *pe, uint32_t rva, uint32_t size);

/* Adds the functions of the COFF symbol table (coff_symbols.c), or of the export directory
   (pe_exports.c). A file without them, or with broken ones, adds none. */
void coff_symbols_add(struct symbol_table *table, const struct pe_file *pe);
void pe_exports_add(struct symbol_table *table, const struct pe_file *pe, const char *module);

/* Adds library!function for the slots of imports, which are no functions: calls go through them
   (pe_imports.c). */
void pe_imports_add(struct symbol_table *table, const struct pe_file *pe);

/* Says which PDB belongs to the image. 0, or -1 if the image names none. *path is to
   be freed. */
int pe_codeview_read(const struct pe_file *pe, struct pe_codeview *codeview, char **path);

#endif
