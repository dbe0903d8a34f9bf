/*
 * A PE image made by hand, for tests: two sections, of code and of everything else.
 *
 *      file   RVA
 *      0      0        headers             0x400 bytes
 *      0x400  0x1000   .text               0x600: what pe_sample_code puts there, else int3
 *      0xa00  0x2000   .rdata              0x800:
 *             0x2000   .pdata's table      filled by pe_sample_unwind
 *             0x2200   unwind information
 *             0x2400   imports: KERNEL32.dll, Sleep by name and number 7; slots at 0x2480
 *             0x2500   base relocations    filled by pe_sample_relocate
 *             0x2600   debug directory     CodeView, and extended characteristics
 *             0x2700   free
 */
#ifndef UMBRA_REWRITER_PE_SAMPLE_H
#define UMBRA_REWRITER_PE_SAMPLE_H

#include <stddef.h>

#include "image/pe_format.h"

#define PE_SAMPLE_BASE  0x140000000ull
#define PE_SAMPLE_BASE_32 0x400000u
#define PE_SAMPLE_TEXT  0x1000u
#define PE_SAMPLE_DATA  0x2000u
#define PE_SAMPLE_SLOT  0x2480u /* of Sleep; that of number 7 follows */
#define PE_SAMPLE_FREE  0x2700u
#define PE_SAMPLE_BYTES 0x1200

struct pe_sample {
    uint8_t bytes[PE_SAMPLE_BYTES + 64]; /* room for an overlay */
    size_t size;
    uint32_t unwind; /* RVA of the next unwind information */
    uint16_t machine;
};

void pe_sample_init(struct pe_sample *sample);
/* The same for i386, PE32. */
void pe_sample_init_32(struct pe_sample *sample);
uint64_t pe_sample_base(const struct pe_sample *sample);

/* The bytes that are loaded at an RVA. */
uint8_t *pe_sample_at(struct pe_sample *sample, uint32_t rva);
void pe_sample_code(struct pe_sample *sample, uint32_t rva, const void *bytes, size_t size);
/* Adds to .pdata, by rising addresses: unwind information of that many bytes. */
void pe_sample_unwind(struct pe_sample *sample, uint32_t start, uint32_t end, const void *info,
                      size_t size);
/* Adds a base relocation for the address at an RVA of the code. */
void pe_sample_relocate(struct pe_sample *sample, uint32_t rva);

struct pe_file_header *pe_sample_file(struct pe_sample *sample);
/* Of PE32, only what lies at the same places is to be used: from section_alignment to dll_characteristics. */
struct pe_optional_header *pe_sample_header(struct pe_sample *sample);
struct pe_directory *pe_sample_directory(struct pe_sample *sample, enum pe_directory_index index);

#endif
