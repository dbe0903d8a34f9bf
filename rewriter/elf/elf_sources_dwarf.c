/*
 * The child that reads line tables: unit by unit, row by row. The file of a function is that of
 * the first row at its first instruction.
 */
#include "rewriter/elf/elf_sources.h"

#include <limits.h>

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

struct search {
    struct filter *filter;
    const struct function_list *functions;
    uint32_t *rules;
    Dwarf_Debug debug;
    Dwarf_Unsigned last_file; /* in the unit at hand, and the rule that matches it */
    uint32_t last_rule;
};

static uint32_t rule_of_row(struct search *search, Dwarf_Line row)
{
    Dwarf_Unsigned file = 0;
    Dwarf_Error error = NULL;
    char *name = NULL;

    if (dwarf_line_srcfileno(row, &file, &error) != DW_DLV_OK)
        return 0;
    if (file == search->last_file)
        return search->last_rule;
    if (dwarf_linesrc(row, &name, &error) != DW_DLV_OK)
        return 0;
    search->last_file = file;
    search->last_rule = (uint32_t)filter_match_path(search->filter, FILTER_SOURCE, name);
    dwarf_dealloc(search->debug, name, DW_DLA_STRING);
    return search->last_rule;
}

static void read_rows(struct search *search, Dwarf_Line *rows, Dwarf_Signed count)
{
    Dwarf_Addr address = 0, previous = UINT64_MAX;
    Dwarf_Error error = NULL;

    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Bool is_end = 0;
        const struct function *function;

        if (dwarf_lineaddr(rows[i], &address, &error) != DW_DLV_OK ||
            dwarf_lineendsequence(rows[i], &is_end, &error) != DW_DLV_OK)
            return;
        if (is_end || address == previous) {
            previous = is_end ? UINT64_MAX : address;
            continue;
        }
        previous = address;
        function = function_list_at(search->functions, address);
        if (function)
            search->rules[function - search->functions->items] = rule_of_row(search, rows[i]);
    }
}

static void read_unit(struct search *search, Dwarf_Die unit)
{
    Dwarf_Unsigned version = 0;
    Dwarf_Small tables = 0;
    Dwarf_Line_Context context = NULL;
    Dwarf_Line *rows = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Error error = NULL;

    search->last_file = (Dwarf_Unsigned)-1;
    if (dwarf_srclines_b(unit, &version, &tables, &context, &error) != DW_DLV_OK)
        return;
    if (tables && dwarf_srclines_from_linecontext(context, &rows, &count, &error) == DW_DLV_OK)
        read_rows(search, rows, count);
    dwarf_srclines_dealloc_b(context);
}

void elf_sources_read(struct filter *filter, const char *path,
                      const struct function_list *functions, uint32_t *rules)
{
    struct search search = {.filter = filter, .functions = functions, .rules = rules};
    Dwarf_Unsigned length, abbreviations, type_offset, next;
    Dwarf_Half version, address_size, offset_size, extension, unit_type;
    Dwarf_Sig8 signature;
    Dwarf_Error error = NULL;
    char debug_file[PATH_MAX]; /* libdwarf follows the image's link to it */

    if (dwarf_init_path(path, debug_file, sizeof debug_file, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL,
                        NULL, &search.debug, NULL, 0, NULL, &error) != DW_DLV_OK)
        return;
    while (dwarf_next_cu_header_d(search.debug, 1, &length, &version, &abbreviations, &address_size,
                                  &offset_size, &extension, &signature, &type_offset, &next,
                                  &unit_type, &error) == DW_DLV_OK) {
        Dwarf_Die unit = NULL;

        if (dwarf_siblingof_b(search.debug, NULL, 1, &unit, &error) != DW_DLV_OK)
            continue;
        read_unit(&search, unit);
        dwarf_dealloc(search.debug, unit, DW_DLA_DIE);
    }
}
