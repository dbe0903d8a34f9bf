#include "service/tool/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/utf8.h"

#define MOST_COLUMNS 16

/* Makes a string of the line's first field. Returns where its tab was, to be put back; null if the
 * field is the last one. */
static char *cut_field(char *line)
{
    char *tab = strchr(line, '\t');

    if (tab)
        *tab = 0;
    return tab;
}

static void make_plain(char *line)
{
    char *tab;

    for (; (tab = cut_field(line)); line = tab + 1) {
        utf8_sanitise(line);
        *tab = '\t';
    }
    utf8_sanitise(line);
}

bool table_add(struct table *table, const char *line)
{
    if (table->count == table->room) {
        size_t room = table->room ? 2 * table->room : 64;
        char **lines = realloc(table->lines, room * sizeof(*lines));
        if (!lines)
            return false;
        table->lines = lines;
        table->room = room;
    }
    table->lines[table->count] = strdup(line);
    if (!table->lines[table->count])
        return false;
    make_plain(table->lines[table->count++]);
    return true;
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->lines[i]);
    free(table->lines);
    *table = (struct table){0};
}

void table_field(const char *line, unsigned number, char *field, size_t size)
{
    size_t length;

    for (; number && line; number--) {
        line = strchr(line, '\t');
        line += line != NULL;
    }
    length = line ? strcspn(line, "\t") : 0;
    if (length >= size)
        length = size - 1;
    memcpy(field, line ? line : "", length);
    field[length] = 0;
}

const char *table_text(const struct table *table, const char *key)
{
    size_t length = strlen(key);

    for (size_t i = 0; i < table->count; i++) {
        const char *line = table->lines[i];

        if (!strncmp(line, key, length) && line[length] == '\t')
            return line + length + 1;
    }
    return NULL;
}

uint64_t table_number(const struct table *table, const char *key)
{
    const char *text = table_text(table, key);

    return text ? strtoull(text, NULL, 10) : 0;
}

/* Characters, as UTF-8 counts them. */
static int width_of(const char *text, size_t length)
{
    int width = 0;

    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static unsigned measure(const struct table *table, int widths[MOST_COLUMNS])
{
    unsigned columns = 0;

    for (size_t i = 0; i < table->count; i++) {
        const char *at = table->lines[i];
        for (unsigned column = 0; at && column < MOST_COLUMNS; column++) {
            size_t length = strcspn(at, "\t");
            if (width_of(at, length) > widths[column])
                widths[column] = width_of(at, length);
            columns = column + 1 > columns ? column + 1 : columns;
            at = at[length] ? at + length + 1 : NULL;
        }
    }
    return columns;
}

static bool is_listed(const char *names, const char *name)
{
    size_t length = strlen(name);

    for (; names; names = strchr(names, '\t') ? strchr(names, '\t') + 1 : NULL) {
        if (!strncmp(names, name, length) && (names[length] == '\t' || !names[length]))
            return true;
    }
    return false;
}

/* For programs, spreadsheets among them. */
static void print_cells(char *line)
{
    char *tab;

    for (; (tab = cut_field(line)); line = tab + 1) {
        utf8_write_cell(stdout, line);
        putchar('\t');
        *tab = '\t';
    }
    utf8_write_cell(stdout, line);
    putchar('\n');
}

/* The last one is not filled up: nobody wants blanks at the end. */
static void print_in_columns(const char *line, const int *widths, const bool *right,
                             unsigned columns)
{
    for (unsigned column = 0; column < columns; column++) {
        size_t length = strcspn(line, "\t");
        int blanks = widths[column] - width_of(line, length);
        if (right[column])
            printf("%*s%.*s", blanks, "", (int)length, line);
        else
            printf("%.*s%*s", (int)length, line, column + 1 < columns ? blanks : 0, "");
        fputs(column + 1 < columns ? "  " : "\n", stdout);
        line += length + (line[length] == '\t');
    }
}

void table_print(struct table *table, bool in_columns, const char *right)
{
    int widths[MOST_COLUMNS] = {0};
    bool is_right[MOST_COLUMNS] = {false};
    unsigned columns;
    char name[64];

    columns = measure(table, widths);
    for (unsigned column = 0; table->count && column < columns; column++) {
        table_field(table->lines[0], column, name, sizeof(name));
        is_right[column] = is_listed(right, name);
    }
    for (size_t i = 0; i < table->count; i++) {
        if (in_columns)
            print_in_columns(table->lines[i], widths, is_right, columns);
        else
            print_cells(table->lines[i]);
    }
}
