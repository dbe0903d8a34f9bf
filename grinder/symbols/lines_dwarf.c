/*
 * The child that reads DWARF (lines.h): compile unit by compile unit, row by row.
 *
 * A row of a line table says where the code of a line begins; it holds up to the next row of its
 * sequence. For rows (a, line 7), (b, line 8) every address of the list in [a, b) is in line 7.
 *
 * Where several rows begin at one address the last one holds, but for that address itself: there
 * the first one counts. At a function's entry that is the line where it is declared; the later
 * ones are statements that the compiler had no instructions left for, or moved up. Call sites are
 * never at the beginning of a row, as they are given by the last byte of the call. A spot has a
 * line of its own where the two differ: the instruction is that of the last row.
 *
 * A linker that drops a function leaves its line table, moved to address 0 (or 1): in a PIE that
 * would cover real functions at low addresses, so sequences that begin there do not count.
 *
 * What is inlined at the spots comes last (inlined_dwarf.h), as lines matter more.
 */
#include "grinder/symbols/lines.h"

#include <stdbool.h>
#include <stdlib.h>

#include "grinder/symbols/inlined_dwarf.h"
#include "grinder/symbols/lines_writer.h"
#include "image/line_tables.h"
#include "support/confinement.h"
#include "support/regular_file.h"

struct search {
    const struct line_table *table;
    unsigned char *found; /* by address: a line was written */
    struct lines_writer writer;
    struct line_tables tables;
    struct inlined_search inlined;
};

static uint32_t number_name(void *context, const char *name)
{
    return lines_writer_file(&((struct search *)context)->writer, name);
}

/* False if it cannot be told. */
static bool read_line(struct search *search, Dwarf_Line row, struct line *line)
{
    Dwarf_Unsigned number = 0;
    Dwarf_Error error = NULL;

    if (dwarf_lineno(row, &number, &error) != DW_DLV_OK)
        return false;
    line->file = line_tables_file(&search->tables, row);
    line->line = number > UINT32_MAX ? 0 : (uint32_t)number;
    return true;
}

/* The instruction of a spot is of the row `last`. */
static void write_lines(struct search *search, Dwarf_Line row, Dwarf_Line last, uint64_t from,
                        uint64_t to)
{
    const struct line_table *table = search->table;

    for (size_t i = line_table_first(table, from); i < table->count; i++) {
        struct line line;
        if (table->addresses[i] >= to)
            break;
        if (search->found[i] || !read_line(search, row, &line))
            continue;
        lines_writer_line(&search->writer, LINES_LINE, i, line);
        search->found[i] = 1;
        if (!table->is_spot || !table->is_spot[i])
            continue;
        inlined_search_add(&search->inlined, i);
        if (row != last && read_line(search, last, &line))
            lines_writer_line(&search->writer, LINES_SPOT, i, line);
    }
}

static void read_rows(void *context, Dwarf_Line *rows, Dwarf_Signed count)
{
    struct search *search = context;
    Dwarf_Line first = NULL; /* of the rows that begin at `from` */
    Dwarf_Line last = NULL;
    Dwarf_Addr from = 0;
    int dropped = 0;
    int at_start = 1;

    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Addr address = 0;
        Dwarf_Bool end = 0;
        Dwarf_Error error = NULL;
        if (dwarf_lineaddr(rows[i], &address, &error) != DW_DLV_OK ||
            dwarf_lineendsequence(rows[i], &end, &error) != DW_DLV_OK)
            return;
        if (at_start)
            dropped = address <= 1;
        if (first && !dropped && from < address) {
            write_lines(search, first, last, from, from + 1);
            write_lines(search, last, last, from + 1, address);
        }
        if (!first || from != address)
            first = rows[i];
        last = rows[i];
        if (end)
            first = NULL;
        from = address;
        at_start = end;
    }
}

/* Whether the list has an address in the unit, whose turn it is: known if the unit is one piece,
 * else assumed. */
static bool unit_may_matter(void *context, Dwarf_Die unit)
{
    struct search *search = context;
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Error error = NULL;
    size_t first;

    inlined_search_unit(&search->inlined, unit);
    if (dwarf_lowpc(unit, &low, &error) != DW_DLV_OK ||
        dwarf_highpc_b(unit, &high, &form, &class, &error) != DW_DLV_OK)
        return true;
    if (class == DW_FORM_CLASS_CONSTANT)
        high += low;
    first = line_table_first(search->table, low);
    return first < search->table->count && search->table->addresses[first] < high;
}

int lines_dwarf_write(const struct line_table *table, const char *path, int pipe)
{
    struct search *search = calloc(1, sizeof(*search));
    int fd = regular_file_open(path);
    Dwarf_Error error = NULL;
    bool is_read;

    if (!search || fd < 0)
        return EXIT_FAILURE;
    confine(pipe);
    search->table = table;
    search->writer.pipe = pipe;
    search->tables = (struct line_tables){.context = search,
                                          .is_wanted = unit_may_matter,
                                          .read = read_rows,
                                          .number_of = number_name};
    search->found = calloc(table->count ? table->count : 1, 1);
    if (!search->found)
        return EXIT_FAILURE;
    if (dwarf_init_b(fd, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, &search->tables.debug,
                     &error) != DW_DLV_OK)
        return EXIT_FAILURE;
    is_read = line_tables_read(&search->tables);
    if (is_read)
        lines_writer_done(&search->writer);
    if (!inlined_search_write(&search->inlined, search->tables.debug, table, &search->writer))
        is_read = false;
    lines_writer_flush(&search->writer);
    return is_read ? EXIT_SUCCESS : EXIT_FAILURE;
}
