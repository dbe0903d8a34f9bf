/*
 * The PE32+ and PE32 file formats, as far as Umbra reads and writes them (Microsoft PE and COFF
 * Specification). Structures are those of PE32+; of PE32, with addresses of 32 bits, those whose names
 * end in _32, where they differ (image/pe_wide.h). Everything is little endian and may be unaligned in the file: copy it out.
 *
 *      0     +--------------------------+
 *            | MS-DOS header, stub      |  e_lfanew, at 0x3c
 *      lfanew+--------------------------+
 *            | "PE\0\0"                 |
 *            | pe_file_header           |  20 bytes
 *            | pe_optional_header       |  112 bytes; 96 in PE32
 *            | pe_directory [16]        |  8 bytes each; number_of_directories says how many
 *            | pe_section [n]           |  40 bytes each
 *            +--------------------------+  size_of_headers, a multiple of file_alignment
 *            | raw data of the sections |
 *            | COFF symbols, strings    |  mingw leaves them
 *            | overlay                  |  whatever else: installers keep archives there
 *            | certificates             |  PE_CERTIFICATES, by file offset
 *            +--------------------------+
 *
 * An RVA is an address less the image's base.
 */
#ifndef UMBRA_IMAGE_PE_FORMAT_H
#define UMBRA_IMAGE_PE_FORMAT_H

#include <stdint.h>

#define PE_DOS_SIZE          0x40
#define PE_DOS_LFANEW        0x3c
#define PE_SIGNATURE         0x00004550u /* "PE\0\0" */
#define PE_MAGIC_32          0x10b
#define PE_MAGIC_64          0x20b
#define PE_MACHINE_X86_64    0x8664
#define PE_MACHINE_I386      0x14c
#define PE_FILE_EXECUTABLE   0x0002
#define PE_RELOCS_STRIPPED   0x0001
#define PE_DYNAMIC_BASE      0x0040
#define PE_SUBSYSTEM_GUI     2
#define PE_SUBSYSTEM_CUI     3
#define PE_DIRECTORIES       16
#define PE_MAX_SECTIONS      96 /* what Windows loads */
#define PE_MIN_RAW_ALIGNMENT 512u

enum pe_directory_index {
    PE_EXPORTS,
    PE_IMPORTS,
    PE_RESOURCES,
    PE_EXCEPTIONS,
    PE_CERTIFICATES, /* a file offset */
    PE_RELOCATIONS,
    PE_DEBUG,
    PE_ARCHITECTURE,
    PE_GLOBAL_POINTER,
    PE_TLS,
    PE_LOAD_CONFIG,
    PE_BOUND_IMPORTS,
    PE_IMPORT_ADDRESSES,
    PE_DELAY_IMPORTS,
    PE_CLR,
};

struct pe_file_header {
    uint16_t machine;
    uint16_t section_count;
    uint32_t timestamp;
    uint32_t symbols; /* file offset of the COFF symbol table */
    uint32_t symbol_count;
    uint16_t optional_header_size;
    uint16_t characteristics;
};

struct pe_optional_header {
    uint16_t magic;
    uint8_t linker_version[2];
    uint32_t size_of_code, size_of_initialized_data, size_of_uninitialized_data;
    uint32_t entry, base_of_code;
    uint64_t image_base;
    uint32_t section_alignment, file_alignment;
    uint16_t versions[6];
    uint32_t win32_version;
    uint32_t size_of_image, size_of_headers, checksum;
    uint16_t subsystem, dll_characteristics;
    uint64_t stack_reserve, stack_commit, heap_reserve, heap_commit;
    uint32_t loader_flags, number_of_directories;
};

struct pe_optional_header_32 {
    uint16_t magic;
    uint8_t linker_version[2];
    uint32_t size_of_code, size_of_initialized_data, size_of_uninitialized_data;
    uint32_t entry, base_of_code, base_of_data;
    uint32_t image_base;
    uint32_t section_alignment, file_alignment;
    uint16_t versions[6];
    uint32_t win32_version;
    uint32_t size_of_image, size_of_headers, checksum;
    uint16_t subsystem, dll_characteristics;
    uint32_t stack_reserve, stack_commit, heap_reserve, heap_commit;
    uint32_t loader_flags, number_of_directories;
};

struct pe_directory {
    uint32_t rva, size;
};

enum pe_section_flags {
    PE_SECTION_CODE = 0x00000020,
    PE_SECTION_DATA = 0x00000040,
    PE_SECTION_NO_DATA = 0x00000080,
    PE_SECTION_DISCARD = 0x02000000,
    PE_SECTION_EXECUTE = 0x20000000,
    PE_SECTION_READ = 0x40000000,
    PE_SECTION_WRITE = 0x80000000,
};

struct pe_section {
    char name[8]; /* zero-padded, perhaps not terminated; or "/123", offset among the strings behind
                     the symbols */
    uint32_t virtual_size, rva;
    uint32_t raw_size, raw; /* file offset */
    uint32_t relocations, line_numbers;
    uint16_t relocation_count, line_number_count;
    uint32_t flags;
};

/* The list ends with one of zeros. */
struct pe_import {
    uint32_t lookup; /* RVA of entries, each an address's size, up to a zero: RVA of hint and name, or
                        ordinal, in whose highest bit is 1 */
    uint32_t timestamp, forwarder;
    uint32_t name;
    uint32_t slots; /* RVA of what the loader binds, one for each entry */
};
#define PE_IMPORT_BY_ORDINAL    (1ull << 63)
#define PE_IMPORT_BY_ORDINAL_32 (1u << 31)

