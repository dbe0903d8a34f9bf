/* The code that a DIE is about, from DW_AT_low_pc and DW_AT_high_pc or DW_AT_ranges, DWARF 2 to 5. */
#ifndef UMBRA_GRINDER_DIE_RANGES_H
#define UMBRA_GRINDER_DIE_RANGES_H

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct die_range {
    uint64_t low, high; /* [low, high) */
};

/* All zero is empty. */
struct die_ranges {
    struct die_range *items;
    size_t count, room;
};

/* Replaces the ranges by those of a DIE. base: of its unit, die_ranges_base. False: it names none,
   which is not the same as naming none that count: of a function that the linker dropped, at address
   0 or 1, or of a list that cannot be read. */
bool die_ranges_read(struct die_ranges *ranges, Dwarf_Debug debug, Dwarf_Die die, uint64_t base);
void die_ranges_free(struct die_ranges *ranges);

/* What a unit's lists of ranges begin to count from. */
uint64_t die_ranges_base(Dwarf_Die unit);

#endif
