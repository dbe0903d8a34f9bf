/* What the agent has made so that threads sample themselves (hooks/sampler.h): timers, a handler, masks without SIGURG. */
#ifndef UMBRA_SERVICE_ATTACH_SAMPLES_H
#define UMBRA_SERVICE_ATTACH_SAMPLES_H

#include "service/attach/linux/attached.h"
#include "service/attach/linux/tracees.h"

/* Whether it could be taken out again: this kernel tells of processes' timers. */
bool attach_samples_can_end(void);

/* While all threads stand: it is gone, and no sample comes any more. Nothing, where there is none. */
bool attach_samples_end(const struct attached *attached, struct tracees *tracees, struct failure *failure);

#endif
