/* How deep a thread's stack has been: a part of struct thread; stack.h says how it is used. */
#ifndef UMBRA_HOOKS_STACK_PEAK_H
#define UMBRA_HOOKS_STACK_PEAK_H

#include <stdint.h>

#include "trace/stack_format.h"

struct stack_copy {
    uint32_t block_count;
    uint32_t blocks[STACK_MOST_BLOCKS]; /* index of each one's unit 0 */
};

struct stack_peak {
    uint64_t lowest; /* stack pointer; the end of the stack if nothing was noted */
    struct stack_copy copies[STACK_COPIES];
};

#endif
