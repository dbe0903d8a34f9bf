/*
 * The parts of a PE32+ file that the grinder reads. Source: Microsoft, "PE Format".
 *
 *      0    "MZ" …
 *      60   offset of "PE\0\0"
 *           +------------------------+
 *           | "PE\0\0"               |
 *           | coff_header            |
 *           | pe_optional_header     |  header.optional_size bytes: the directories behind it
 *           |   pe_directory [count] |
 *           | pe_section_header []   |
 *           | …                      |
 *           | coff_symbol []         |  header.symbols; a symbol may be followed by others that
 *           |   size, strings …      |  tell more of it. Then names of more than eight bytes,
 *           +------------------------+  from the place of `size` on
 *
 * All integers are little endian. An RVA is an address less the image's base.
 */
#ifndef UMBRA_GRINDER_PE_FORMAT_H
#define UMBRA_GRINDER_PE_FORMAT_H

#include <stdint.h>

#define PE_OFFSET_AT      60
#define PE_SIGNATURE      0x00004550u /* "PE\0\0" */
#define PE_MACHINE_AMD64  0x8664
#define PE_MAGIC_PLUS     0x20b
#define PE_SECTION_CODE   0x20000000u /* memory may be executed */
#define PE_EXPORTS        0           /* directories */
#define PE_IMPORTS        1
#define PE_DEBUG          6
#define PE_DELAY_IMPORTS  13
#define PE_DEBUG_CODEVIEW 2
#define CODEVIEW_RSDS     0x53445352u /* "RSDS" */

struct coff_header {
    uint16_t machine;
    uint16_t section_count;
    uint32_t time;
    uint32_t symbols; /* offset in the file; 0 if there are none */
    uint32_t symbol_count;
    uint16_t optional_size;
    uint16_t flags;
};

struct pe_optional_header {
    uint16_t magic; /* PE_MAGIC_PLUS */
    uint8_t linker[2];
    uint32_t sizes[3];
    uint32_t entry;
    uint32_t code;
    uint64_t image_base;
    uint32_t section_alignment;
    uint32_t file_alignment;
    uint16_t versions[6];
    uint32_t reserved;
    uint32_t image_size;
    uint32_t headers_size;
    uint32_t checksum;
    uint16_t subsystem;
    uint16_t dll_flags;
    uint64_t stack_and_heap[4];
    uint32_t loader_flags;
    uint32_t directory_count;
};

struct pe_directory {
    uint32_t rva;
    uint32_t size;
};

struct pe_section_header {
    char name[8]; /* or "/123": offset in the strings behind the symbols */
    uint32_t virtual_size;
    uint32_t rva;
    uint32_t raw_size;
    uint32_t raw;
    uint32_t unused[2];
    uint16_t unused_counts[2];
    uint32_t flags;
};

/*
 *       0               8       12        14     16      17
 *      +---------------+-------+---------+------+-------+-----+
 *      | name          | value | section | type | class | aux |   name: eight bytes, or 0 and the
 *      +---------------+-------+---------+------+-------+-----+   offset of a longer one
 *
 * In an image, value is counted from the section's start.
 */
struct coff_symbol {
    union {
        char short_name[8];
        struct {
            uint32_t zero;
            uint32_t offset;
        };
    };
    uint32_t value;
    int16_t section; /* from 1 */
    uint16_t type;
    uint8_t class;
    uint8_t aux_count; /* entries that follow and belong to it */
} __attribute__((packed));

#define COFF_TYPE_FUNCTION  0x20
#define COFF_CLASS_EXTERNAL 2
#define COFF_CLASS_STATIC   3
#define COFF_CLASS_WEAK     105

struct pe_export_directory {
    uint32_t flags;
    uint32_t time;
    uint32_t version;
    uint32_t name;
    uint32_t ordinal_base;
    uint32_t address_count;
    uint32_t name_count;
    uint32_t addresses; /* RVA of uint32_t[address_count], RVAs; 0 for none */
    uint32_t names;     /* RVA of uint32_t[name_count], RVAs */
    uint32_t indexes;   /* RVA of uint16_t[name_count]: place among the addresses */
};

/* One a library, up to one without slots. */
struct pe_import_library {
    uint32_t lookup; /* RVA of uint64_t []: RVA of a hint and a name, or PE_BY_ORDINAL; 0 ends */
    uint32_t time;
    uint32_t forwarder;
    uint32_t name;  /* RVA */
    uint32_t slots; /* RVA of uint64_t [], which the loader fills */
};

#define PE_BY_ORDINAL (1ull << 63)

struct pe_delay_library {
    uint32_t flags; /* PE_DELAY_BY_RVA: what follows are RVAs */
    uint32_t name;
    uint32_t handle;
    uint32_t slots;
    uint32_t lookup;
    uint32_t unused[3];
};

#define PE_DELAY_BY_RVA 1

struct pe_debug_entry {
    uint32_t flags;
    uint32_t time;
    uint32_t version;
    uint32_t type;
    uint32_t size;
    uint32_t rva;
    uint32_t offset; /* in the file */
};

/* What PE_DEBUG_CODEVIEW leads to; the PDB's path follows, zero-terminated. */
struct pe_codeview {
    uint32_t signature; /* CODEVIEW_RSDS */
    uint8_t guid[16];
    uint32_t age;
};

_Static_assert(sizeof(struct coff_header) == 20, "PE format");
_Static_assert(sizeof(struct pe_optional_header) == 112, "PE format");
_Static_assert(sizeof(struct pe_section_header) == 40, "PE format");
_Static_assert(sizeof(struct coff_symbol) == 18, "PE format");
_Static_assert(sizeof(struct pe_export_directory) == 40, "PE format");
_Static_assert(sizeof(struct pe_import_library) == 20, "PE format");
_Static_assert(sizeof(struct pe_delay_library) == 32, "PE format");
_Static_assert(sizeof(struct pe_debug_entry) == 28, "PE format");
_Static_assert(sizeof(struct pe_codeview) == 24, "PE format");

#endif
