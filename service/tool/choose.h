/* The verbs that look at the traces of running sessions. Both return an exit status. */
#ifndef UMBRA_SERVICE_CHOOSE_H
#define UMBRA_SERVICE_CHOOSE_H

#include "service/tool/options.h"

int choose_snapshot(const struct options *options);
int choose_top(const struct options *options);

#endif
