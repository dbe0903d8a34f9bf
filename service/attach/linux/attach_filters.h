/* Seccomp filters of a program: whether they let it be attached to. */
#ifndef UMBRA_SERVICE_ATTACH_FILTERS_H
#define UMBRA_SERVICE_ATTACH_FILTERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "service/attach/linux/attached.h"
#include "service/attach/linux/tracees.h"

/* By what is seen while its threads run: false if one is in strict mode, or has filters that we may not read. */
bool attach_filters_are_readable(pid_t pid, bool *has_filters, struct failure *failure);

/*
 * Whether all threads that stand may make the calls that the agent makes, and those that a thread makes for us: their
 * filters are run here. The failure's text goes on from "process N", and names the call. A thread that may not resume
 * the call which the stop has interrupted begins that anew.
 */
bool attach_filters_allow(const struct attached *attached, const struct tracees *tracees, struct failure *failure);

#endif
