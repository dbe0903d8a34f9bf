/*
 * The child's search for what is inlined at spots (lines.h), in the trees of DIEs:
 *
 *      compile unit
 *       +- namespace
 *       |   +- subprogram, inline: name, linkage name <---------------------------+
 *       +- subprogram main: [0x1000, 0x1100)                                      |
 *           +- lexical block: [0x1010, 0x1080)                                    |
 *               +- inlined subroutine: [0x1010, 0x1020), [0x1050, 0x1060)         |
 *                    abstract origin ---------------------------------------------+
 *                    call file, call line
 *                   +- inlined subroutine: [0x1018, 0x1020) …
 *
 * The unit of a spot is the one whose line table has it, so a unit that has none is not looked into.
 * In others only those subtrees are whose ranges hold spots that no other one had: up to there libdwarf
 * skips over siblings. Where a spot is then in no function, the tree is walked a second time, for
 * functions within functions (Ada, nested ones of GNU C) or types.
 *
 * Not found: what is in a DWO file (-gsplit-dwarf) or in one that dwz made for several; names that are
 * there are not known. Without a linkage name, as in C, a name is the bare one.
 */
#ifndef UMBRA_GRINDER_INLINED_DWARF_H
#define UMBRA_GRINDER_INLINED_DWARF_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stddef.h>

#include "grinder/symbols/lines_writer.h"

struct inlined_unit {
    Dwarf_Off offset;   /* of its DIE */
    size_t first_spot;  /* up to the next unit's */
};

/* All zero to begin with. */
struct inlined_search {
    struct inlined_unit *units; /* that have spots */
    size_t unit_count, unit_room;
    size_t *spots; /* places in the line table */
    size_t spot_count, spot_room;
    Dwarf_Off at_hand; /* the unit whose turn it is; 0 once it has a spot */
};

/* Spots that follow are of this unit. */
void inlined_search_unit(struct inlined_search *search, Dwarf_Die unit);
void inlined_search_add(struct inlined_search *search, size_t place);

/* Searches, and writes what was found. False if a tree could not be read to its end. */
bool inlined_search_write(const struct inlined_search *search, Dwarf_Debug debug,
                          const struct line_table *table, struct lines_writer *writer);

#endif
