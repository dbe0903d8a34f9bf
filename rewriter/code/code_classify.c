/*
 * Functions and fragments. Compilers split the unlikely part of a function off, to another place,
 * with a frame description of its own: nothing in it says that it is not a function. Hooking a
 * fragment would count calls that never were, and write below the stack pointer of code that has
 * a red zone in use. Code that is called, named, or aligned and pointed at is surely a function.
 * Code that is entered with a frame set up is surely a fragment. For the rest, jumps decide:
 *
 *      - code that jumps into the middle of a fragment, or into whose middle a fragment jumps, is
 *        the function the fragment belongs to;
 *      - code that jumps into the middle of a sure function, or into whose middle one jumps, is
 *        its fragment;
 *      - of two unsure ones of which one jumps into the other's middle the aligned one is the
 *        function, else the higher one: split-off parts come first in an image;
 *      - what two functions jump to is a function: a fragment belongs to one;
 *      - what is jumped to on a condition, or is neither aligned nor pointed at, may be a fragment
 *        and counts as one.
 *
 * A function that is only ever the target of tail calls is jumped to without a condition. So are
 * some fragments (glibc's round_away.cold), of which one in 16 has an aligned address. But nothing
 * aligns fragments, and they lie side by side: the one behind it is not aligned.
 */
#include "rewriter/code/code_classify.h"

#include <stdlib.h>

#include "support/memory.h"

#define FUNCTION_ALIGNMENT 16

enum seen {
    SEEN_CONDITION = 1,    /* another function jumps here on a condition */
    SEEN_AS_FRAGMENT = 2,  /* a sure function jumps into its middle, or it into one's */
    SEEN_AS_FUNCTION = 4,  /* a fragment jumps into its middle, or it into a fragment's */
    SEEN_FROM_SEVERAL = 8, /* two functions jump to its start */
};

static bool is_aligned(const struct function *function)
{
    return function->address % FUNCTION_ALIGNMENT == 0;
}

static bool is_sure(const struct function *function)
{
    uint8_t sure = EVIDENCE_SYMBOL | EVIDENCE_CALL | EVIDENCE_ENTRY | EVIDENCE_PROLOGUE;

    return function->evidence & sure || !(function->evidence & EVIDENCE_UNWIND) ||
           (function->evidence & EVIDENCE_POINTER && is_aligned(function));
}

/* A jump into the middle: both are parts of one function. */
static void look_at_parts(const struct function *from, uint8_t *from_seen,
                          const struct function *to, uint8_t *to_seen)
{
    bool is_from_fragment = from->reason == PATCH_FRAGMENT;
    bool is_to_fragment = to->reason == PATCH_FRAGMENT;

    if (is_from_fragment || is_to_fragment) {
        *(is_from_fragment ? to_seen : from_seen) |= SEEN_AS_FUNCTION;
        return;
    }
    if (is_sure(from) != is_sure(to)) {
        *(is_sure(from) ? to_seen : from_seen) |= SEEN_AS_FRAGMENT;
        return;
    }
    if (is_aligned(from) != is_aligned(to))
        *(is_aligned(from) ? to_seen : from_seen) |= SEEN_AS_FRAGMENT;
    else
        *(from->address > to->address ? to_seen : from_seen) |= SEEN_AS_FRAGMENT;
}

/* The function that a part belongs to, as far as known. */
static uint32_t whole_of(const struct function_list *functions, const struct function *part)
{
    if (part->reason == PATCH_FRAGMENT && part->owner)
        return part->owner;
    return (uint32_t)(part - functions->items) + 1;
}

static void look_at(struct function_list *functions, const struct branch *branch, uint8_t *seen)
{
    const struct function *from = function_list_owner(functions, branch->source);
    struct function *to = function_list_owner(functions, branch->target);
    uint32_t whole;

    if (!from || !to || from == to || branch->source >= from->end || branch->target >= to->end)
        return;
    if (branch->target != to->address) {
        if (branch->kind != BRANCH_TABLE)
            look_at_parts(from, &seen[from - functions->items], to, &seen[to - functions->items]);
        return;
    }
    if (branch->kind != BRANCH_JUMP)
        seen[to - functions->items] |= SEEN_CONDITION;
    whole = whole_of(functions, from);
    if (!to->owner)
        to->owner = whole;
    else if (to->owner != whole && from->reason != PATCH_FRAGMENT)
        seen[to - functions->items] |= SEEN_FROM_SEVERAL;
}

/* Right behind what is before it, and right before what is not aligned. */
static bool is_aligned_by_chance(const struct function_list *functions,
                                 const struct function *function)
{
    const struct function *last = &functions->items[functions->count - 1];

    return function > functions->items && function < last &&
           function[-1].end == function->address && function[1].address == function->end &&
           !is_aligned(&function[1]);
}

static bool is_fragment(const struct function_list *functions, const struct function *function,
                        uint8_t seen)
{
    if (is_sure(function))
        return false;
    if (seen & SEEN_AS_FRAGMENT)
        return true;
    if (seen & (SEEN_AS_FUNCTION | SEEN_FROM_SEVERAL))
        return false;
    if (seen || function->evidence & EVIDENCE_POINTER)
        return seen;
    return !is_aligned(function) || (function->owner && is_aligned_by_chance(functions, function));
}

void code_classify(const struct code_map *map, struct function_list *functions)
{
    uint8_t *seen = memory_zeroed(functions->count, sizeof(*seen));

    for (size_t i = 0; i < map->branch_count; i++)
        look_at(functions, &map->branches[i], seen);
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if (!function->reason && is_fragment(functions, function, seen[i]))
            function->reason = PATCH_FRAGMENT;
    }
    free(seen);
}
