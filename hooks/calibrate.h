#ifndef UMBRA_HOOKS_CALIBRATE_H
#define UMBRA_HOOKS_CALIBRATE_H

/* Measures what one recorded call costs, into session.probe_ticks and the trace's header. */
void calibrate(void);


/* At the end, under the guard: a mean of both. */
void calibrate_again(void);

#endif
