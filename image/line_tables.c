#include "image/line_tables.h"

#include <stddef.h>
#include <string.h>

#define NO_FILE ((Dwarf_Unsigned)-1)

static bool is_of_gnu(Dwarf_Die unit)
{
    Dwarf_Error error = NULL;
    char *producer = NULL;

    return dwarf_die_text(unit, DW_AT_producer, &producer, &error) == DW_DLV_OK &&
           !strncmp(producer, "GNU ", 4);
}

/* What dwz made for several units: it names the line table of one of them, which has that read,
 * too. */
static bool is_partial(Dwarf_Die unit)
{
    Dwarf_Half tag = 0;
    Dwarf_Error error = NULL;

    return dwarf_tag(unit, &tag, &error) == DW_DLV_OK && tag == DW_TAG_partial_unit;
}

static void read_unit(struct line_tables *tables, Dwarf_Die unit)
{
    Dwarf_Unsigned version = 0;
    Dwarf_Small table_count = 0;
    Dwarf_Line_Context context = NULL;
    Dwarf_Line *rows = NULL;
    Dwarf_Signed count = 0;
    Dwarf_Error error = NULL;

    tables->unit = unit;
    tables->last_file = NO_FILE;
    if (is_partial(unit) || (tables->is_wanted && !tables->is_wanted(tables->context, unit)))
        return;
    if (dwarf_srclines_b(unit, &version, &table_count, &context, &error) != DW_DLV_OK)
        return;
    if (table_count &&
        dwarf_srclines_from_linecontext(context, &rows, &count, &error) == DW_DLV_OK) {
        tables->has_no_file_0 = version >= 5 && is_of_gnu(unit);
        tables->read(tables->context, rows, count);
    }
    dwarf_srclines_dealloc_b(context);
}

bool line_tables_read(struct line_tables *tables)
{
    Dwarf_Unsigned length, abbreviations, type_offset, next;
    Dwarf_Half version, address_size, offset_size, extension, unit_type;
    Dwarf_Sig8 signature;
    Dwarf_Error error = NULL;
    int status;

    while ((status = dwarf_next_cu_header_d(
                tables->debug, 1, &length, &version, &abbreviations, &address_size, &offset_size,
                &extension, &signature, &type_offset, &next, &unit_type, &error)) == DW_DLV_OK) {
        Dwarf_Die unit = NULL;

        if (dwarf_siblingof_b(tables->debug, NULL, 1, &unit, &error) != DW_DLV_OK)
            continue;
        read_unit(tables, unit);
        dwarf_dealloc(tables->debug, unit, DW_DLA_DIE);
    }
    return status == DW_DLV_NO_ENTRY;
}

/* The name of a file by its number in DWARF 5, asked of the unit; 0 if it has none. */
static uint32_t number_in_unit(const struct line_tables *tables, Dwarf_Signed file)
{
    Dwarf_Signed count = 0;
    Dwarf_Error error = NULL;
    char **names = NULL;
    uint32_t number = 0;

    if (dwarf_srcfiles(tables->unit, &names, &count, &error) != DW_DLV_OK)
        return 0;
    if (file < count)
        number = tables->number_of(tables->context, names[file]);
    for (Dwarf_Signed i = 0; i < count; i++)
        dwarf_dealloc(tables->debug, names[i], DW_DLA_STRING);
    dwarf_dealloc(tables->debug, names, DW_DLA_LIST);
    return number;
}

/* libdwarf 20210528 has rows of DWARF 5 begin with file 0, where the standard says 1. Compilers of
   GNU never name file 0 in a row; of others it cannot be told which one a row of file 0 is of. */
uint32_t line_tables_file(struct line_tables *tables, Dwarf_Line row)
{
    Dwarf_Unsigned file = 0;
    Dwarf_Error error = NULL;
    char *name = NULL;
    uint32_t number = 0;

    if (dwarf_line_srcfileno(row, &file, &error) != DW_DLV_OK)
        return 0;
    if (file == tables->last_file)
        return tables->last_number;
    if (!file && tables->has_no_file_0)
        number = number_in_unit(tables, 1);
    if (!number) {
        if (dwarf_linesrc(row, &name, &error) != DW_DLV_OK)
            return 0;
        number = tables->number_of(tables->context, name);
        dwarf_dealloc(tables->debug, name, DW_DLA_STRING);
    }
    tables->last_file = file;
    tables->last_number = number;
    return number;
}
