/* The summary's tables of functions, as a terminal has them (summary_screen.h). */
#ifndef UMBRA_GRINDER_SUMMARY_TABLES_H
#define UMBRA_GRINDER_SUMMARY_TABLES_H

#include "grinder/views/summary_layout.h"

/* Writes the functions that the user chose, or all; and those whose calls were timed each. */
void summary_tables_write(const struct summary_layout *layout);

#endif
