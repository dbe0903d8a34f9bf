/*
 * Samples of the sessions that are recorded (trace/sample_format.h): of each from the moment its
 * trace is made, and the file they end up in. A session that cannot be sampled has none: recording
 * does not depend on them. So it is with those that came by TCP, those in call-trace mode, and
 * those past what a recorder gives to this.
 *
 * What runs while a session is paused is not sampled.
 */
#ifndef UMBRA_SERVICE_SAMPLES_H
#define UMBRA_SERVICE_SAMPLES_H

#include "service/recorder/session_part.h"

struct recorder;

/* Where sessions cannot be sampled, recorder->no_samples says why. */
void samples_open(struct recorder *recorder);
void samples_close(struct recorder *recorder);

/* At its end, and where the process goes on, they are written, if there are any. */
extern const struct session_part samples_part;

/* Takes in what was sampled by now, of all sessions. */
void samples_gather(struct recorder *recorder);

#endif
