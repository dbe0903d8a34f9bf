/* The grinder's command line. */
#ifndef UMBRA_GRINDER_COMMAND_LINE_H
#define UMBRA_GRINDER_COMMAND_LINE_H

#include "grinder/options.h"

/* Reads the command line. If there is nothing to be done after that (--help, wrong usage), ends
   the program with 0 or 2. */
void options_read(struct options *options, int argc, char **argv);
void options_free(struct options *options);

#endif
