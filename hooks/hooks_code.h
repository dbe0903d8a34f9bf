/* The agent's own code, and the thunks. */
#ifndef UMBRA_HOOKS_HOOKS_CODE_H
#define UMBRA_HOOKS_HOOKS_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "thunkstash/layout.h"
#include "thunkstash/stash.h"

extern const char umbra_code_begin[] __attribute__((visibility("hidden"))); /* agent.lds */
extern const char umbra_code_end[] __attribute__((visibility("hidden")));

static inline bool hooks_code_has(uint64_t address)
{
    return address - (uintptr_t)umbra_code_begin < (uint64_t)(umbra_code_end - umbra_code_begin) ||
           address - stash_range() < STASH_RANGE_SIZE;
}

#endif
