#include "rewriter/elf/unwind/dwarf_write.h"

enum {
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_ADVANCE_LOC = 0x40, /* and a distance below it */
};

void dwarf_put8(struct buffer *to, uint8_t value)
{
    buffer_append(to, &value, 1);
}

void dwarf_put32(struct buffer *to, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    buffer_append(to, &low, sizeof(low));
}

void dwarf_put_uleb(struct buffer *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        dwarf_put8(to, (uint8_t)(value | 0x80));
    dwarf_put8(to, (uint8_t)value);
}

size_t dwarf_pointer_size(uint8_t encoding)
{
    if (encoding & 0xf0 && (encoding & 0xf0) != DW_EH_PE_pcrel)
        return 0;
    switch (encoding & 0x0f) {
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return 4;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return 8;
    default:
        return 0;
    }
}

void dwarf_put_pointer(struct buffer *to, uint8_t encoding, uint64_t value, uint64_t here)
{
    uint64_t number = encoding & DW_EH_PE_pcrel ? value - here : value;

    buffer_append(to, &number, dwarf_pointer_size(encoding));
}

void dwarf_put_advance(struct buffer *to, uint64_t distance)
{
    if (distance == 0)
        return;
    if (distance < CFA_ADVANCE_LOC) {
        dwarf_put8(to, (uint8_t)(CFA_ADVANCE_LOC | distance));
    } else if (distance <= UINT8_MAX) {
        dwarf_put8(to, CFA_ADVANCE_LOC1);
        buffer_append(to, &distance, 1);
    } else if (distance <= UINT16_MAX) {
        dwarf_put8(to, CFA_ADVANCE_LOC2);
        buffer_append(to, &distance, 2);
    } else {
        dwarf_put8(to, CFA_ADVANCE_LOC4);
        dwarf_put32(to, distance);
    }
}
