/*
 * How deep the stack of each thread was, and the chain of calls that was on it then, as rows whose
 * bytes add up to the peak:
 *
 *      stack's end  |            | PEAK_BEFORE       what is above the first recorded call
 *                   +------------+
 *                   | main       | PEAK_CALLS        main, 1 call
 *                   +------------+
 *                   | fib        | PEAK_CALLS        fib, 3 calls
 *                   | fib        |
 *                   | fib        |
 *                   +------------+
 *      peak         | memcpy     | PEAK_CALLS        memcpy, 1 call, of which nothing is seen
 *
 * A call's bytes reach from its return address to that of the next one. If the next one is not
 * known, they belong to the row PEAK_UNKNOWN. Functions that call each other in turn are put
 * together too: a b a b a b is two rows of 3 calls each.
 */
#ifndef UMBRA_GRINDER_PEAK_H
#define UMBRA_GRINDER_PEAK_H

#include <stdbool.h>

#include "grinder/base/pair_index.h"
#include "grinder/profile/selection.h"
#include "grinder/profile/tree.h"
#include "trace/stack_chain.h"

enum peak_row_kind {
    PEAK_BEFORE,  /* what ran above the first recorded call */
    PEAK_CALLERS, /* calls above the first one of a function that was chosen */
    PEAK_CALLS,   /* of one function, one called by the other, or in turn */
    PEAK_UNKNOWN, /* calls that were not kept, or were being noted at the end */
};

struct peak_row {
    enum peak_row_kind kind;
    uint32_t function; /* as images.h numbers it; 0 if it is not known */
    uint32_t calls;    /* 0: not known */
    uint32_t cycle;    /* in the first of so many rows that call each other in turn; else 0 */
    uint64_t bytes;
};

/* The peak of one thread. */
struct peak {
    bool is_shown;         /* the thread, and a function of its chain, are chosen */
    bool is_known;         /* else it made no recorded call on a stack of its own */
    uint64_t bytes;        /* from the stack's end to the return address of the deepest call */
    uint64_t size;         /* that the stack may take */
    uint32_t calls;        /* in the chain */
    struct peak_row *rows; /* the outermost first; null if no call is known */
    size_t row_count, row_room;
};

/* What a trace has of stacks, by thread. All zero is empty. */
struct chains {
    struct pair_index ordinals;
    struct stack_chain *chains; /* by number in ordinals */
    size_t room;
};

/* Reads them. To be done before the tree is: then that has all nodes that they name, though the
   process may be recording. To be freed also if it could not be read. */
bool chains_read(struct chains *chains, const struct trace_file *file, struct failure *failure);
void chains_free(struct chains *chains);

/* A peak for each thread of the tree, to be freed with peaks_free. selection may be null. */
struct peak *peaks_of(struct chains *chains, const struct tree *tree, const struct images *images,
                      struct selection *selection);
void peaks_free(struct peak *peaks, size_t count);

#endif
