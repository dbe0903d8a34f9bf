/* The agent's memory is needed no more. */
#ifndef UMBRA_SERVICE_ATTACH_LEAVE_H
#define UMBRA_SERVICE_ATTACH_LEAVE_H

#include "service/attach/linux/attached.h"
#include "service/attach/linux/tracees.h"

/* Once the hooks are out: these are the threads that may need our memory. False: out of memory. */
bool attach_leave_begin(struct attached *attached, const struct tracees *tracees, struct failure *failure);

/*
 * Calls that are under way return to their callers at once. True: nothing leads to our memory any more, and
 * attach_unmap can take it away. False: something does, at this moment; what was done is right either way.
 */
bool attach_leave(struct attached *attached, struct tracees *tracees, struct failure *failure);

#endif
