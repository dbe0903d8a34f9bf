/*
 * Where an image has probes that debuggers and tracers may turn on: SystemTap's user-level ones
 * (USDT), which gdb, perf and bpftrace know, too. Each is a `nop`, and a note in .note.stapsdt:
 *
 *      sizes     8, n                  3 words of 32 bits
 *      type      3
 *      owner     "stapsdt"
 *      pc        address of the nop    3 words of an address
 *      base      of .stapsdt.base as it was linked: if it is elsewhere now, so is pc
 *      semaphore
 *      provider, name, arguments       strings
 *
 * https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 */
#ifndef UMBRA_REWRITER_ELF_PROBES_H
#define UMBRA_REWRITER_ELF_PROBES_H

#include "rewriter/code/code.h"
#include "rewriter/elf/image/elf_image.h"

/* {0} is an empty one; elf_probes_free ends it. */
struct elf_probes {
    struct elf_probe {
        uint64_t address;
        uint64_t field; /* of the note's pc, in the file */
        uint64_t moved; /* address less that pc: how far .stapsdt.base is from where it was linked */
    } * items;          /* ascending by address */
    size_t count, room;
};

void elf_probes_read(struct elf_probes *probes, const struct elf_image *image);
/* Notes in the map that nothing may be put over probes: whoever turns one on overwrites a byte there. */
void elf_probes_note(const struct elf_probes *probes, struct code_map *map);
void elf_probes_free(struct elf_probes *probes);

#endif
