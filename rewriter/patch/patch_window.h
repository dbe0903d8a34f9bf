/* The instructions at the start of a function that give way to a jump. */
#ifndef UMBRA_REWRITER_PATCH_WINDOW_H
#define UMBRA_REWRITER_PATCH_WINDOW_H

#include "rewriter/patch/patch_plan.h"

struct patch_window {
    uint64_t start;   /* first byte replaced */
    size_t offset;    /* of start from the function's address */
    size_t room;      /* bytes wanted */
    size_t displaced; /* bytes of instructions that move */
    size_t covered;   /* these and the padding behind them */
    bool is_over;     /* control does not get past the displaced instructions */
    bool has_padding;
    bool is_adjusted; /* an instruction does not move as it is */
};

/*
 * Finds room for that many bytes: a jump, or a short one, or a jump and a hole behind it. Nothing
 * leads into the bytes to be overwritten but to the first, and what is displaced can move. Returns
 * why there is none, or PATCH_UNDECIDED.
 */
enum patch_reason patch_window_measure(const struct patch_plan *plan,
                                       const struct function *function, struct patch_window *window,
                                       size_t room);

/* Bytes overwritten: behind a short jump, the instructions displaced stay, as far as they can. */
size_t patch_window_overwritten(const struct patch_window *window);

/* Whether anything is known to lead to an address from here on, below `end`. */
bool patch_is_target(const struct code_map *map, uint64_t address, uint64_t end);

#endif
