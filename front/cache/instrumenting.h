/*
 * Running `instrument` on a file that somebody else may have made, for the cache.
 *
 *      limits      memory and output by what the file takes on the disk, processor time, time
 *      confined    by itself (instrument --confined)
 *      side by side, as many as there are processors
 */
#ifndef UMBRA_FRONT_INSTRUMENTING_H
#define UMBRA_FRONT_INSTRUMENTING_H

#include "front/base/words.h"

#define INSTRUMENTING_REASON_SIZE 512
#define INSTRUMENTING_NOTHING     "no function in it is to be hooked" /* a reason */

enum instrumenting {
    INSTRUMENTING_DONE,
    INSTRUMENTING_LEFT,   /* that file cannot be instrumented, now or later */
    INSTRUMENTING_FAILED, /* something else went wrong, as a full disk */
};

/*
 * Makes the file `name` in a folder that is open, of an original that is open: both are reached by
 * their descriptors, whatever their paths lead to by now. options: those for instrument. reason is
 * set unless it is done. To be called by several threads.
 */
enum instrumenting instrumenting_run(const struct words *options, int original, int folder,
                                     const char *name, char reason[INSTRUMENTING_REASON_SIZE]);

#endif
