/* Runs `instrument` for an image that a process has mapped. */
#ifndef UMBRA_SERVICE_INSTRUMENTING_H
#define UMBRA_SERVICE_INSTRUMENTING_H

#include <stdbool.h>
#include <stdint.h>

#include "support/failure.h"

struct instrumenting {
    const char *original, *output;
    const char *agent;
    uint64_t away;        /* in the image's own addresses */
    char *const *filters; /* further options; null at the end */
};

/* False also where nothing in the image can be hooked. */
bool instrumenting_run(const struct instrumenting *wanted, struct failure *failure);

#endif
