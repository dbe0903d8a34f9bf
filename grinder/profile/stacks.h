/*
 * Call stacks with their own costs: contexts of any number of threads and traces, added up by the
 * chain of functions that leads to them.
 *
 *      number      0           1             2             3
 *      stack       (none)      main          main;parse    main;print
 *      (parent,    -           (0, main)     (1, parse)    (1, print)
 *       function)
 *
 * A stack is numbered after its parent. Memory is for distinct stacks, 72 bytes each at most on
 * average, and not for the traces they came from.
 *
 * A frame of function 0, STACK_CUT, stands for frames that are not there:
 * - at the bottom, for the callers of a context past the recording's node limit, of which the
 *   direct one alone is known (trace_format.h, folding): [cut];caller;callee. Such a callee's self
 *   time is known for all its callers together and stands at [cut];callee.
 * - at the top, for what lies deeper than STACK_DEPTH frames: its costs are added up there. A
 *   format that spells each stack out would grow with the square of the depth.
 */
#ifndef UMBRA_GRINDER_STACKS_H
#define UMBRA_GRINDER_STACKS_H

#include "grinder/base/pair_index.h"
#include "grinder/profile/images.h"
#include "grinder/profile/tree.h"

#define STACK_CUT   0u   /* function */
#define STACK_DEPTH 1000 /* frames */

struct stack_cost {
    uint64_t calls; /* entries of the stack itself */
    uint64_t self_ns;
    uint64_t instructions; /* its own */
};

/* All zero is a tree without stacks. */
struct stack_tree {
    struct pair_index keys;   /* parent, function; number 0 is (0, UINT64_MAX) */
    struct stack_cost *costs; /* by number in keys */
    uint16_t *depths;         /* frames, by number in keys */
    size_t room, depth_room;
};

/* The number of the stack with one frame more than parent; of its STACK_CUT where that is full. */
uint32_t stacks_push(struct stack_tree *stacks, uint32_t parent, uint32_t function);

/* Adds the figures of `part` to those of `sum`. */
static inline void stack_cost_add(struct stack_cost *sum, const struct stack_cost *part)
{
    sum->calls += part->calls;
    sum->self_ns += part->self_ns;
    sum->instructions += part->instructions;
}

void stacks_free(struct stack_tree *stacks);

uint32_t stack_parent(const struct stack_tree *stacks, uint32_t stack);
uint32_t stack_function(const struct stack_tree *stacks, uint32_t stack);

/* Room for any stack's frames. */
struct stack_frames {
    uint32_t functions[STACK_DEPTH + 1]; /* from the bottom up */
    size_t count;
};

void stack_spell(const struct stack_tree *stacks, uint32_t stack, struct stack_frames *frames);

/* The stack of a context; numbers has an element for each context of the tree, zeroed at first. */
uint32_t stack_of_context(struct stack_tree *stacks, const struct tree *tree,
                          const struct context *context, uint32_t *numbers);

/* What a frame is called: the function's name, "[cut]" for STACK_CUT. */
const char *stack_frame_name(const struct images *images, uint32_t function);

#endif
