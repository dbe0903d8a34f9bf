/*
 * The making of a recording, and what becomes of an earlier one of the same name:
 *
 *                                      NAME    NAME.old    in NAME/older   NAME.failed
 *      before                          B       A
 *      made                            new     B           A
 *      ended, a process was recorded   new     B           (removed)
 *      ended, and none was             B       A                           new
 *      taken back                      B       A
 *
 * So what cannot be run, for the value of an option as an example, or cannot be recorded costs no
 * earlier recording. The new one is made as NAME.new-PID first: if there is no room for it, nothing
 * has been moved. If B itself has no process, it is worth nothing and gives its place:
 *
 *      before                          B       A
 *      made                            new     A           B
 *      ended                           new     A           (removed)
 *      taken back                      B       A
 *
 * All of these are names in one directory, which is opened once. Where others may rename things,
 * they may have put something else under each: so what is removed has been moved into the new
 * recording before it is looked at, and what is written to is the descriptor of the new one.
 */
#ifndef UMBRA_FRONT_NEW_RECORDING_H
#define UMBRA_FRONT_NEW_RECORDING_H

#include <stdbool.h>

#include "front/recording/recording.h"

struct new_recording {
    struct recording recording;
    int parent; /* the directory that it is made in */
    char *base; /* its name there */
    bool has_earlier;
    bool earlier_is_empty; /* it has no process */
};

/*
 * Makes one. A recording of that name becomes NAME.old, and that of this name goes when the program
 * begins. Returns null; or why there can be none at that place, to be freed, and nothing has been
 * changed. Anything else of that name ends the process with a message.
 */
char *new_recording_make(struct new_recording *new, const char *name);

/* Called in the process that becomes the program. */
void new_recording_begin(const struct recording *recording);

enum new_recording_end {
    NEW_RECORDING_STAYS,
    NEW_RECORDING_FAILED, /* the earlier one has its name again; recording.name is this one's */
    NEW_RECORDING_GONE,   /* the earlier one has its name again; something else has this one's */
};

/* Called when the program has ended. One without a process stays if there was no earlier one that
   had any, or if it is still in use: what the program left behind runs on. */
enum new_recording_end new_recording_end(struct new_recording *new);

/* Removes it; what was there before new_recording_make is there again. */
void new_recording_take_back(const struct new_recording *new);

#endif
