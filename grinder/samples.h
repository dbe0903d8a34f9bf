/*
 * Where a trace's threads were found now and then (trace/sample_format.h), as time by function.
 *
 *      sample's address            counts for
 *      in a hooked function        that function; all but the first of the instructions that
 *                                  were displaced into its stub are there
 *      in the rest of the stubs,   hooks
 *        in a thunk, in the agent
 *      anywhere else               the hooked function that its caller is in: it does its work
 *                                  there; if there is none, all that were found, in proportion
 *
 * So a function's time holds what it does in code that is not hooked, as the time between its entry
 * and its return does.
 */
#ifndef UMBRA_GRINDER_SAMPLES_H
#define UMBRA_GRINDER_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

struct images;
struct tree;

struct function_samples {
    uint32_t function; /* as images.h numbers it */
    uint64_t count;
};

/* All zero: there are none. */
struct thread_samples {
    struct function_samples *functions; /* ascending */
    size_t count;
    uint64_t in_functions, in_hooks, elsewhere;
    double period_ns; /* time that one in a function stands for */
};

/* Gives each thread of the tree its samples, if there is a file of them. One that is damaged, or of
   another recording, is named in a message and left out. */
void samples_read(struct tree *tree, const struct images *images);

void thread_samples_free(struct thread_samples *samples);

#endif
