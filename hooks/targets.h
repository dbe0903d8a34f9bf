/* What calls by pointers lead to: the copied function that is entered at an address. */
#ifndef UMBRA_HOOKS_TARGETS_H
#define UMBRA_HOOKS_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/frame_format.h"

/* An address leads to the function of this key at once: it is its own, or its stub's. */
bool target_leads_to(uint64_t address, const struct frame_key *key);

/* The key of the copied function that is entered at an address, which is code that can be read; or null. */
const struct frame_key *target_key(uint64_t address);

/* The key for any address, and none that the address does not lead to at once: a program may call
   what is no code, and make up for that, or code that can be executed only. Asks the kernel, but
   for what was found before in images that last. */
const struct frame_key *target_key_if_code(uint64_t address);

#endif
