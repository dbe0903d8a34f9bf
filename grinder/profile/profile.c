#include "grinder/profile/profile.h"

#include <stdlib.h>

#include "support/memory.h"
#include "trace/event_reader.h"

struct costs *cost_table_at(struct cost_table *table, uint64_t a, uint64_t b)
{
    size_t before = table->keys.count;
    uint32_t number = pair_index_add(&table->keys, a, b);

    if (number == before) {
        table->costs = memory_grow(table->costs, number, &table->room, sizeof(*table->costs));
        table->costs[number] = (struct costs){0};
    }
    return &table->costs[number];
}

static void add_wait(struct wait_cost *sum, const struct wait_cost *wait, bool outermost)
{
    sum->count += wait->count;
    sum->self_ns += wait->self_ns;
    if (wait->longest_ns > sum->longest_ns)
        sum->longest_ns = wait->longest_ns;
    if (outermost)
        sum->total_ns += wait->total_ns;
}

static void add_cost(struct costs *sum, const struct cost *cost)
{
    sum->calls += cost->calls;
    sum->self_ns += cost->self_ns;
    sum->measuring_ns += cost->measuring_ns;
    sum->self_instructions += cost->self_instructions;
    sum->samples += cost->samples;
    add_wait(&sum->wait, &cost->wait, cost->outermost);
    if (cost->outermost) {
        sum->total_ns += cost->total_ns;
        sum->total_calls += cost->total_calls;
        sum->total_instructions += cost->total_instructions;
        sum->total_samples += cost->total_samples;
    }
}

/* A stretch of a whole: what lies behind `before`, up to `behind`. */
struct stretch {
    uint64_t before, behind, whole;
};

/* The part of a figure that falls on the stretch: parts of stretches side by side add up to it. */
static uint64_t part_of(uint64_t figure, struct stretch stretch)
{
    unsigned __int128 all = figure;

    return (uint64_t)(all * stretch.behind / stretch.whole) -
           (uint64_t)(all * stretch.before / stretch.whole);
}

static struct cost part_of_cost(const struct cost *cost, struct stretch calls, struct stretch time)
{
    struct cost part = *cost;

    part.calls = part.edge_calls = calls.behind - calls.before;
    part.self_ns = part_of(cost->self_ns, time);
    part.measuring_ns = part_of(cost->measuring_ns, time);
    part.total_ns = part_of(cost->total_ns, time);
    part.total_calls = part_of(cost->total_calls, calls);
    part.self_instructions = part_of(cost->self_instructions, calls);
    part.total_instructions = part_of(cost->total_instructions, calls);
    part.samples = part_of(cost->samples, calls);
    part.total_samples = part_of(cost->total_samples, calls);
    part.wait.count = part_of(cost->wait.count, calls);
    part.wait.self_ns = part_of(cost->wait.self_ns, calls);
    part.wait.total_ns = part_of(cost->wait.total_ns, calls);
    return part;
}

/* The next stretch behind one, of that length at most. */
static struct stretch next_stretch(struct stretch last, uint64_t length)
{
    uint64_t rest = last.whole - last.behind;

    return (struct stretch){last.behind, last.behind + (length < rest ? length : rest), last.whole};
}

/* The ticks of all places, if calls from each were timed and no others are there; or 0. */
static uint64_t ticks_of_places(const struct tree_site *sites, size_t count, uint64_t calls)
{
    double ticks = 0;

    for (size_t i = 0; i < count; i++) {
        ticks += sites[i].ticks;
        calls -= sites[i].calls < calls ? sites[i].calls : calls;
    }
    return !calls && ticks < (double)INT64_MAX ? (uint64_t)ticks : 0;
}

/*
 * A call edge for each place that the context was called from. How often is known of each. What
 * calls from one of them took is its part of what all took, as its part of the time that was
 * measured, or else of the calls. The rest of the calls was made from a place that is not known.
 */
static void add_shared_edges(struct part *part, uint64_t edge, const struct tree *tree,
                             const struct context *context, const struct cost *cost)
{
    size_t count;
    const struct tree_site *sites = tree_sites_of(tree, context, &count);
    uint64_t ticks = ticks_of_places(sites, count, cost->calls);
    struct stretch calls = {.whole = cost->calls ? cost->calls : 1}, time = {.whole = ticks};
    struct cost own;

    for (size_t i = 0; i < count; i++) {
        calls = next_stretch(calls, cost->calls ? sites[i].calls : 0);
        time = next_stretch(time, i + 1 < count ? (uint64_t)sites[i].ticks : ticks);
        own = part_of_cost(cost, calls, ticks ? time : calls);
        if (calls.behind > calls.before)
            add_cost(cost_table_at(&part->edges, edge,
                                   tree_site_in_caller(tree, context, sites[i].site)),
                     &own);
    }
    calls = next_stretch(calls, calls.whole);
    if (calls.behind > calls.before) {
        own = part_of_cost(cost, calls, calls);
        own.calls = own.edge_calls = cost->calls ? own.calls : 0;
        add_cost(cost_table_at(&part->edges, edge, 0), &own);
    }
}

