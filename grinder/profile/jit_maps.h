/*
 * Which maps of code made at run time a process left (jit_map.h), each an image of its own.
 *
 *      /tmp/perf-PID.map           if it was last written while the process ran, and is the user's
 *      jit-PID.dump                mapped by the program into itself, so the trace names it
 *      --jit-map=FILE              of any time; perf-PID.map and a jitdump are for that process
 *
 * Process numbers and /tmp outlive no reboot; who wants to keep a recording keeps its maps too.
 */
#ifndef UMBRA_GRINDER_JIT_MAPS_H
#define UMBRA_GRINDER_JIT_MAPS_H

#include "grinder/profile/images.h"
#include "grinder/profile/tree.h"

/* The images of the process's maps, to be freed; *count of them. What is left out, is said. */
uint32_t *jit_maps_of(const struct tree *tree, struct images *images, size_t *count);

#endif
