/*
 * A thread's deepest chain of calls, put together from the blocks that a trace has of it, and how
 * much of that can be believed (stack_format.h). Nothing in the blocks is trusted.
 */
#ifndef UMBRA_TRACE_STACK_CHAIN_H
#define UMBRA_TRACE_STACK_CHAIN_H

#include <stddef.h>

#include "trace/stack_format.h"

struct stack_chain_copy {
    struct trace_stack head;           /* kind 0: it was not seen */
    struct trace_stack_entry *entries; /* by place, owned; places that were not seen are zero */
    size_t places;
};

/* All zero: nothing known yet; nor is there if the head of copy 0 was not seen. */
struct stack_chain {
    struct stack_chain_copy copies[STACK_COPIES];

    /* Set by stack_chain_check. */
    uint32_t copy;  /* the one that has the chain */
    uint64_t peak;  /* bytes */
    uint32_t count; /* of the chain's calls */
    uint32_t outer; /* positions 0 … outer - 1 are known */
    uint32_t inner; /* and count - inner … count - 1; the whole chain, if it is count */
};

/* Another block. False: out of memory. */
bool stack_chain_add(struct stack_chain *chain, const struct trace_stack *block,
                     const struct trace_stack_entry *entries);

/* All blocks were added. */
void stack_chain_check(struct stack_chain *chain);

/* position: one that is known. */
const struct trace_stack_entry *stack_chain_entry(const struct stack_chain *chain,
                                                  uint32_t position);

/* Bytes from the stack's end to the innermost call; less than the peak if this was reached by a
   chain that could not be written any more. 0: no call is known. */
uint64_t stack_chain_depth(const struct stack_chain *chain);

void stack_chain_free(struct stack_chain *chain);

#endif
