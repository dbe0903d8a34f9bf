/* The verbs `hook` and `unhook`: of a program that was attached to. */
#ifndef UMBRA_SERVICE_HOOKING_H
#define UMBRA_SERVICE_HOOKING_H

#include "service/tool/options.h"

/* Returns when the functions that match are hooked, or are not. The exit status, after one message if bad. */
int hooking_run(const struct options *options);

#endif
