/*
 * Functions and fragments. Compilers split the unlikely part of a function off, to another place,
 * with a frame description of its own: nothing in it says that it is not a function. Hooking a
 * fragment would count calls that never were, and write below the stack pointer of code that has
 * a red zone in use. What tells a fragment, in a file without symbols:
 *
 *      - nobody calls it, and not both: its address is taken, and it is aligned as functions are;
 *      - and another function jumps to it on a condition,
 *        or it jumps back into the middle of another function,
 *        or it is not aligned, and nobody takes its address.
 *
 * A function that is only ever the target of tail calls is jumped to without a condition. The
 * main part of a function may jump into the middle of its own fragment, too.
 */
#include "rewriter/code.h"

#include "rewriter/memory.h"

#include <stdlib.h>

#define FUNCTION_ALIGNMENT 16

enum seen {
    SEEN_CONDITION = 1, /* another function jumps here on a condition */
    SEEN_INTO_OTHER = 2,
};

static void look_at(struct function_list *functions, const struct branch *branch, uint8_t *seen)
{
    const struct function *from = function_list_owner(functions, branch->source);
    struct function *to = function_list_owner(functions, branch->target);

    if (!from || !to || from == to || branch->source >= from->end || branch->target >= to->end)
        return;
    if (branch->target != to->address && branch->kind == BRANCH_TABLE)
        return;
    if (branch->target != to->address) {
        seen[from - functions->items] |= SEEN_INTO_OTHER;
        return;
    }
    if (branch->kind != BRANCH_JUMP)
        seen[to - functions->items] |= SEEN_CONDITION;
    if (!to->owner)
        to->owner = (uint32_t)(from - functions->items) + 1;
}

static bool is_fragment(const struct function *function, uint8_t seen)
{
    const uint8_t sure = EVIDENCE_SYMBOL | EVIDENCE_CALL | EVIDENCE_ENTRY;
    bool is_aligned = function->address % FUNCTION_ALIGNMENT == 0;
    bool is_taken = function->evidence & EVIDENCE_POINTER;

    if (function->evidence & sure || !(function->evidence & EVIDENCE_UNWIND) ||
        (is_taken && is_aligned))
        return false;
    return seen || (!is_aligned && !is_taken);
}

void code_classify(const struct code_map *map, struct function_list *functions)
{
    uint8_t *seen = memory_zeroed(functions->count, sizeof *seen);

    for (size_t i = 0; i < map->branch_count; i++)
        look_at(functions, &map->branches[i], seen);
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if (!function->reason && is_fragment(function, seen[i]))
            function->reason = PATCH_FRAGMENT;
    }
    free(seen);
}
