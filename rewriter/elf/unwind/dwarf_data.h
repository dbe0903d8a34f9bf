/* Numbers as DWARF writes them, read from bytes that may end anywhere. */
#ifndef UMBRA_REWRITER_DWARF_DATA_H
#define UMBRA_REWRITER_DWARF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Once something did not fit, is_short is set and every further number is 0. */
struct dwarf_reader {
    const uint8_t *at, *end;
    bool is_short;
};

/* Skips; null if there are fewer bytes. */
static inline const uint8_t *dwarf_skip(struct dwarf_reader *reader, uint64_t size)
{
    const uint8_t *from = reader->at;

    if (reader->is_short || size > (uint64_t)(reader->end - reader->at)) {
        reader->is_short = true;
        return NULL;
    }
    reader->at += size;
    return from;
}

/* A number of so many bytes, eight at most. */
static inline uint64_t dwarf_fixed(struct dwarf_reader *reader, size_t size)
{
    const uint8_t *from = dwarf_skip(reader, size);
    uint64_t value = 0;

    if (from)
        memcpy(&value, from, size);
    return value;
}

uint64_t dwarf_uleb(struct dwarf_reader *reader);
int64_t dwarf_sleb(struct dwarf_reader *reader);

/* DW_EH_PE_: the low half says how a pointer is written, the high one what it is relative to. */
enum {
    DW_EH_PE_absptr = 0x00,
    DW_EH_PE_uleb128 = 0x01,
    DW_EH_PE_udata2 = 0x02,
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04,
    DW_EH_PE_sleb128 = 0x09,
    DW_EH_PE_sdata2 = 0x0a,
    DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_sdata8 = 0x0c,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30,
    DW_EH_PE_omit = 0xff,
};

/* An encoding with another in place of DW_EH_PE_absptr, which has the `word` bytes of an address. */
uint8_t dwarf_encoding(uint8_t encoding, size_t word);

/* `address` is that of the pointer itself. What is relative to other bases sets is_short. DW_EH_PE_absptr
   has 8 bytes: dwarf_encoding. */
uint64_t dwarf_pointer(struct dwarf_reader *reader, uint8_t encoding, uint64_t address);

#endif
