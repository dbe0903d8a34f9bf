/*
 * The child that reads DWARF (lines.h): compile unit by compile unit, row by row.
 *
 * A row of a line table says where the code of a line begins; it holds up to the next row of its
 * sequence. For rows (a, line 7), (b, line 8) every address of the list in [a, b) is in line 7.
 *
 * Where several rows begin at one address the last one holds, but for that address itself: there
 * the first one counts. At a function's entry that is the line where it is declared; the later
 * ones are statements that the compiler had no instructions left for, or moved up. Call sites are
 * never at the beginning of a row, as they are given by the last byte of the call.
 *
 * A linker that drops a function leaves its line table, moved to address 0 (or 1): in a PIE that
 * would cover real functions at low addresses, so sequences that begin there do not count.
 */
#include "grinder/symbols/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/line_tables.h"
#include "support/confinement.h"
#include "support/regular_file.h"

struct search {
    const struct line_table *table;
    unsigned char *found; /* by address: a line was written */
    int pipe;
    uint32_t file_count; /* names written so far, 0 included */
    struct line_tables tables;
    /* File names, by their number; a name once written is not written again. */
    char **names;
    size_t names_room;
    unsigned char bytes[1 << 15];
    size_t filled;
};

static void flush(struct search *search)
{
    size_t done = 0;

    while (done < search->filled) {
        ssize_t count = write(search->pipe, search->bytes + done, search->filled - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            _exit(EXIT_FAILURE);
        done += (size_t)count;
    }
    search->filled = 0;
}

static void put(struct search *search, const void *bytes, size_t size)
{
    if (size > sizeof(search->bytes) - search->filled)
        flush(search);
    memcpy(search->bytes + search->filled, bytes, size);
    search->filled += size;
}

/* The number of a name; a new one is written. Most units repeat few names: the last ones are
   looked at first. */
static uint32_t number_name(void *context, const char *name)
{
    struct search *search = context;
    uint32_t length = (uint32_t)strnlen(name, LINES_MAX_NAME);
    unsigned char kind = LINES_FILE;

    if (!length)
        return 0;
    for (uint32_t i = search->file_count - 1; i > 0; i--)
        if (!strcmp(search->names[i], name))
            return i;
    if (search->file_count >= search->names_room) {
        search->names_room = search->names_room ? search->names_room * 2 : 64;
        search->names = realloc(search->names, search->names_room * sizeof(*search->names));
        if (!search->names)
            _exit(EXIT_FAILURE);
    }
    search->names[search->file_count] = strdup(name);
    if (!search->names[search->file_count])
        _exit(EXIT_FAILURE);
    put(search, &kind, 1);
    put(search, &length, sizeof(length));
    put(search, name, length);
    return search->file_count++;
}

static void write_lines(struct search *search, Dwarf_Line row, uint64_t from, uint64_t to)
{
    const struct line_table *table = search->table;
    unsigned char kind = LINES_LINE;
    Dwarf_Unsigned number = 0;
    Dwarf_Error error = NULL;

    for (size_t i = line_table_first(table, from); i < table->count; i++) {
        uint32_t words[3] = {(uint32_t)i};
        if (table->addresses[i] >= to)
            break;
        if (search->found[i] || dwarf_lineno(row, &number, &error) != DW_DLV_OK)
            continue;
        words[1] = line_tables_file(&search->tables, row);
        words[2] = number > UINT32_MAX ? 0 : (uint32_t)number;
        put(search, &kind, 1);
        put(search, words, sizeof(words));
        search->found[i] = 1;
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
            write_lines(search, first, from, from + 1);
            write_lines(search, last, from + 1, address);
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

/* Whether the list has an address in the unit: known if the unit is one piece, else assumed. */
static bool unit_may_matter(void *context, Dwarf_Die unit)
{
    const struct search *search = context;
    Dwarf_Addr low = 0, high = 0;
    Dwarf_Half form = 0;
    enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Error error = NULL;
    size_t first;

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
    search->pipe = pipe;
    search->file_count = 1;
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
    flush(search);
    return is_read ? EXIT_SUCCESS : EXIT_FAILURE;
}
