/* What of the code on a page ran, of recordings whose blocks were noted (coverage.h). */
#ifndef UMBRA_GRINDER_REPORT_RAN_H
#define UMBRA_GRINDER_REPORT_RAN_H

#include <stdio.h>

#include "grinder/report/files.h"
#include "grinder/report/report.h"

/* Writes the object "cover" that data.c draws; report->coverage is not null. */
void ran_write(FILE *stream, const struct report *report, const struct report_files *files);

#endif
