#include "grinder/formats/baseline_contexts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "grinder/profile/baseline.h"
#include "support/memory.h"

struct contexts {
    struct stack_tree stacks;         /* of all parts */
    bool *is_kept;                    /* by stack */
    uint32_t *first_callee, *sibling; /* by stack, of those that are kept; 0: none */
    const uint32_t *row_of;
};

/* Stacks are numbered after their parents: numbers holds those of all parents. */
static void add_part(struct contexts *contexts, const struct part *part)
{
    const struct stack_tree *from = &part->stacks;
    uint32_t *numbers = memory_zeroed(from->keys.count, sizeof(*numbers));

    for (uint32_t i = 1; i < from->keys.count; i++) {
        numbers[i] =
            stacks_push(&contexts->stacks, numbers[stack_parent(from, i)], stack_function(from, i));
        stack_cost_add(&contexts->stacks.costs[numbers[i]], &from->costs[i]);
    }
    free(numbers);
}

static size_t count_of(const struct contexts *contexts)
{
    return contexts->stacks.keys.count;
}

/* Those that are large enough, and what leads to them. False: nothing calls anything. */
static bool choose(struct contexts *contexts)
{
    struct stack_cost all = {0};
    bool has_calls = false;

    contexts->is_kept = memory_zeroed(count_of(contexts), sizeof(*contexts->is_kept));
    for (size_t i = 0; i < count_of(contexts); i++)
        stack_cost_add(&all, &contexts->stacks.costs[i]);
    for (size_t i = count_of(contexts); i-- > 1;) {
        const struct stack_cost *own = &contexts->stacks.costs[i];
        uint32_t parent = stack_parent(&contexts->stacks, (uint32_t)i);
        contexts->is_kept[i] |= baseline_has_context(own->calls, all.calls) ||
                                baseline_has_context(own->instructions, all.instructions);
        contexts->is_kept[parent] |= contexts->is_kept[i];
        has_calls |= contexts->is_kept[i] && parent;
    }
    return has_calls;
}

/* In the order of the rows, the last first. */
static int compare_stacks(const void *left, const void *right, void *user)
{
    const struct contexts *contexts = user;
    uint32_t a = contexts->row_of[stack_function(&contexts->stacks, *(const uint32_t *)left)];
    uint32_t b = contexts->row_of[stack_function(&contexts->stacks, *(const uint32_t *)right)];

    return (a < b) - (a > b);
}

static void link_callees(struct contexts *contexts)
{
    uint32_t *order = memory_zeroed(count_of(contexts), sizeof(*order));
    size_t count = 0;

    contexts->first_callee = memory_zeroed(count_of(contexts), sizeof(*contexts->first_callee));
    contexts->sibling = memory_zeroed(count_of(contexts), sizeof(*contexts->sibling));
    for (uint32_t i = 1; i < count_of(contexts); i++)
        if (contexts->is_kept[i])
            order[count++] = i;
    qsort_r(order, count, sizeof(*order), compare_stacks, contexts);
    for (size_t i = 0; i < count; i++) {
        uint32_t parent = stack_parent(&contexts->stacks, order[i]);
        contexts->sibling[order[i]] = contexts->first_callee[parent];
        contexts->first_callee[parent] = order[i];
    }
    free(order);
}

static void write_stack(FILE *stream, const struct contexts *contexts, uint32_t stack,
                        const struct baseline_rows *rows, bool has_instructions)
{
    const struct stack_cost *own = &contexts->stacks.costs[stack];
    uint32_t function = stack_function(&contexts->stacks, stack);

    fprintf(stream, "%u\t%" PRIu64 "\t", contexts->stacks.depths[stack], own->calls);
    if (has_instructions)
        fprintf(stream, "%" PRIu64, own->instructions);
    else
        putc('-', stream);
    fprintf(stream, "\t%s\n",
            function == STACK_CUT ? "-" : rows->spellings[contexts->row_of[function] - 1]);
}

/* A stack's callees, then what follows it, or those above it. */
static uint32_t next_of(const struct contexts *contexts, uint32_t stack)
{
    if (contexts->first_callee[stack])
        return contexts->first_callee[stack];
    while (stack && !contexts->sibling[stack])
        stack = stack_parent(&contexts->stacks, stack);
    return contexts->sibling[stack];
}

void baseline_contexts_write(FILE *stream, const struct view *view,
                             const struct baseline_rows *rows, const uint32_t *row_of)
{
    struct contexts contexts = {.row_of = row_of};

    for (size_t i = view->first; i < view->first + view->count; i++)
        add_part(&contexts, &view->profile->parts[i]);
    if (count_of(&contexts) && choose(&contexts)) {
        fputs(BASELINE_CONTEXTS "\n", stream);
        link_callees(&contexts);
        for (uint32_t i = contexts.first_callee[0]; i; i = next_of(&contexts, i))
            write_stack(stream, &contexts, i, rows, profile_has_instructions(view->profile));
    }
    stacks_free(&contexts.stacks);
    free(contexts.is_kept);
    free(contexts.first_callee);
    free(contexts.sibling);
}
