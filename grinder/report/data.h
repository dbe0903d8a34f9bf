/* All figures of a report, as the page's script reads them. */
#ifndef UMBRA_GRINDER_REPORT_DATA_H
#define UMBRA_GRINDER_REPORT_DATA_H

#include "grinder/report/files.h"
#include "grinder/report/slices.h"

/* chunk_of: see disassembly_write. slices without traces: there are none. */
void data_write(FILE *stream, const struct report *report, const struct report_files *files,
                const uint32_t *chunk_of, const struct slices *slices);

#endif
