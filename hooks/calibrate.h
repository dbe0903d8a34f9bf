#ifndef UMBRA_HOOKS_CALIBRATE_H
#define UMBRA_HOOKS_CALIBRATE_H

/* Measures what a recorded call costs, into session.costs and the header of the trace. */
void calibrate(void);

/* At the end, under the guard: a mean of both. */
void calibrate_again(void);

#endif
