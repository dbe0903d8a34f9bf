/* Runs `instrument` for images that a process has mapped. */
#ifndef UMBRA_SERVICE_INSTRUMENTING_H
#define UMBRA_SERVICE_INSTRUMENTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/failure.h"

struct instrumenting {
    const char *original, *output;
    const char *name; /* what the manifest says the original's path is; null: that */
    uint64_t away; /* in the image's own addresses */
    uint64_t work; /* what has most of it begins first: bytes of code */
    bool is_unwinder; /* hooked in how it finds unwind information, and nowhere else */
    bool is_done;
    struct failure failure; /* of what is not done: also where nothing in the image can be hooked */
};

/* As many at once as there are processors. filters: further options; null at the end. */
void instrumenting_run(struct instrumenting *all, size_t count, const char *agent,
                       char *const *filters);

#endif
