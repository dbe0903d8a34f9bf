/* --mode=top: what is hot now, in traces that are being recorded. */
#ifndef UMBRA_GRINDER_TOP_H
#define UMBRA_GRINDER_TOP_H

#include "grinder/options.h"

/*
 * On a terminal, shows a table and refreshes it in place until q is pressed, or as often as the
 * options say; else, and with options->once, prints one table and ends. Nobody waits for us: traces
 * are read as they are at that moment. Returns the exit status.
 */
int top_run(const struct options *options);

#endif
