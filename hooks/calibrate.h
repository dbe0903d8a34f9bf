#ifndef UMBRA_HOOKS_CALIBRATE_H
#define UMBRA_HOOKS_CALIBRATE_H

/* Measures what a recorded call costs, into session.costs and the header of the trace; not if the
   service has said it. */
void calibrate(void);

/* Measures again at the end, under the guard, if the process has run for long enough: the mean of
   both counts. It waits for no other thread: on Windows the others are gone by then, with whatever
   locks they held. */
void calibrate_again(void);

#endif
