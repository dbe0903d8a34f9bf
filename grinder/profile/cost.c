/*
 * From ticks to nanoseconds.
 *
 * A node's ticks are its *raw* time: what its ended calls took, callees included, and with them the
 * cost of measuring. With exact timing that is a sum. With adaptive timing it is an estimate: of a
 * gap of calls one was timed and counted `gap` times, and those behind the last one timed
 * (trace_node.next) count like the average. The gaps are random and do not depend on the duration
 * that they multiply, so the estimate has no bias; of n timed calls its relative error is about
 * (deviation / mean) / sqrt(n).
 *
 * Raw self time is raw time less the children's raw time, tail calls apart. A call has costs in two
 * contexts, its own and its caller's:
 *
 *      caller   ──────────────┐                               ┌──────────────
 *                 outer, half  │ inner, half  body  inner, half│  outer, half
 *                              t0                              t1
 *
 * The child's estimate holds `inner` for each of its calls, timed or not, since the timed ones
 * stand for all. In the caller's interval a call leaves all that it costs, which depends on how it
 * went: timed, untimed, passed (a leaf without a thunk). So what is to be taken out is
 *
 *      in the context itself       ended calls * inner
 *      in its caller's             timed * (cost timed - inner) + untimed * (cost untimed - inner)
 *                                  + passed * (cost passed - inner)
 *
 * where the last two may be negative: an untimed call costs less than the clock readings inside the
 * timed ones that stand for it. Costs are those of the trace's header, as the agent calibrated
 * them. All costs are local to a caller and its callee; counts are exact, so are the corrections'
 * numbers.
 *
 * Where threads take samples (TRACE_TIMING_SAMPLES), a node's ticks are self time already, its raw
 * time is that and its children's, and nothing is taken out.
 *
 * Negative self time does not appear. What a context lacks, since its callees' estimates or the
 * costs come to more than its own estimate, is taken from its caller, so that the self times of a
 * thread still add up to its raw time less all costs. Only where the callees take far more than
 * the caller (more than MOST_LACK) is that no error: the caller has not ended, or they are of a
 * coroutine that outlived it. Then it is taken to be as long as they are.
 *
 * ended = calls - live. A node says how many of its calls returned (exits); of the others it is
 * not known which were unwound and which are live. But no more can be live in a node than in its
 * thread: the rest of them were unwound. For a thread that ended, live is 0 and this is exact;
 * otherwise it is off by at most live * inner ticks.
 *
 * Then, from the leaves up:
 *
 *      self ns     = self ticks, converted and rounded to the nearest
 *      total ns    = self ns + sum of the children's total ns
 *
 * Where the thread was sampled, self ns is what timing and samples say together (self_time.h): a
 * first walk finds what each function was timed at, a second one reports.
 *
 * Times of calls add up to no more than the thread's life: else all of them are cut by the same
 * share.
 *
 * Rounding happens once, in self ns; all else is addition of integers. That is why the self times
 * of any grouping of contexts (function, thread, process) add up to exactly the same total, and
 * profile and summary agree to the nanosecond.
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
 *      self time of the representative = sum of the contexts folded into it, own callees taken out
 *                                        - sum of its children's raw time and outer costs
 *
 * It is settled when the whole thread was walked. What some lack is taken from all others in equal
 * parts. What folded contexts jumped to is below the representative, too; a walk before all others
 * finds how much. Whether a context below a representative is outermost is known up to the
 * representative only, and what measuring cost below it is not taken out of the contexts folded
 * into it, so inclusive times of folded contexts are upper bounds; their total_calls hold no more
 * than their own calls.
 *
 * Instructions are counted, not timed: each context has its own, and nothing is taken out of them.
 * So those of a representative are exact, with all below it, but are not among its callers'
 * inclusive ones.
 */
#include "grinder/profile/cost.h"

#include <stdlib.h>

#include "grinder/profile/self_time.h"
#include "support/memory.h"

#define MOST_LACK 0.125 /* share of its callees' time that a context may lack by error */

/* A context whose children are being visited, and what those visited came to. */
struct level {
    uint32_t slot;
    uint32_t next_child;
    bool visited; /* chosen, or below one that is */
    double ticks; /* raw, of callees that ran within this context's */
    double outer; /* what measuring them cost this context */
    double lack;  /* what they lack */
    uint64_t ns;  /* of all callees */
    uint64_t calls;
    uint64_t samples, wait_ns, instructions;
    double tail_ticks;  /* raw, of those that ran after it, by a tail call */
    uint64_t own_calls; /* of the callees themselves */
};

