/* The instructions of functions that have no source to show: those of the original image. */
#ifndef UMBRA_GRINDER_REPORT_DISASSEMBLY_H
#define UMBRA_GRINDER_REPORT_DISASSEMBLY_H

#include "grinder/report/files.h"
#include "grinder/report/page.h"
#include "grinder/report/report.h"

/*
 * Writes chunks dN: {"12":"0\tpush rbp\n1\tcall 0x1139\t31\n…", …}, by function: a line an
 * instruction, offset from the entry, text and, of a branch to a recorded function, its number.
 *
 * chunk_of gets the chunk of each function, by number; UINT32_MAX: it has none. Those that took
 * most time come first, as there may not be room for all.
 */
void disassembly_write(const struct report *report, const struct report_files *files,
                       const uint64_t *self_ns, struct page *page, uint32_t *chunk_of);

#endif
