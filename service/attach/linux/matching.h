/* Which functions of a process a pattern means: as `instrument --include` does. */
#ifndef UMBRA_SERVICE_MATCHING_H
#define UMBRA_SERVICE_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/failure.h"

struct matching {
    uint64_t *addresses; /* in the process; matching_free frees them */
    size_t count, room;
};

/* Of all images that the process has mapped, those of their functions that can be hooked and match one of the
   patterns, null at the end. What is no image of a file has none. Takes as long as instrumenting them. */
bool matching_read(struct matching *matching, pid_t pid, char *const *patterns, struct failure *failure);
void matching_free(struct matching *matching);

#endif