struct walk {
    struct tree *tree;
    const struct cost_visitor *visitor;
    uint64_t contexts;
    uint32_t *depth_of; /* by function: its contexts on the way down to here */
    struct level *levels;
    size_t level_count, level_room;
    uint64_t live;                 /* upper bound for a node */
    struct self_times *self_times; /* null: nothing was sampled */
    bool finds_tails;              /* the walk before all others, where contexts are folded */
    bool adds_up;                  /* the one before the last: adds up `sum` alone */
    uint64_t sum;                  /* self times, in ns */
    double scale; /* what is left of each, so that they do not exceed the thread's life */
    bool gathers; /* for self_times; nothing is reported yet */
};

/*
 * A thread that runs while another one calls exit() is not recorded any more, but may return from
 * calls that were, and may have been in the middle of a hook. So fewer calls may be live than were
 * counted then, or one more.
 */
static bool returned_since(const struct tree_thread *thread, uint64_t ended)
{
    return thread->record.state == TRACE_THREAD_CUT && thread->entries >= ended &&
           thread->entries - ended <= thread->record.live + 1;
}

bool cost_live_is_derived(const struct tree_thread *thread)
{
    uint64_t ended = thread->exits + thread->record.unwound;

    return thread->record.state == TRACE_THREAD_RUNNING ||
           (returned_since(thread, ended) && thread->entries - ended != thread->record.live);
}

uint64_t cost_live(const struct tree_thread *thread)
{
    uint64_t ended = thread->exits + thread->record.unwound;

    if (!cost_live_is_derived(thread))
        return thread->record.live;
    return thread->entries > ended ? thread->entries - ended : 0;
}

static double cost_of(uint32_t shifted)
{
    return (double)shifted / (1 << TRACE_COST_SHIFT);
}

/* In the context itself. */
static double inner_cost(const struct walk *walk, const struct context *context)
{
    uint64_t open = context->calls > context->exits ? context->calls - context->exits : 0;
    uint64_t unwound = open > walk->live ? open - walk->live : 0;

    return (double)(context->exits + unwound) * cost_of(walk->tree->header.probe_inner);
}

/* In its caller's. */
static double outer_cost(const struct walk *walk, const struct context *context)
{
    const struct trace_header *header = &walk->tree->header;
    uint64_t through_thunk = context->calls - context->passed;
    uint64_t timed = context->timed < through_thunk ? context->timed : through_thunk;

    return (double)timed * cost_of(header->probe_timed) +
           (double)(through_thunk - timed) * cost_of(header->probe_untimed) +
           (double)context->passed * cost_of(header->probe_passed) -
           (double)context->calls * cost_of(header->probe_inner);
}

static double ns_of_ticks(const struct walk *walk, double ticks)
{
    return ticks * 1e9 / (double)walk->tree->header.ticks_per_second;
}

