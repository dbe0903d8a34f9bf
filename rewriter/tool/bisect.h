/*
 * The verb --bisect: which functions have to be hooked for a command to fail. Copies of the image
 * are instrumented with ever fewer functions, and the command is run with each:
 *
 *      no function       must succeed, else hooks are not the reason
 *      all               must fail
 *      halves            the half with which it fails is halved again; where it fails with neither,
 *                        both have a part in it: each is halved while all of the other is hooked
 *                        (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
 * Input") all but those     does it fail still? then there are others
 *
 * One function of n is found in some 2 * log2(n) runs.
 *
 * The copies are in a folder of their own that is removed at the end, also after a signal. The
 * command finds the copy where it is: in an argument that names the image, through PATH and
 * LD_LIBRARY_PATH, in whose front the folder is, and in UMBRA_BISECT, which is the copy's path.
 */
#ifndef UMBRA_REWRITER_BISECT_H
#define UMBRA_REWRITER_BISECT_H

#include "rewriter/format/rewrite_options.h"
#include "support/failure.h"

/* options->input: the image; null: the command's own. Prints a line a run, and the functions. Fails
   if there are none such. */
bool bisect(const struct rewrite_options *options, const char **command, struct failure *failure);

#endif
