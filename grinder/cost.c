/*
 * From ticks to nanoseconds.
 *
 * A node holds ticks: the sum of its ended invocations' durations, callees included, and with
 * them the cost of measuring. A recorded call costs probe_inner_ticks inside its own interval
 * (after the first clock reading and before the second) and probe_outer_ticks outside it, in the
 * interval of its caller:
 *
 *      caller    ───────────┐                               ┌───────────
 *                    outer/2 │ inner/2   body     inner/2   │ outer/2
 *                            t0                             t1
 *
 * `probes` counts the recorded calls, at any depth, that began and ended within the node's ticks;
 * each of them left inner + outer there. So, with `ended` invocations,
 *
 *      net ticks = ticks - ended * inner - probes * (inner + outer)          at least 0
 *
 * ended = calls - live. A node says how many of its calls returned (exits); of the others it is
 * not known which were unwound and which are live. But no more can be live in a node than in its
 * thread: the rest of them were unwound. For a thread that ended, live is 0 and this is exact;
 * otherwise it is off by at most live * inner ticks.
 *
 * Then, from the leaves up, tail calls apart:
 *
 *      total ticks = max(net ticks, sum of the children's total ticks)
 *      self ticks  = total ticks - sum of the children's total ticks
 *      self ns     = self ticks, converted and rounded to the nearest
 *      total ns    = self ns + sum of the children's total ns
 *
 * The max is for invocations that have not ended: main's ticks are 0 until it returns, its
 * callees' are not. Rounding happens once, in self ns; all else is addition of integers. That is
 * why the self times of any grouping of contexts (function, thread, process) add up to exactly
 * the same total, and profile and summary agree to the nanosecond.
 *
 * Tail calls. A function that was jumped to is below the one that jumped, but ran after it, not
 * within its ticks: it adds to the caller's total, and leaves the caller's self time alone.
 *
 * Recursion. Inclusive time of a function or of a call edge counts outermost contexts alone,
 * those with no context of the same function above: time during which at least one invocation
 * was under way. Adding up all contexts would count a recursive function's time once a level.
 * For fib(30) the edge fib -> fib then carries 2,692,536 calls and no inclusive time, main -> fib
 * carries it all; what goes into a function adds up to its inclusive time, also in
 * callgrind_annotate, which computes it in that way.
 *
 * Folding. A folded context has ticks of its own; what its function g calls past the limit is
 * below g's representative, for all callers together, while what it called before stays below it:
 *
 *      self ns of the representative = sum of ns of the contexts folded into it, own callees taken
 * out
 *                                      - sum of total ns of its children           at least 0
 *
 * It is settled when the whole thread was walked. Whether a context below a representative is
 * outermost is known up to the representative only, so inclusive times of folded contexts are
 * upper bounds; their total_calls hold no more than their own calls.
 */
#include "grinder/cost.h"

#include <stdlib.h>

#include "grinder/memory.h"

/* A context whose children are being visited, and what those visited came to. */
struct level {
    uint32_t slot;
    uint32_t next_child;
    bool visited;   /* chosen, or below one that is */
    uint64_t ticks; /* of callees that ran within this context's ticks */
    uint64_t ns;    /* of all callees */
    uint64_t calls;
    uint64_t own_calls;           /* of the callees themselves */
    uint64_t tail_ticks, tail_ns; /* of those that ran after it, by a tail call */
};

struct walk {
    struct tree *tree;
    const struct cost_visitor *visitor;
    uint64_t contexts;
    uint32_t *depth_of; /* by function: its contexts on the way down to here */
    struct level *levels;
    size_t level_count, level_room;
    uint64_t live; /* upper bound for a node */
};

uint64_t cost_live(const struct tree_thread *thread)
{
    uint64_t ended = thread->exits + thread->record.unwound;

    if (thread->record.state != TRACE_THREAD_RUNNING)
        return thread->record.live;
    return thread->entries > ended ? thread->entries - ended : 0;
}

static uint64_t net_ticks(const struct walk *walk, const struct context *context)
{
    uint64_t inner = walk->tree->header.probe_inner_ticks;
    uint64_t both = inner + walk->tree->header.probe_outer_ticks;
    uint64_t open = context->calls > context->exits ? context->calls - context->exits : 0;
    uint64_t unwound = open > walk->live ? open - walk->live : 0;
    unsigned __int128 spent = (unsigned __int128)context->exits * inner +
                              (unsigned __int128)unwound * inner +
                              (unsigned __int128)context->probes * both;

    return spent < context->ticks ? context->ticks - (uint64_t)spent : 0;
}

