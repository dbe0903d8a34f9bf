/* The hooks while all threads stand, and those threads. */
#ifndef UMBRA_SERVICE_ATTACH_HOOKS_H
#define UMBRA_SERVICE_ATTACH_HOOKS_H

#include "service/attach/linux/attached.h"
#include "service/attach/linux/tracees.h"

/* While the program runs: finds libgcc, and what cannot be hooked of the images from that one on, and has the kernel
   make their pages private. False: exceptions would not find their way. */
bool attach_hooks_prepare(struct attached *attached, size_t first, struct failure *failure);

/*
 * Writes the hooks that are out, but for those that a thread is amid of and that it cannot be moved out of: these
 * wait. To be tried again where it fails: the program is as it was.
 */
bool attach_hooks_in(struct attached *attached, struct tracees *tracees, struct failure *failure);

/* What is unwanted goes, what is wanted and out comes in, but for what a thread is amid of. */
bool attach_hooks_change(struct attached *attached, struct tracees *tracees, struct failure *failure);

/* The bytes are what they were: is_hooked is false. To be called again while it fails: until nothing leads to our
   memory any more. */
bool attach_hooks_out(struct attached *attached, struct tracees *tracees, struct failure *failure);

/* How many wait, and how many never can be written. */
void attach_hooks_count(const struct attached *attached, unsigned long *waiting, unsigned long *changed);

#endif