static uint64_t whole(double ns)
{
    return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

/* net: ticks that were timed, less what measuring cost. */
static uint64_t self_ns(const struct walk *walk, uint32_t function, double net, double events)
{
    struct timed_self timed = {ns_of_ticks(walk, net), events};

    if (walk->finds_tails)
        return 0;
    if (walk->gathers)
        self_times_note(walk->self_times, function, timed);
    else if (walk->self_times)
        timed.ns = self_times_estimate(walk->self_times, function, timed);
    return whole(timed.ns * walk->scale);
}

/* self: raw ticks, of which so much is left. */
static uint64_t measuring_ns(const struct walk *walk, double self, uint64_t left_ns)
{
    uint64_t raw_ns = whole(ns_of_ticks(walk, self));

    return raw_ns > left_ns ? raw_ns - left_ns : 0;
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
    walk->contexts += !(context->site & CONTEXT_ADDED);
}

/* Raw time: what it says itself, or what its callees do. */
static double raw_ticks(const struct walk *walk, const struct context *context,
                        const struct level *level)
{
    if (walk->tree->header.timing == TRACE_TIMING_SAMPLES)
        return context->ticks + level->ticks;
    return context->ticks < level->ticks * (1 - MOST_LACK) ? level->ticks : context->ticks;
}

/* While its thread runs, they may be negative for a while (trace_format.h): none yet. */
static uint64_t own_instructions(const struct context *context)
{
    return context->instructions > INT64_MAX ? 0 : context->instructions;
}

static void note_children_of_fold(struct walk *walk, const struct context *context,
                                  const struct level *done)
{
    struct fold *fold = &walk->tree->folds[context->fold];

    if (!context->fold)
        return;
    if (walk->tree->header.timing != TRACE_TIMING_SAMPLES)
        fold->children_ticks = done->ticks + done->outer + done->lack;
    fold->measuring_ticks += done->outer + done->lack;
    fold->events += (double)done->own_calls;
    fold->instructions = own_instructions(context) + done->instructions;
    if (walk->finds_tails)
        fold->tail_ticks = done->tail_ticks;
}

/* What a folded context's function jumped to is below the representative, for all callers together.
   Of the context's caller it is that part which the context has of all calls. */
static double tail_of_folded(const struct walk *walk, const struct context *context)
{
    struct fold *fold = &walk->tree->folds[context->fold];

    if (!context->fold || context->site & TRACE_SITE_TAIL)
        return 0;
    if (walk->finds_tails)
        fold->calls += context->calls;
    return fold->calls ? fold->tail_ticks * (double)context->calls / (double)fold->calls : 0;
}

/* The samples of a context of a thread that samples itself. */
static uint64_t own_samples(const struct walk *walk, const struct context *context)
{
    return walk->tree->header.timing == TRACE_TIMING_SAMPLES ? context->timed : 0;
}

static struct wait_cost own_wait(const struct walk *walk, const struct context *context)
{
    const struct trace_wait *wait = &walk->tree->waits[context->wait];
    uint64_t ns = whole(ns_of_ticks(walk, (double)wait->ticks));

    return (struct wait_cost){.count = wait->count,
                              .self_ns = ns,
                              .longest_ns = whole(ns_of_ticks(walk, (double)wait->longest)),
                              .total_ns = ns};
}

/* The context on top is complete: reports it and adds it to the one above. */
static void ascend(struct walk *walk)
{
    struct level done = walk->levels[--walk->level_count];
    struct level *above = walk->level_count ? &walk->levels[walk->level_count - 1] : NULL;
    const struct context *context = &walk->tree->contexts[done.slot];
    double raw = raw_ticks(walk, context, &done), self = raw - done.ticks;
    double net = self - done.outer - done.lack - inner_cost(walk, context);
    double events = (double)(context->calls + done.own_calls);
    uint64_t own_ns = context->fold ? whole(ns_of_ticks(walk, net) * walk->scale)
                                    : self_ns(walk, context->function, net, events);
    struct cost cost = {
        .calls = context->calls,
        .self_ns = context->fold ? 0 : own_ns,
        .measuring_ns = context->fold ? 0 : measuring_ns(walk, self, own_ns),
        .total_ns = own_ns + done.ns,
        .total_calls = context->calls + done.calls,
        .self_instructions = own_instructions(context),
        .total_instructions = own_instructions(context) + done.instructions,
        .edge_calls = context->site & CONTEXT_JIT ? done.own_calls : context->calls,
        .samples = own_samples(walk, context),
        .total_samples = own_samples(walk, context) + done.samples,
        .wait = own_wait(walk, context),
    };

    cost.wait.total_ns += done.wait_ns;
    walk->depth_of[context->function] -= done.visited;
    cost.outermost = !walk->depth_of[context->function];
    if (!above) {
        note_children_of_fold(walk, context, &done);
        return;
    }
    done.tail_ticks += tail_of_folded(walk, context);
    if (context->site & TRACE_SITE_TAIL) {
        above->tail_ticks += raw + done.tail_ticks;
    } else {
        above->ticks += raw + done.tail_ticks;
        above->outer += outer_cost(walk, context);
    }
    if (net < 0 && !context->fold)
        above->lack -= net;
    above->ns += cost.total_ns;
    above->calls += cost.total_calls;
    above->instructions += cost.total_instructions;
    above->samples += cost.total_samples;
    above->wait_ns += cost.wait.total_ns;
    above->own_calls += context->calls;
    if (context->fold) {
        walk->tree->folds[context->fold].folded_ticks += net;
        walk->tree->folds[context->fold].measuring_ticks += self - net;
        walk->tree->folds[context->fold].events += events;
    }
    walk->sum += cost.self_ns;
    if (done.visited && !walk->gathers && !walk->adds_up)
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

static double net_of_fold(const struct fold *fold)
{
    return fold->folded_ticks - fold->children_ticks;
}

/* What is to be left of the folds that have time, so that those that lack some do not add to the
 * sum. */
static double share_of_folds(const struct tree *tree, const struct tree_thread *thread)
{
    double had = 0, lacked = 0;

    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next) {
        double net = net_of_fold(&tree->folds[fold]);
        *(net > 0 ? &had : &lacked) += net;
    }
    return had + lacked > 0 ? (had + lacked) / had : 0;
}

static void settle_fold(struct walk *walk, const struct fold *fold, double share)
{
    const struct context *context = &walk->tree->contexts[fold->slot];
    double net = net_of_fold(fold) * share;
    struct cost cost = {.self_ns = self_ns(walk, context->function, net, fold->events),
                        .self_instructions = own_instructions(context),
                        .total_instructions = fold->instructions,
                        .outermost = true};

    walk->sum += cost.self_ns;
    if (walk->gathers || walk->adds_up || !is_chosen(walk, context))
        return;
    cost.measuring_ns = measuring_ns(walk, net + fold->measuring_ticks, cost.self_ns);
    walk->visitor->leave(walk->visitor->user, walk->tree, context, &cost);
}

static void fold_begin(const struct walk *walk, struct fold *fold)
{
    if (walk->finds_tails) {
        fold->tail_ticks = 0;
        fold->calls = 0;
    }
    fold->folded_ticks = fold->children_ticks = fold->measuring_ticks = fold->events = 0;
}

/* All of the thread's contexts, once. */
static void walk_thread(struct walk *walk, const struct tree_thread *thread)
{
    struct tree *tree = walk->tree;
    double share;

    walk->contexts = 0;
    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next)
        fold_begin(walk, &tree->folds[fold]);
    if (thread->root)
        walk_below(walk, thread->root);
    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next)
        walk_below(walk, tree->folds[fold].slot);
    share = share_of_folds(tree, thread);
    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next)
        settle_fold(walk, &tree->folds[fold], share);
}

