/* The slow paths of the hooks; entry.S calls them with all registers saved, and the same way on
   every platform. */
#ifndef UMBRA_HOOKS_SLOW_PATHS_H
#define UMBRA_HOOKS_SLOW_PATHS_H

#include "hooks/thread.h"

#define FROM_ASSEMBLY __attribute__((sysv_abi))

/* Where an entry goes on: rax and rdx of the System V convention. */
struct destination {
    uint64_t address;
    uint64_t is_thunk; /* else: the body, with the stack pointer at the slot */
};

/* slot: the stack pointer at the function's entry; body: as in image_manifest.h. */
FROM_ASSEMBLY struct destination umbra_slow_entry(uint64_t *slot, uint64_t body);

/* The call that had this record has returned; *slot holds the true return address again. */
FROM_ASSEMBLY void umbra_slow_exit(struct record *record, uint64_t *slot);

/* Returns the hook that calls into the body's image go through from now on. */
FROM_ASSEMBLY void *umbra_first_call(uint64_t body);

#endif
