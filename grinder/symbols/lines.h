/*
 * Source lines of addresses, from DWARF by way of libdwarf.
 *
 * Debug information comes from anywhere, and libdwarf was seen to crash and to hang on files
 * that were damaged. So it runs in a child process with limits of time and memory, which can do
 * nothing but read that file and report (support/confinement.h):
 *
 *      grinder                                child
 *        | -- fork: the sorted addresses ------> |  opens the file
 *        | <- pipe: 'F' length bytes ----------- |  a file name, numbered from 1
 *        | <- pipe: 'L' address file line ------ |  a line found, as places in the list
 *        | <- end ------------------------------ |  or the grinder's patience ends: kill
 *
 * What arrived before a crash or the end of patience is kept: a file that trips libdwarf up costs
 * the lines not yet found, not the profile. The grinder checks each record it reads.
 */
#ifndef UMBRA_GRINDER_LINES_H
#define UMBRA_GRINDER_LINES_H

#include <stddef.h>
#include <stdint.h>

struct line {
    uint32_t file; /* place in line_table.files; 0 if not known */
    uint32_t line;
};

struct line_table {
    uint64_t *addresses; /* ascending, without doubles */
    struct line *lines;  /* of each address */
    size_t count;
    char **files; /* [0] is null */
    size_t file_count;
};

/* Takes over addresses (from malloc) and sorts them. */
void line_table_begin(struct line_table *table, uint64_t *addresses, size_t count);
void line_table_free(struct line_table *table);

/* Finds the lines of all addresses in the DWARF of the file at path. 0, or -1 with *why set to a
   static text if the child did not finish; what it found is kept. */
int line_table_read(struct line_table *table, const char *path, const char **why);

/* The place of the first address in the table that is not below; its count if there is none. */
size_t line_table_first(const struct line_table *table, uint64_t address);
/* The line of an address of the table; zeroes if it has none. */
struct line line_table_find(const struct line_table *table, uint64_t address);

/* The child's part (lines_dwarf.c): writes records to pipe. Returns its exit status. */
int lines_dwarf_write(const struct line_table *table, const char *path, int pipe);

/* The records. */
enum {
    LINES_FILE = 'F', /* uint32_t length, bytes without a terminating zero */
    LINES_LINE = 'L', /* uint32_t place of the address, uint32_t file, uint32_t line */
    LINES_MAX_NAME = 4096,
};

#endif
