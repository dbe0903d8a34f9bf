/* Leaves: functions of which the agent need not see the end. */
#ifndef UMBRA_REWRITER_CODE_LEAF_H
#define UMBRA_REWRITER_CODE_LEAF_H

#include "rewriter/code/decode.h"

/*
 * A leaf: code that ends soon whatever it is called with, and calls nothing. The agent need not
 * see it return. Fed with a function's instructions in order.
 */
struct leaf_check {
    uint64_t start, end;
    bool is_broken;
    bool is_closed; /* the last instruction does not go on to the next */
};

void leaf_check_add(struct leaf_check *check, const struct instruction *at);
bool leaf_check_is_leaf(const struct leaf_check *check);

/* Whether the code from start to end, whose bytes these are, is a leaf. Stops at the first
   instruction that rules it out, which comes soon in most functions. */
bool code_is_leaf(const struct processor *processor, uint64_t start, uint64_t end,
                  const uint8_t *bytes);

#endif
