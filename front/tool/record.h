/* `umbra record`. */
#ifndef UMBRA_FRONT_RECORD_H
#define UMBRA_FRONT_RECORD_H

#include <getopt.h>

/* Its options; the last has no name. */
const struct option *record_options(void);

/* arguments[0] is the verb. Returns the exit status: the program's. */
int record_main(int count, char **arguments);

#endif
