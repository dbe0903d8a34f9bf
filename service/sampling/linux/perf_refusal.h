/* Why the kernel opens no perf event for us. */
#ifndef UMBRA_SERVICE_PERF_REFUSAL_H
#define UMBRA_SERVICE_PERF_REFUSAL_H

#include "support/failure.h"

/* Of what was refused, with errno. besides: what else the user may do about it, or "". */
void perf_refusal_write(struct failure *failure, const char *what, const char *besides);

#endif
