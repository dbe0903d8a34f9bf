/*
 * The line tables in an image's DWARF, unit by unit. libdwarf may crash or hang on a hostile file:
 * to be used in a child process.
 */
#ifndef UMBRA_IMAGE_LINE_TABLES_H
#define UMBRA_IMAGE_LINE_TABLES_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stdint.h>

struct line_tables {
    Dwarf_Debug debug; /* open */
    void *context;     /* of the functions */
    /* Null: all units are. */
    bool (*is_wanted)(void *context, Dwarf_Die unit);
    /* The rows of a unit that is. */
    void (*read)(void *context, Dwarf_Line *rows, Dwarf_Signed count);
    /* What line_tables_file returns for that file. */
    uint32_t (*number_of)(void *context, const char *file);
    Dwarf_Die unit;     /* at hand */
    bool has_no_file_0; /* among its rows, whatever libdwarf says */
    /* The file of the unit at hand that was asked for last, and its number. */
    Dwarf_Unsigned last_file;
    uint32_t last_number;
};

/* False if the units could not be read to their end. */
bool line_tables_read(struct line_tables *tables);

/* The number of the file that a row is of; 0 if that is not known. Rows side by side are mostly of
   one file: number_of is asked when another one comes. */
uint32_t line_tables_file(struct line_tables *tables, Dwarf_Line row);

#endif
