/*
 * A PDB: its streams, and what leads to names and lines in them.
 *
 * No stream may be larger than the file, nor may all of them together: so what is read of a
 * damaged file is bounded by its size.
 */
#ifndef UMBRA_GRINDER_PDB_FILE_H
#define UMBRA_GRINDER_PDB_FILE_H

#include <stddef.h>

#include "grinder/symbols/pdb_format.h"
#include "image/pe_format.h"
#include "support/bounded_file.h"
#include "support/failure.h"

struct line_table;
struct symbol_table;

/* Bytes read of a stream; owned, with a zero behind them. */
struct pdb_stream {
    char *bytes; /* null if there are none */
    size_t size;
};

/* An object file of the program. */
struct pdb_module {
    uint16_t stream;
    uint32_t symbols_size;
    uint32_t lines_at, lines_size; /* in the stream */
};

struct pdb_file {
    struct bounded_file file;
    uint32_t block_size;
    uint32_t *directory;
    uint32_t stream_count;
    uint32_t *first_block; /* of each stream: place in the directory */
    struct pdb_info info;
    struct dbi_header dbi;
    struct pdb_module *modules;
    size_t module_count;
    uint32_t *section_rvas;
    size_t section_count;
    uint32_t names; /* number of the stream "/names"; 0 if there is none */
};

/* False: nothing is to be closed, and the text is without the path. */
bool pdb_open(struct pdb_file *pdb, const char *path, struct failure *failure);
void pdb_close(struct pdb_file *pdb);

/* Whether it was written with the image that says so. */
int pdb_belongs_to(const struct pdb_file *pdb, const struct pe_codeview *codeview);

struct pdb_stream pdb_stream_read(const struct pdb_file *pdb, uint32_t number);

/* The RVA of a place in a section, which is counted from 1; 0 if there is none. */
uint32_t pdb_rva(const struct pdb_file *pdb, uint32_t section, uint32_t offset);

/* Adds public functions and those of the modules (pdb_symbols.c). */
void pdb_symbols_add(struct symbol_table *table, const struct pdb_file *pdb, uint64_t image_base);

/* Finds lines of the table's addresses (pdb_lines.c). */
void pdb_lines_read(struct line_table *table, const struct pdb_file *pdb, uint64_t image_base);

#endif
