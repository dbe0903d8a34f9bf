/* The verb `attach`: a service of its own, for one program that runs. */
#ifndef UMBRA_SERVICE_ATTACHING_H
#define UMBRA_SERVICE_ATTACHING_H

#include "service/tool/options.h"

/* Records until a signal comes or the program has ended. Returns the exit status, after one message if bad. */
int attaching_run(const struct options *options);

#endif
