/*
 * A trace's samples (trace/sample_format.h), as time by function.
 *
 *      sample's address            counts for
 *      in a hooked function        that function; all but the first of the instructions that
 *                                  were displaced into its stub are there
 *      in the copy of one          that function, with the hooks between its instructions
 *      in the rest of the stubs,   hooks
 *        in a thunk, in the agent
 *      anywhere else               the hooked function that its caller is in, which has called
 *                                  this code; without one, all functions found, in proportion
 *
 * So a function's time holds what it does in code that is not hooked, as the time between its entry
 * and its return does.
 */
#ifndef UMBRA_GRINDER_SAMPLES_H
#define UMBRA_GRINDER_SAMPLES_H

#include "grinder/profile/images.h"
#include "grinder/profile/tree.h"

/* Gives each thread of the tree its samples, if there is a file of them. One that is damaged, or of
   another recording, is named in a message and left out. */
void samples_read(struct tree *tree, const struct images *images);

#endif
