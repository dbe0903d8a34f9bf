#include "rewriter/elf/unwind/dwarf_data.h"

static uint64_t leb(struct dwarf_reader *reader, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)dwarf_fixed(reader, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && byte & 0x40)
        value |= ~0ull << shift;
    return value;
}

uint64_t dwarf_uleb(struct dwarf_reader *reader)
{
    return leb(reader, false);
}

int64_t dwarf_sleb(struct dwarf_reader *reader)
{
    return (int64_t)leb(reader, true);
}

static uint64_t pointer_value(struct dwarf_reader *reader, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return dwarf_fixed(reader, 8);
    case DW_EH_PE_uleb128:
        return dwarf_uleb(reader);
    case DW_EH_PE_sleb128:
        return (uint64_t)dwarf_sleb(reader);
    case DW_EH_PE_udata2:
        return dwarf_fixed(reader, 2);
    case DW_EH_PE_sdata2:
        return (uint64_t)(int16_t)dwarf_fixed(reader, 2);
    case DW_EH_PE_udata4:
        return dwarf_fixed(reader, 4);
    case DW_EH_PE_sdata4:
        return (uint64_t)(int32_t)dwarf_fixed(reader, 4);
    default:
        reader->is_short = true;
        return 0;
    }
}

/* What counts from somewhere may lie before it. */
uint8_t dwarf_encoding(uint8_t encoding, size_t word)
{
    if (word == 8 || encoding & 0x0f)
        return encoding;
    return encoding | (encoding & 0xf0 ? DW_EH_PE_sdata4 : DW_EH_PE_udata4);
}

uint64_t dwarf_pointer(struct dwarf_reader *reader, uint8_t encoding, uint64_t address)
{
    uint64_t value = pointer_value(reader, encoding);

    switch (encoding & 0xf0) {
    case 0:
        return value;
    case DW_EH_PE_pcrel:
        return value + address;
    default:
        reader->is_short = true;
        return 0;
    }
}
