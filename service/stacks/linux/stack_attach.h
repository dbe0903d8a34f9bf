/* What perf would have told of a process from its beginning, of one that runs already. */
#ifndef UMBRA_SERVICE_STACK_ATTACH_H
#define UMBRA_SERVICE_STACK_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "service/stacks/linux/stack_events.h"

/*
 * Has the events of all its threads told of, of those that they begin and of the processes that these
 * fork from now on, and tells the receiver at once, as if it began now, what it executes, what it has mapped
 * and which threads it has. Children that it has are no part of it. False if it cannot be told of.
 */
bool stack_attach(struct stack_events *events, pid_t pid,
                  const struct stack_events_receiver *receiver, struct failure *failure);

#endif
