/*
 * Go's table of functions and lines (pclntab). By it a Go program is recognised whose names, build
 * id and version were stripped: Go's runtime walks stacks by this table, so no option of the linker
 * leaves it out. Drawn for 64 bits (src/debug/gosym/pclntab.go and src/cmd/link/internal/ld/pcln.go
 * of Go):
 *
 *      0    magic             fffffff1 since Go 1.20, fffffff0 since 1.18, fffffffa since 1.16,
 *                             fffffffb since 1.2
 *      4    0 0               and what instructions are multiples of, 1, and bytes of a pointer, 8
 *      8    functions
 *           fffffffb: functions times {address, offset}, end address, offset of files : 32
 *      16   files
 *      24   start of the code, or 0; fffffffa does not have it
 *      32   offsets of names, units, files, values; then of
 *      64   functions times {offset of its address, offset}, each 32 bits; fffffffa: 64 bits
 *
 * Other programs may hold such bytes, too: those that compare magic numbers, or carry a Go program
 * as data. So the offsets have to fit each other, and something has to point to the table: Go's
 * linker has the program's first data (moduledata) begin with the table's address since Go 1.5.
 */
#ifndef UMBRA_REWRITER_FORMAT_GO_TABLE_H
#define UMBRA_REWRITER_FORMAT_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GO_TABLE_ALIGNMENT 8  /* of its address, at least */
#define GO_TABLES          64 /* that are looked at: a Go program has one */

/* Offset of the first such table that begins at or behind `from`; SIZE_MAX if there is none. */
size_t go_table_next(const uint8_t *bytes, size_t size, size_t from);

/* Whether a word of what lies at `start` is a table's address. */
bool go_table_is_pointed_to(const uint8_t *bytes, size_t size, uint64_t start, uint64_t address);

#endif
