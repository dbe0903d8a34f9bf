/* Processes whose dynamic linker was seen at work, and where it lies in each. Used by several
   threads. */
#ifndef UMBRA_FRONT_LOADERS_H
#define UMBRA_FRONT_LOADERS_H

#include "front/calls/tracee.h"

struct loaders;

struct loaders *loaders_new(void);

/* Whether that instruction of a process is one of its linker, which was seen. */
bool loaders_have(struct loaders *loaders, pid_t pid, uint64_t instruction);

void loaders_add(struct loaders *loaders, pid_t pid, const struct tracee_linker *linker);

/* The process executes something, and so has another linker. */
void loaders_forget(struct loaders *loaders, pid_t pid);

#endif