struct pe_delay_import {
    uint32_t attributes; /* PE_DELAY_BY_RVA: all that follows are RVAs */
    uint32_t name, module, slots, lookup, bound, unload, timestamp;
};
#define PE_DELAY_BY_RVA 1

struct pe_exports {
    uint32_t flags, timestamp, version, name, first_ordinal;
    uint32_t address_count, name_count;
    uint32_t addresses; /* RVA of uint32_t [address_count], RVAs; 0 for none */
    uint32_t names;     /* RVA of uint32_t [name_count], RVAs */
    uint32_t ordinals;  /* RVA of uint16_t [name_count]: place among the addresses */
};

struct pe_tls {
    uint64_t data, data_end, index, callbacks; /* addresses */
    uint32_t zero_fill, flags;
};

struct pe_tls_32 {
    uint32_t data, data_end, index, callbacks; /* addresses */
    uint32_t zero_fill, flags;
};

/* Up to what is needed; its first field says how long it is. */
struct pe_load_config {
    uint32_t size;
    uint8_t before_guard[0x70 - 4];
    uint64_t guard_check, guard_dispatch; /* addresses of slots */
    uint64_t guard_functions, guard_function_count;
    uint32_t guard_flags; /* the four highest bits: bytes of an entry behind its RVA */
    uint8_t before_long_jumps[0xb0 - 0x94];
    uint64_t guard_long_jumps, guard_long_jump_count;
    uint8_t before_continuations[0x108 - 0xc0];
    uint64_t guard_continuations, guard_continuation_count;
};
#define PE_GUARD_ENTRY_SHIFT 28

struct pe_load_config_32 {
    uint32_t size;
    uint8_t before_handlers[0x40 - 4];
    uint32_t handlers, handler_count; /* address of RVAs: what may handle exceptions (SafeSEH) */
    uint32_t guard_check, guard_dispatch;
    uint32_t guard_functions, guard_function_count;
    uint32_t guard_flags;
    uint8_t before_long_jumps[0x70 - 0x5c];
    uint32_t guard_long_jumps, guard_long_jump_count;
    uint8_t before_continuations[0xa4 - 0x78];
    uint32_t guard_continuations, guard_continuation_count;
};

struct pe_debug {
    uint32_t flags, timestamp, version, type, size, rva, raw;
};
#define PE_DEBUG_CODEVIEW        2
#define PE_DEBUG_CHARACTERISTICS 20
#define PE_CET_COMPAT            1u          /* in its data's first word */
#define PE_CODEVIEW_PDB70        0x53445352u /* "RSDS" */
#define PE_BUILD_ID_SIZE         20          /* guid and age */

/* What PE_DEBUG_CODEVIEW leads to; the PDB's path follows, zero-terminated. */
struct pe_codeview {
    uint32_t signature; /* PE_CODEVIEW_PDB70 */
    uint8_t guid[16];
    uint32_t age;
};

/*
 * 18 bytes in the file. In an image, value is counted from the section's start. Behind the symbols
 * lie the longer names; their offsets count from the 4 bytes that hold the size of all of them.
 *
 *       0               8       12        14     16        17
 *      +---------------+-------+---------+------+---------+-------------+
 *      | name          | value | section | type | storage | auxiliaries |
 *      +---------------+-------+---------+------+---------+-------------+
 */
struct pe_symbol {
    union {
        char name[8];
        struct {
            uint32_t zero; /* if it is, the name is longer */
            uint32_t name_offset;
        };
    };
    uint32_t value;
    int16_t section; /* from 1 */
    uint16_t type;
    uint8_t storage;
    uint8_t auxiliaries; /* entries that follow and belong to it */
} __attribute__((packed));
#define PE_SYMBOL_FUNCTION 0x20 /* type */
#define PE_SYMBOL_EXTERNAL 2    /* storage */
#define PE_SYMBOL_STATIC   3
#define PE_SYMBOL_LABEL    6
#define PE_SYMBOL_WEAK     105

/* .pdata: one for each range of code that changes the stack pointer, ascending. */
struct pe_runtime_function {
    uint32_t start, end, unwind;
};

#define PE_RELOCATION_ABSOLUTE 0
#define PE_RELOCATION_32       3  /* HIGHLOW: PE32's */
#define PE_RELOCATION_64       10 /* DIR64: PE32+'s */

_Static_assert(sizeof(struct pe_file_header) == 20, "COFF header");
_Static_assert(sizeof(struct pe_optional_header) == 112, "optional header");
_Static_assert(sizeof(struct pe_optional_header_32) == 96, "optional header");
_Static_assert(sizeof(struct pe_section) == 40, "section header");
_Static_assert(sizeof(struct pe_symbol) == 18, "COFF symbol");
_Static_assert(sizeof(struct pe_load_config) == 0x118, "load configuration");
_Static_assert(sizeof(struct pe_load_config_32) == 0xac, "load configuration");
_Static_assert(sizeof(struct pe_exports) == 40, "export directory");
_Static_assert(sizeof(struct pe_import) == 20, "import directory entry");
_Static_assert(sizeof(struct pe_delay_import) == 32, "delay-import directory entry");
_Static_assert(sizeof(struct pe_codeview) == 24, "CodeView entry");
_Static_assert(sizeof(struct pe_debug) == 28, "debug directory entry");

#endif