/*
 * Times of calls are of the wall clock. Those of coroutines go on while others run, and what was
 * estimated may be too much: so a thread's may add up to more than its life. Then all are cut by
 * the same share.
 */
static void bound_sum(struct walk *walk, const struct tree_thread *thread)
{
    const struct trace_header *header = &walk->tree->header;
    uint64_t end = thread->record.end_ticks ? thread->record.end_ticks
                   : header->end_ticks      ? header->end_ticks
                                            : header->end_seen_ticks;
    double life;

    if (header->timing == TRACE_TIMING_SAMPLES || header->timing == TRACE_TIMING_NONE ||
        end <= thread->record.start_ticks || !thread->record.start_ticks)
        return;
    life = ns_of_ticks(walk, (double)(end - thread->record.start_ticks));
    walk->adds_up = true;
    walk->sum = 0;
    walk_thread(walk, thread);
    walk->adds_up = false;
    if ((double)walk->sum > life)
        walk->scale = life / (double)walk->sum;
}

uint64_t cost_walk(struct tree *tree, struct tree_thread *thread, size_t function_count,
                   const struct cost_visitor *visitor)
{
    struct walk walk = {.tree = tree, .visitor = visitor, .live = cost_live(thread), .scale = 1};

    walk.depth_of = memory_zeroed(function_count, sizeof(*walk.depth_of));
    if (thread->first_fold && tree->header.timing != TRACE_TIMING_SAMPLES) {
        walk.finds_tails = walk.gathers = true;
        walk_thread(&walk, thread);
        walk.finds_tails = walk.gathers = false;
    }
    /* Half of what timing a call costs may lie on either side of a clock reading. */
    walk.self_times = self_times_begin(&thread->samples, function_count,
                                       ns_of_ticks(&walk, cost_of(tree->header.probe_timed)) / 2);
    if (walk.self_times) {
        walk.gathers = true;
        walk_thread(&walk, thread);
        walk.gathers = false;
    }
    bound_sum(&walk, thread);
    walk_thread(&walk, thread);
    self_times_free(walk.self_times);
    free(walk.depth_of);
    free(walk.levels);
    return walk.contexts;
}