static uint64_t ns_of_ticks(const struct tree *tree, uint64_t ticks)
{
    unsigned __int128 scaled = (unsigned __int128)ticks * 1000000000u;
    uint64_t rate = tree->header.ticks_per_second;

    return (uint64_t)((scaled + rate / 2) / rate);
}

static bool is_chosen(const struct walk *walk, const struct context *context)
{
    return !walk->visitor->chosen || walk->visitor->chosen[context->function];
}

static void descend(struct walk *walk, uint32_t slot)
{
    const struct context *context = &walk->tree->contexts[slot];
    bool below = walk->level_count && walk->levels[walk->level_count - 1].visited;

    walk->levels =
        memory_grow(walk->levels, walk->level_count, &walk->level_room, sizeof(*walk->levels));
    walk->levels[walk->level_count++] =
        (struct level){.slot = slot,
                       .next_child = context->first_child,
                       .visited = below || is_chosen(walk, context)};
    walk->depth_of[context->function] += walk->levels[walk->level_count - 1].visited;
    walk->contexts += !(context->site & CONTEXT_JIT);
}

/* The context on top is complete: reports it and adds it to the one above. */
static void ascend(struct walk *walk)
{
    struct level done = walk->levels[--walk->level_count];
    struct level *above = walk->level_count ? &walk->levels[walk->level_count - 1] : NULL;
    const struct context *context = &walk->tree->contexts[done.slot];
    uint64_t net = net_ticks(walk, context);
    uint64_t self_ticks = net > done.ticks ? net - done.ticks : 0;
    uint64_t own_ns = ns_of_ticks(walk->tree, self_ticks);
    struct cost cost = {
        .calls = context->calls,
        .self_ns = context->fold ? 0 : own_ns,
        .total_ns = own_ns + done.ns,
        .total_calls = context->calls + done.calls,
        .edge_calls = context->site & CONTEXT_JIT ? done.own_calls : context->calls,
    };

    walk->depth_of[context->function] -= done.visited;
    cost.outermost = !walk->depth_of[context->function];
    if (!above) {
        if (context->fold)
            walk->tree->folds[context->fold].children_ns = done.ns - done.tail_ns;
        return;
    }
    if (context->site & TRACE_SITE_TAIL) {
        above->tail_ticks += self_ticks + done.ticks + done.tail_ticks;
        above->tail_ns += cost.total_ns;
    } else {
        above->ticks += self_ticks + done.ticks + done.tail_ticks;
    }
    above->ns += cost.total_ns;
    above->calls += cost.total_calls;
    above->own_calls += context->calls;
    if (context->fold)
        walk->tree->folds[context->fold].folded_ns += own_ns;
    if (done.visited)
        walk->visitor->leave(walk->visitor->user, walk->tree, context, &cost);
}

static void walk_below(struct walk *walk, uint32_t top)
{
    descend(walk, top);
    while (walk->level_count) {
        struct level *level = &walk->levels[walk->level_count - 1];
        uint32_t child = level->next_child;
        if (!child) {
            ascend(walk);
            continue;
        }
        level->next_child = walk->tree->contexts[child].sibling;
        descend(walk, child);
    }
}

static void settle_fold(struct walk *walk, const struct fold *fold)
{
    const struct context *context = &walk->tree->contexts[fold->slot];
    struct cost cost = {0};

    if (!is_chosen(walk, context))
        return;
    if (fold->folded_ns > fold->children_ns)
        cost.self_ns = fold->folded_ns - fold->children_ns;
    walk->visitor->leave(walk->visitor->user, walk->tree, context, &cost);
}

uint64_t cost_walk(struct tree *tree, struct tree_thread *thread, size_t function_count,
                   const struct cost_visitor *visitor)
{
    struct walk walk = {.tree = tree, .visitor = visitor, .live = cost_live(thread)};

    walk.depth_of = memory_zeroed(function_count, sizeof(*walk.depth_of));
    if (thread->root)
        walk_below(&walk, thread->root);
    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next)
        walk_below(&walk, tree->folds[fold].slot);
    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next)
        settle_fold(&walk, &tree->folds[fold]);
    free(walk.depth_of);
    free(walk.levels);
    return walk.contexts;
}