/* Where the contexts of a thread are added up. */
struct adding {
    struct part *part;
    uint32_t *stacks; /* by slot: the context's stack; null if they are not kept */
};

/* A representative, which has no parent, brings self time and instructions only. */
static void add_context(void *user, const struct tree *tree, const struct context *context,
                        const struct cost *cost)
{
    struct adding *adding = user;
    struct part *part = adding->part;
    uint64_t caller = tree->contexts[context->parent].function;
    struct cost edge = *cost;

    edge.calls = cost->edge_calls;
    add_cost(cost_table_at(&part->functions, context->function, 0), cost);
    if (context->parent && context->site & TRACE_SITE_SHARED)
        add_shared_edges(part, caller << 32 | context->function, tree, context, cost);
    else if (context->parent)
        add_cost(cost_table_at(&part->edges, caller << 32 | context->function,
                               tree_call_site(tree, context)),
                 &edge);
    if (adding->stacks) {
        uint32_t stack = stack_of_context(&part->stacks, tree, context, adding->stacks);
        stack_cost_add(&part->stacks.costs[stack],
                       &(struct stack_cost){.calls = cost->calls,
                                            .self_ns = cost->self_ns,
                                            .instructions = cost->self_instructions});
    }
    part->ns += cost->self_ns;
    part->measuring_ns += cost->measuring_ns;
    part->calls += cost->calls;
    part->instructions += cost->self_instructions;
    part->samples += cost->samples;
    part->wait_ns += cost->wait.self_ns;
}

/* Overlapping intervals of folded contexts can add up to more than there was. */
static void bound_totals(struct cost_table *table, const struct part *part)
{
    for (size_t i = 0; i < table->keys.count; i++) {
        struct costs *costs = &table->costs[i];
        if (costs->total_ns < costs->self_ns)
            costs->total_ns = costs->self_ns;
        if (costs->total_ns > part->ns)
            costs->total_ns = part->ns;
    }
}

static struct part *begin_part(struct profile *profile, size_t thread)
{
    if (profile->merged && profile->part_count)
        return &profile->parts[0];
    profile->parts = memory_grow(profile->parts, profile->part_count, &profile->part_room,
                                 sizeof(*profile->parts));
    profile->parts[profile->part_count] =
        (struct part){.process = profile->process_count - 1, .thread = thread};
    return &profile->parts[profile->part_count++];
}

static struct thread_facts thread_facts(const struct tree_thread *thread)
{
    struct thread_facts facts = {
        .record = thread->record,
        .entries = thread->entries,
        .exits = thread->exits,
        .timed = thread->timed,
        .live = cost_live(thread),
        .live_is_derived = cost_live_is_derived(thread),
    };

    facts.balanced = facts.entries == facts.exits + facts.record.unwound + facts.live;
    return facts;
}

/* Time of a trace whose threads sample themselves: in functions, outside of them, and in the agent.
 */
static uint64_t sampled_ns(const struct tree *tree)
{
    double ticks = 0;

    if (tree->header.timing != TRACE_TIMING_SAMPLES)
        return 0;
    for (size_t i = 0; i < tree->context_count; i++)
        ticks += tree->contexts[i].ticks;
    for (size_t i = 0; i < tree->thread_count; i++)
        ticks += (double)tree->threads[i].record.in_hooks;
    return (uint64_t)(ticks * 1e9 / (double)tree->header.ticks_per_second);
}

static struct sample_facts sample_facts(const struct tree *tree)
{
    struct sample_facts facts = {.cpu_ns = sampled_ns(tree)};

    for (size_t i = 0; i < tree->thread_count; i++) {
        facts.in_functions += tree->threads[i].samples.in_functions;
        facts.in_hooks += tree->threads[i].samples.in_hooks;
        facts.elsewhere += tree->threads[i].samples.elsewhere;
        facts.cpu_ns += tree->threads[i].samples.cpu_ns;
    }
    return facts;
}

static void copy_modules(struct process *process, const struct tree *tree)
{
    process->module_count = tree->module_count - 1;
    process->modules = memory_zeroed(process->module_count, sizeof(*process->modules));
    for (size_t i = 0; i < process->module_count; i++) {
        const struct tree_module *module = &tree->modules[i + 1];
        process->modules[i] =
            (struct module_facts){memory_copy_string(module->path), module->image,
                                  module->first_function, module->function_count, module->base};
    }
}

