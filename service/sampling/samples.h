/*
 * Samples of the sessions that are recorded (trace/sample_format.h): of each from the moment its
 * trace is made, and the file they end up in. A session that cannot be sampled has none: recording
 * does not depend on them. So it is with those that came by TCP, those in call-trace mode, and
 * those past what a service gives to this.
 *
 * What runs while a session is paused is not sampled.
 */
#ifndef UMBRA_SERVICE_SAMPLING_SAMPLES_H
#define UMBRA_SERVICE_SAMPLING_SAMPLES_H

struct service;
struct session;
struct trace_header;

/* Where sessions cannot be sampled, service->why_no_samples says why. */
void samples_open(struct service *service);
void samples_close(struct service *service);

void samples_begin(struct session *session, const struct trace_header *header);

/* Writes them, if there are any. */
void samples_end(struct session *session);

void samples_discard(struct session *session);

/* Takes in what was sampled by now, of all sessions. */
void samples_gather(struct service *service);

/* Sessions that are sampled now. */
unsigned samples_running(const struct service *service);

#endif
