/*
 * Language-specific data of a FDE: what a personality routine does with an exception that comes
 * through the function. Source: what gcc, clang and rustc write and libgcc's unwind-c.c,
 * libstdc++'s eh_personality.cc and libc++abi's cxa_personality.cpp read; there is no standard.
 *
 *      +--------------------+
 *      | encoding, [start]  |  what landing pads are counted from, if not from the FDE's address
 *      | encoding, [length] |  of the types; length to behind the last of them
 *      | encoding, length   |  of the call sites
 *      | call sites         |  start, length, landing pad or 0, action or 0; ascending
 *      | actions            |  filter, distance to the next or 0; a call site's is 1 + its offset
 *      | types              |  pointers to type_info, counted by filters from the end
 *      | specifications     |  lists of types, of negative filters
 *      +--------------------+
 *
 * An exception that comes from an address in no call site's range ends a C++ program.
 */
#ifndef UMBRA_REWRITER_LSDA_H
#define UMBRA_REWRITER_LSDA_H

#include "rewriter/elf/unwind/dwarf_data.h"
#include "rewriter/elf/unwind/eh_frame.h"

struct lsda {
    uint64_t start; /* of the function: call sites are counted from here */
    uint64_t limit; /* where the FDE ends */
    uint64_t pads;  /* landing pads are counted from here */
    uint64_t types; /* address behind the types, where type_encoding is not DW_EH_PE_omit */
    uint8_t type_encoding, site_encoding;
    struct dwarf_reader sites;  /* those that are still to be read */
    struct cfi_program actions; /* as far as call sites lead into them */
};

/* Addresses. The ranges are ascending, none is empty or overlaps another or leaves the FDE. */
struct lsda_site {
    uint64_t start, end;
    uint64_t pad;    /* 0: none */
    uint64_t action; /* 0: none, cleanup; else 1 + offset in the actions */
};

/* False if it contradicts itself, leads out of the image or belongs to two FDEs. The types are not
   looked at. lsda->sites stands before the first call site. */
bool lsda_read(struct lsda *lsda, const struct elf_image *image, const struct eh_frame *frame,
               const struct fde *fde);
/* The next call site of what lsda_read has checked; false if there is none. */
bool lsda_next(struct lsda *lsda, struct lsda_site *site);

/* The landing pads of all FDEs whose data can be read: *count addresses, ascending, each once; to
   be freed. */
uint64_t *lsda_pads(const struct elf_image *image, const struct eh_frame *frame, size_t *count);

#endif
