/* What each context of a thread costs, callees included and excluded, in a walk over its tree. */
#ifndef UMBRA_GRINDER_COST_H
#define UMBRA_GRINDER_COST_H

#include <stdbool.h>

#include "grinder/profile/tree.h"

/* Waits of a context that were noted (trace_wait), and of all below it. */
struct wait_cost {
    uint64_t count; /* of the context itself, as longest_ns */
    uint64_t self_ns, longest_ns;
    uint64_t total_ns;
};

struct cost {
    uint64_t calls;        /* entries of the context itself */
    uint64_t self_ns;      /* time between callees */
    uint64_t measuring_ns; /* what was taken out of that, as the cost of measuring */
    uint64_t total_ns;     /* self and callees */
    uint64_t total_calls;  /* entries of the context and all below it */
    uint64_t self_instructions; /* that the context's function executed itself */
    uint64_t total_instructions; /* those, and of all below it */
    uint64_t samples;      /* that its self time is made of; 0 unless threads sample themselves */
    uint64_t total_samples; /* those, and of all below it */
    struct wait_cost wait;
    uint64_t edge_calls;   /* calls; of code made at run time, those made from it (jit_callers.h) */
    bool outermost;        /* no context above is one of the same function */
};

/* Called for each context once all below it were visited, roots excepted. A representative comes
   last: its self time and instructions, with calls and total_ns 0. */
struct cost_visitor {
    void *user;
    /* By function number, null for all: contexts of those that are not zero, and all below them,
       are visited, as if there were no others. */
    const uint8_t *chosen;
    void (*leave)(void *user, const struct tree *tree, const struct context *context,
                  const struct cost *cost);
};

/* Walks one thread's trees; function_count bounds the function numbers in the tree. Returns how
   many contexts there were, roots and representatives included; the rest are lost. */
uint64_t cost_walk(struct tree *tree, struct tree_thread *thread, size_t function_count,
                   const struct cost_visitor *visitor);

/* Invocations of the thread that had neither returned nor been unwound: counted at its end, or,
   where it still ran, what the counting equation leaves. */
uint64_t cost_live(const struct tree_thread *thread);
/* It follows from the counting equation: nobody counted it, or it has changed since. */
bool cost_live_is_derived(const struct tree_thread *thread);

#endif
