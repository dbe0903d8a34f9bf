/* All processes of a recording, in a report's data: as a tree, and by program. */
#ifndef UMBRA_GRINDER_REPORT_PROCESSES_H
#define UMBRA_GRINDER_REPORT_PROCESSES_H

#include <stdio.h>

#include "grinder/report/report.h"

/* "tree" and "programs", each with a comma behind it: data.c draws them. */
void processes_write(FILE *stream, const struct report *report);

#endif
