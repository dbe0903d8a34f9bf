/* How far the stack pointer is below a function's return address, at each of its instructions. */
#ifndef UMBRA_REWRITER_COPY_DEPTH_H
#define UMBRA_REWRITER_COPY_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEPTH_UNKNOWN (-1) /* it depends */

/*
 * Follows the instructions in the order of their addresses, not as they are executed: where nothing
 * tells how deep the stack is, it is taken to be as deep as at the last branch before that stays
 * inside. So this may be wrong, and whoever uses it must be able to see that.
 */
struct copy_depth {
    int32_t now;   /* in bytes, or DEPTH_UNKNOWN */
    int32_t frame; /* where rbp points, likewise */
    int32_t body;  /* at the last branch inside, likewise */
    bool is_over;  /* control does not come to the next instruction from here */
    int32_t *at;   /* at each offset that a branch before leads to, + 2; else 0 */
    size_t size, room;
};

void copy_depth_begin(struct copy_depth *depth, size_t function_size);
void copy_depth_free(struct copy_depth *depth);

/* The instruction at `offset` comes next. */
void copy_depth_enter(struct copy_depth *depth, size_t offset);
/* It is the one at `bytes`. */
void copy_depth_pass(struct copy_depth *depth, const uint8_t *bytes, size_t length);
/* It may go on at this offset, which may lie outside of the function. */
void copy_depth_branch(struct copy_depth *depth, size_t target);
/* It never goes on with the next. */
void copy_depth_end(struct copy_depth *depth);

#endif
