/*
 * Which module code belongs to, as mappings come, the later ones in the place of the earlier:
 *
 *      0 |    a a a a a a a        | +  b b b  =  | a a | b b b | a a |
 *
 * Ranges are in order of their addresses and side by side: one is found by halves, however many mappings there
 * have been.
 */
#ifndef UMBRA_GRINDER_CODE_RANGES_H
#define UMBRA_GRINDER_CODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct code_range {
    uint64_t begin, end;
    uint32_t module; /* 0: none */
};

/* All zero is an empty one. */
struct code_ranges {
    struct code_range *items;
    size_t count, room;
};

/* One that reaches beyond the last address ends there. */
void code_ranges_put(struct code_ranges *ranges, uint64_t address, uint64_t length, uint32_t module);

/* 0: none has it. */
uint32_t code_ranges_find(const struct code_ranges *ranges, uint64_t address);

void code_ranges_free(struct code_ranges *ranges);

#endif
