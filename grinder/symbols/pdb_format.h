/*
 * The parts of a PDB that the grinder reads. Source: LLVM, "The PDB File Format"; Microsoft,
 * microsoft-pdb on GitHub (cvinfo.h, dbi.h, msf.cpp).
 *
 * A PDB is a file of files (MSF), in blocks that lie anywhere:
 *
 *      block 0         msf_header
 *      block_map       numbers of the directory's blocks
 *      directory       stream_count, size of each stream, numbers of each stream's blocks
 *      stream 1        pdb_info, then names of further streams; one is "/names", of strings
 *      stream 3        dbi_header
 *                        module_info of each object file, names behind it
 *                        …
 *                        numbers of further streams, the sixth is of the section headers
 *      symbols         symbol_record [], the public ones: dbi_header.symbols has its number
 *      a module's      uint32_t, symbol_record [], (C11), line_section []
 *
 * Records:
 *       0      2      4                              line_section      0      4      8
 *      +------+------+------------                                    +------+------+---------
 *      | size | kind | public_symbol, procedure …                     | kind | size | …
 *      +------+------+------------                                    +------+------+---------
 *      size counts from kind on                       size counts from … on; then up to 4
 */
#ifndef UMBRA_GRINDER_PDB_FORMAT_H
#define UMBRA_GRINDER_PDB_FORMAT_H

#include <stdint.h>

#define MSF_MAGIC                                                                                  \
    "Microsoft C/C++ MSF 7.00\r\n\x1a"                                                             \
    "DS\0\0"                      /* and a zero: 32 bytes */
#define MSF_NO_STREAM 0xffffffffu /* as a size */
#define PDB_NO_STREAM 0xffffu     /* as a number */
#define PDB_INFO      1
#define PDB_DBI       3
#define PDB_NAMES     0xeffeeffeu /* first word of "/names" */

struct msf_header {
    char magic[32];
    uint32_t block_size;
    uint32_t free_map;
    uint32_t block_count;
    uint32_t directory_size; /* bytes */
    uint32_t reserved;
    uint32_t block_map;
};

struct pdb_info {
    uint32_t version;
    uint32_t time;
    uint32_t age;
    uint8_t guid[16];
    uint32_t names_size; /* of the streams' names, which follow; then comes a hash table */
};

struct dbi_header {
    int32_t signature; /* -1 */
    uint32_t version;
    uint32_t age;
    uint16_t globals;
    uint16_t build;
    uint16_t publics;
    uint16_t dll_version;
    uint16_t symbols; /* number of their stream */
    uint16_t dll_build;
    /* Sizes of what follows, in this order but for the optional one, which is the last. */
    uint32_t modules_size;
    uint32_t contributions_size;
    uint32_t section_map_size;
    uint32_t sources_size;
    uint32_t type_servers_size;
    uint32_t type_server;
    uint32_t optional_size;
    uint32_t edit_and_continue_size;
    uint16_t flags;
    uint16_t machine;
    uint32_t padding;
};

#define DBI_SECTIONS 5 /* place of the section headers' stream among the optional ones */

/* Then two zero-terminated names, filled up to 4. */
struct module_info {
    uint32_t unused;
    uint32_t contribution[7];
    uint16_t flags;
    uint16_t stream;
    uint32_t symbols_size; /* the stream's first word included */
    uint32_t c11_size;
    uint32_t lines_size;
    uint16_t file_count;
    uint16_t padding;
    uint32_t unused1;
    uint32_t source;
    uint32_t pdb_path;
};

enum symbol_kind {
    SYMBOL_THUNK = 0x1102,
    SYMBOL_PUBLIC = 0x110e,
    SYMBOL_LOCAL_PROCEDURE = 0x110f,
    SYMBOL_PROCEDURE = 0x1110,
    SYMBOL_LOCAL_PROCEDURE_ID = 0x1146,
    SYMBOL_PROCEDURE_ID = 0x1147,
};

/* Where the name is, counted from the record's `size`, and what stands in front of it. */
struct public_symbol {
    uint16_t size, kind;
    uint32_t flags; /* PUBLIC_CODE, PUBLIC_FUNCTION */
    uint32_t offset;
    uint16_t section; /* from 1 */
} __attribute__((packed));

#define PUBLIC_CODE     1
#define PUBLIC_FUNCTION 2

struct procedure_symbol {
    uint16_t size, kind;
    uint32_t unused[7];
    uint32_t offset;
    uint16_t section;
    uint8_t flags;
} __attribute__((packed));

struct thunk_symbol {
    uint16_t size, kind;
    uint32_t unused[3];
    uint32_t offset;
    uint16_t section;
    uint16_t length;
    uint8_t ordinal;
} __attribute__((packed));

enum line_section_kind {
    SECTION_LINES = 0xf2,
    SECTION_FILES = 0xf4, /* file_checksum, each up to 4 */
};

struct line_section {
    uint32_t kind;
    uint32_t size;
};

/* Then line_block, each with its lines. */
struct lines_header {
    uint32_t offset; /* of the code, in its section */
    uint16_t section;
    uint16_t flags;
    uint32_t code_size;
};

struct line_block {
    uint32_t file; /* offset of its file_checksum */
    uint32_t count;
    uint32_t size; /* this header included */
};

struct line_entry {
    uint32_t offset; /* from lines_header.offset */
    uint32_t line;   /* low 24 bits */
};

#define LINE_MASK   0xffffffu
#define LINE_HIDDEN 0xfeefeeu /* code of no line, which a debugger steps over … */
#define LINE_NEVER  0xf00f00u /* … or never into */

struct file_checksum {
    uint32_t name; /* offset in the strings of "/names" */
    uint8_t size;  /* of the checksum that follows */
    uint8_t kind;
};

_Static_assert(sizeof(struct msf_header) == 56, "PDB format");
_Static_assert(sizeof(struct pdb_info) == 32, "PDB format");
_Static_assert(sizeof(struct dbi_header) == 64, "PDB format");
_Static_assert(sizeof(struct module_info) == 64, "PDB format");
_Static_assert(sizeof(struct public_symbol) == 14, "PDB format");
_Static_assert(sizeof(struct procedure_symbol) == 39, "PDB format");
_Static_assert(sizeof(struct thunk_symbol) == 25, "PDB format");
_Static_assert(sizeof(struct lines_header) == 12, "PDB format");

#endif