/* Returns how many contexts were visited. A merged part has what other threads came to before. */
static uint64_t add_thread(struct profile *profile, struct tree *tree, const struct images *images,
                           size_t thread, uint32_t *stacks, struct thread_facts *facts)
{
    size_t function_count = images_function_count(images);
    struct adding adding = {begin_part(profile, thread), stacks};
    struct cost_visitor visitor = {.user = &adding, .leave = add_context};
    uint64_t self_before = adding.part->ns, measuring_before = adding.part->measuring_ns;
    uint64_t wait_before = adding.part->wait_ns, visited;

    if (profile->selection)
        visitor.chosen = selection_functions(profile->selection, function_count);
    visited = cost_walk(tree, &tree->threads[thread], function_count, &visitor);
    for (size_t i = 0; i < tree->times_count; i++)
        if (tree->times[i].thread == tree->threads[thread].record.ordinal &&
            (!visitor.chosen || visitor.chosen[tree->times[i].function]))
            call_times_add(&adding.part->times, tree->times[i].function, &tree->times[i].record,
                           &tree->header);
    if (profile->keeps_hits && stacks)
        hits_add(&adding.part->hits, tree, tree->threads[thread].record.ordinal,
                 &adding.part->stacks, stacks, visitor.chosen);
    facts->self_ns = adding.part->ns - self_before;
    facts->measuring_ns = adding.part->measuring_ns - measuring_before;
    facts->wait_ns = adding.part->wait_ns - wait_before;
    if (tree->fold_count > 1) {
        bound_totals(&adding.part->functions, adding.part);
        bound_totals(&adding.part->edges, adding.part);
    }
    return visited;
}

void profile_add(struct profile *profile, struct tree *tree, const struct images *images)
{
    struct process *process;
    uint64_t visited = 0;
    uint32_t *stacks = NULL;

    profile->processes = memory_grow(profile->processes, profile->process_count,
                                     &profile->process_room, sizeof(*profile->processes));
    process = &profile->processes[profile->process_count++];
    *process = (struct process){
        .trace_path = tree->path,
        .header = tree->header,
        .threads = memory_zeroed(tree->thread_count, sizeof(*process->threads)),
        .thread_count = tree->thread_count,
        .samples = sample_facts(tree),
        .stacks = tree->stacks,
        .unhooked = tree->unhooked,
        .missing_bytes = tree->missing_bytes,
    };
    copy_modules(process, tree);
    if (tree->header.timing == TRACE_TIMING_NONE)
        profile->untimed = tree->path;
    else
        profile->timed = tree->path;
    if (tree->header.timing == TRACE_TIMING_SAMPLES)
        profile->sampled = tree->path;
    else if (tree->header.timing != TRACE_TIMING_NONE)
        profile->clocked = tree->path;
    if (tree->header.source == TRACE_OF_STACKS)
        profile->stacked = tree->path;
    else
        profile->hooked = tree->path;
    if (tree->counts_instructions)
        profile->counted = tree->path;
    else
        profile->uncounted = tree->path;
    if (profile->keeps_nodes && event_files_exist(tree->path))
        process->nodes = tree_nodes(tree, &process->node_count);
    if ((profile->keeps_stacks && !process->nodes) || (profile->keeps_hits && tree->hit_count))
        stacks = memory_zeroed(tree->context_count, sizeof(*stacks));
    for (size_t i = 0; i < tree->thread_count; i++) {
        process->threads[i] = thread_facts(&tree->threads[i]);
        if (profile->selection &&
            !selection_match_thread(profile->selection, &tree->threads[i].record))
            visited += tree->threads[i].contexts;
        else
            visited += add_thread(profile, tree, images, i, stacks, &process->threads[i]);
    }
    process->lost_contexts = tree->committed - visited;
    free(stacks);
}

struct part *profile_add_listed(struct profile *profile, const char *path)
{
    profile->processes = memory_grow(profile->processes, profile->process_count,
                                     &profile->process_room, sizeof(*profile->processes));
    profile->processes[profile->process_count++] = (struct process){.trace_path = path};
    profile->untimed = profile->hooked = profile->listed = path;
    return begin_part(profile, 0);
}

void profile_keep_peaks(struct profile *profile, struct chains *chains, const struct tree *tree,
                        const struct images *images)
{
    struct process *process = &profile->processes[profile->process_count - 1];

    process->peaks = peaks_of(chains, tree, images, profile->selection);
}

bool profile_has_events(const struct profile *profile)
{
    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].nodes)
            return true;
    return false;
}

static void free_table(struct cost_table *table)
{
    pair_index_free(&table->keys);
    free(table->costs);
}

void profile_free(struct profile *profile)
{
    for (size_t i = 0; i < profile->process_count; i++) {
        struct process *process = &profile->processes[i];
        for (size_t j = 0; j < process->module_count; j++)
            free(process->modules[j].path);
        free(process->modules);
        free(process->nodes);
        peaks_free(process->peaks, process->thread_count);
        free(process->threads);
    }
    for (size_t i = 0; i < profile->part_count; i++) {
        free_table(&profile->parts[i].functions);
        free_table(&profile->parts[i].edges);
        call_times_free(&profile->parts[i].times);
        stacks_free(&profile->parts[i].stacks);
        hits_free(&profile->parts[i].hits);
    }
    free(profile->processes);
    free(profile->parts);
    *profile = (struct profile){0};
}
