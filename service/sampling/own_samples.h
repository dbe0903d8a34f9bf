/* Samples that the processes of sessions take themselves (--timing=samples): the signals that have
   them do so, where the kernel allows it (cpu_signals.h). A thread that begins is seen within 16
   ms, or sooner; until then, and where it is not allowed, its own timer does. */
#ifndef UMBRA_SERVICE_OWN_SAMPLES_H
#define UMBRA_SERVICE_OWN_SAMPLES_H

#include "service/recorder/session_part.h"

extern const struct session_part own_samples_part;

#endif
