/* The stacks of both recordings of a diff, of functions that match. */
#ifndef UMBRA_GRINDER_DIFF_STACKS_H
#define UMBRA_GRINDER_DIFF_STACKS_H

#include "grinder/views/diff.h"

struct diff_stacks {
    struct stack_tree stacks;  /* with the costs of the second; functions are as diff->same has them */
    struct stack_cost *before; /* by stack, those of the first */
    size_t before_room;
};

void diff_stacks_begin(struct diff_stacks *both, const struct diff *diff);
void diff_stacks_free(struct diff_stacks *both);

/* How far a stack's own figure changed, by the weight of the diff; 0 if it is too small for a baseline to have it. */
int64_t diff_stack_change(const struct diff_stacks *both, const struct diff *diff, uint32_t stack);

/* By function as diff->same has it, the stack of it that changed most, or 0; to be freed. */
uint32_t *diff_stacks_largest(const struct diff_stacks *both, const struct diff *diff);

#endif
