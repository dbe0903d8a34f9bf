/* Why the kernel opens no perf event for us. */
#ifndef UMBRA_SERVICE_PERF_REFUSAL_H
#define UMBRA_SERVICE_PERF_REFUSAL_H

#include "support/failure.h"

/* Says that `what` was refused, why by errno, and what the user can do about it; besides: what else, or "". */
void perf_refusal_write(struct failure *failure, const char *what, const char *besides);

#endif
