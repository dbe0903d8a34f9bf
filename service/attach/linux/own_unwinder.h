/* libgcc's unwinder within a program or library that was linked with it (-static-libgcc, static programs). */
#ifndef UMBRA_SERVICE_OWN_UNWINDER_H
#define UMBRA_SERVICE_OWN_UNWINDER_H

#include <stdbool.h>
#include <stdint.h>

/* Where its functions are, as linked: by the file's symbols. False: it has none, or no symbols, or another unwinder,
   which does not ask _Unwind_Find_FDE. */
bool own_unwinder_find(const char *path, uint64_t *low, uint64_t *high);

#endif
