/* What the system has loaded into the address space. The caller holds the guard. */
#ifndef UMBRA_HOOKS_LOADED_H
#define UMBRA_HOOKS_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#define LOADED_PATH 3072 /* bytes of a path, its zero included: a module record fits a block */

struct loaded {
    uint64_t base, size;
    const char *path; /* full, UTF-8; cut if longer than LOADED_PATH; valid during the visit */
};

/* Calls visit for every image with code, as far as they can be listed at the moment. Allocates
   nothing from the host. */
void loaded_each(void (*visit)(const struct loaded *loaded));

/* Path of the image at this base; null if it is not known. Valid until the next call. */
const char *loaded_path(uint64_t base);

#endif
