#include "grinder/symbols/die_ranges.h"

#include <stdlib.h>

#include "support/memory.h"

static void add(struct die_ranges *ranges, uint64_t low, uint64_t high)
{
    if (low <= 1 || low >= high)
        return;
    ranges->items =
        memory_grow(ranges->items, ranges->count, &ranges->room, sizeof(*ranges->items));
    ranges->items[ranges->count++] = (struct die_range){low, high};
}

/* .debug_ranges, up to DWARF 4. */
static void add_pairs(struct die_ranges *ranges, Dwarf_Debug debug, Dwarf_Die die, Dwarf_Off at,
                      uint64_t base)
{
    Dwarf_Ranges *pairs = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Unsigned size = 0;
    Dwarf_Off real_at = 0;
    Dwarf_Error error = NULL;

    if (dwarf_get_ranges_b(debug, at, die, &real_at, &pairs, &count, &size, &error) != DW_DLV_OK)
        return;
    for (Dwarf_Signed i = 0; i < count; i++) {
        if (pairs[i].dwr_type == DW_RANGES_END)
            break;
        if (pairs[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = pairs[i].dwr_addr2;
        else
            add(ranges, base + pairs[i].dwr_addr1, base + pairs[i].dwr_addr2);
    }
    dwarf_ranges_dealloc(debug, pairs, count);
}

/* .debug_rnglists, DWARF 5. */
static void add_list(struct die_ranges *ranges, Dwarf_Attribute list, Dwarf_Half form,
                     Dwarf_Unsigned value)
{
    Dwarf_Rnglists_Head head = NULL;
    Dwarf_Unsigned count = 0, at = 0;
    Dwarf_Error error = NULL;

    if (dwarf_rnglists_get_rle_head(list, form, value, &head, &count, &at, &error) != DW_DLV_OK)
        return;
    for (Dwarf_Unsigned i = 0; i < count; i++) {
        Dwarf_Unsigned raw_low = 0, raw_high = 0, low = 0, high = 0;
        Dwarf_Bool has_no_address = 0;
        unsigned size = 0, kind = DW_RLE_end_of_list;
        if (dwarf_get_rnglists_entry_fields_a(head, i, &size, &kind, &raw_low, &raw_high,
                                              &has_no_address, &low, &high, &error) != DW_DLV_OK)
            break;
        if (kind != DW_RLE_end_of_list && kind != DW_RLE_base_address &&
            kind != DW_RLE_base_addressx && !has_no_address)
            add(ranges, low, high);
    }
    dwarf_dealloc_rnglists_head(head);
}

static void add_listed(struct die_ranges *ranges, Dwarf_Debug debug, Dwarf_Die die,
                       Dwarf_Attribute list, uint64_t base)
{
    Dwarf_Half version = 0, offset_size = 0, form = 0;
    Dwarf_Unsigned value = 0;
    Dwarf_Error error = NULL;
    int status;

    if (dwarf_get_version_of_die(die, &version, &offset_size) != DW_DLV_OK ||
        dwarf_whatform(list, &form, &error) != DW_DLV_OK)
        return;
    if (form == DW_FORM_rnglistx)
        status = dwarf_formudata(list, &value, &error);
    else
        status = dwarf_global_formref(list, &value, &error);
    if (status != DW_DLV_OK)
        return;
    if (version >= 5)
        add_list(ranges, list, form, value);
    else
        add_pairs(ranges, debug, die, value, base);
}

bool die_ranges_read(struct die_ranges *ranges, Dwarf_Debug debug, Dwarf_Die die, uint64_t base)
{
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Attribute list = NULL;
    Dwarf_Error error = NULL;

    ranges->count = 0;
    if (dwarf_attr(die, DW_AT_ranges, &list, &error) == DW_DLV_OK) {
        add_listed(ranges, debug, die, list, base);
        dwarf_dealloc_attribute(list);
        return true;
    }
    if (dwarf_lowpc(die, &low, &error) != DW_DLV_OK ||
        dwarf_highpc_b(die, &high, &form, &class, &error) != DW_DLV_OK)
        return false;
    add(ranges, low, class == DW_FORM_CLASS_CONSTANT ? low + high : high);
    return true;
}

void die_ranges_free(struct die_ranges *ranges)
{
    free(ranges->items);
    *ranges = (struct die_ranges){0};
}

uint64_t die_ranges_base(Dwarf_Die unit)
{
    Dwarf_Addr low = 0;
    Dwarf_Error error = NULL;

    return dwarf_lowpc(unit, &low, &error) == DW_DLV_OK ? low : 0;
}
