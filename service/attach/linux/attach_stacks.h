/*
 * What calls are under way when the hooks come: each thread's registers and stack, in FOLDER/under-way
 * (trace/stacks_format.h), FOLDER being that of the instrumented files. The grinder finds out which calls these are.
 */
#ifndef UMBRA_SERVICE_ATTACH_STACKS_H
#define UMBRA_SERVICE_ATTACH_STACKS_H

#include "service/attach/linux/tracees.h"

struct taken_stacks {
    struct taken_stack *items; /* taken_stacks_free frees them */
    size_t count;
};

/* While all threads stand. memory: /proc/PID/mem. What cannot be had is not there. */
void taken_stacks_take(struct taken_stacks *stacks, int memory, const struct tracees *tracees);
void taken_stacks_free(struct taken_stacks *stacks);

/* Writes them, with what the process has mapped. False: there is no such file. */
bool taken_stacks_write(const struct taken_stacks *stacks, pid_t pid, const char *folder, struct failure *failure);

#endif
