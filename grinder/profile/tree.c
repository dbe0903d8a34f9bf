#include "grinder/profile/tree.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "support/sorted.h"

/*
 * While the file is read: which slots a block's nodes went to. The unit of a node leads to its
 * block, the block to its run, the run to the slot.
 */
struct loader {
    struct tree *tree;
    struct images *images;
    size_t run_room;
    uint32_t *run_of_block;
    size_t block_count;
    size_t context_room, thread_room, module_room, fold_room, wait_room;
    size_t site_room, times_room;
    uint32_t *wait_threads; /* of tree.waits: ordinals */
    size_t wait_thread_room;
    /* Until they are linked, by slot: the node's own words for these. */
    struct link *links;
    size_t link_room;
};

struct link {
    uint32_t unit;
    uint32_t parent;
    uint32_t function;
    uint32_t context;
};

static void load_thread(void *user, const struct trace_thread *thread)
{
    struct loader *loader = user;
    struct tree *tree = loader->tree;

    tree->threads = memory_grow(tree->threads, tree->thread_count, &loader->thread_room,
                                sizeof(*tree->threads));
    tree->threads[tree->thread_count++] = (struct tree_thread){.record = *thread};
}

/* The agent has seen it, by the path that the trace has, before it was told that it is
 * instrumented. */
static void rename_seen(struct tree *tree, const struct trace_module *module, const char *path)
{
    for (size_t i = 1; i < tree->module_count; i++) {
        struct tree_module *seen = &tree->modules[i];

        if (seen->image || seen->base != module->base || strcmp(seen->path, module->path) != 0)
            continue;
        free(seen->path);
        seen->path = memory_copy_string(path);
    }
}

static void load_module(void *user, const struct trace_module *module)
{
    struct loader *loader = user;
    struct tree *tree = loader->tree;
    int instrumented = module->flags & TRACE_MODULE_INSTRUMENTED;
    uint32_t image =
        instrumented ? images_add(loader->images, module->path, tree->header.system, module) : 0;
    const char *path = image ? loader->images->images[image].path : module->path;

    if (strcmp(path, module->path) != 0)
        rename_seen(tree, module, path);
    tree->counts_instructions |= (module->flags & TRACE_MODULE_COUNTED) != 0;
    tree->modules = memory_grow(tree->modules, tree->module_count, &loader->module_room,
                                sizeof(*tree->modules));
    tree->modules[tree->module_count++] = (struct tree_module){
        .path = memory_copy_string(path),
        .base = module->base,
        .size = module->size,
        .first_function = instrumented ? module->first_function : 0,
        .function_count = instrumented ? module->function_count : 0,
        .image = image,
        .counts_instructions = module->flags & TRACE_MODULE_COUNTED,
    };
}

/*
 * Calls behind the last one that was timed have no part in the ticks yet: they are taken to have
 * lasted as long as those before. The last one's number is known modulo 2^32.
 */
static double ticks_of_all(const struct trace_node *node, bool is_adaptive)
{
    uint64_t calls = node->calls + node->passed;
    uint32_t behind = (uint32_t)calls - (node->next - node->gap);

    if (!is_adaptive || behind >= calls || behind > TRACE_MOST_GAP)
        return (double)node->ticks;
    return (double)node->ticks * (double)calls / (double)(calls - behind);
}

static void load_node(struct loader *loader, uint32_t unit, const struct trace_node *node)
{
    struct tree *tree = loader->tree;
    size_t slot = tree->context_count;
    bool is_adaptive = tree->header.timing == TRACE_TIMING_ADAPTIVE;
    bool is_exact = tree->header.timing == TRACE_TIMING_EXACT;

    tree->contexts =
        memory_grow(tree->contexts, slot, &loader->context_room, sizeof(*tree->contexts));
    loader->links = memory_grow(loader->links, slot, &loader->link_room, sizeof(*loader->links));
    tree->contexts[slot] = (struct context){.site = node->site & ~CONTEXT_ADDED,
                                            .calls = node->calls + node->passed,
                                            .exits = node->exits + node->passed,
                                            .passed = node->passed,
                                            .timed = is_exact ? node->calls : node->timed,
                                            .ticks = ticks_of_all(node, is_adaptive)};
    loader->links[slot] =
        (struct link){unit, node->parent, node->function & TRACE_FUNCTION_NUMBER, node->context};
    tree->context_count++;
}

static void load_nodes(void *user, uint32_t thread, uint32_t first, const struct trace_node *nodes,
                       uint32_t count)
{
    struct loader *loader = user;
    struct tree *tree = loader->tree;
    struct tree_run *run;

    tree->runs = memory_grow(tree->runs, tree->run_count, &loader->run_room, sizeof(*tree->runs));
    run = &tree->runs[tree->run_count];
    *run = (struct tree_run){first, (uint32_t)tree->context_count, count, thread};
    loader->run_of_block[first / TRACE_BLOCK_UNITS] = (uint32_t)tree->run_count++;
    for (uint32_t i = 0; i < count; i++)
        load_node(loader, first + i, &nodes[i]);
}

static void load_wait(void *user, uint32_t thread, const struct trace_wait *wait)
{
    struct loader *loader = user;
    struct tree *tree = loader->tree;

    tree->waits =
        memory_grow(tree->waits, tree->wait_count, &loader->wait_room, sizeof(*tree->waits));
    loader->wait_threads = memory_grow(loader->wait_threads, tree->wait_count,
                                       &loader->wait_thread_room, sizeof(*loader->wait_threads));
    loader->wait_threads[tree->wait_count] = thread;
    tree->waits[tree->wait_count++] = *wait;
}

static void load_hit(void *user, uint32_t thread, const struct trace_hit *hit)
{
    struct loader *loader = user;

    tree_add_hit(loader->tree, &(struct tree_hit){.ticks = hit->ticks,
                                                  .instruction = hit->instruction,
                                                  .ns = hit->ns,
                                                  .slot = hit->node,
                                                  .thread = thread});
}

static void load_times(void *user, uint32_t thread, const struct trace_times *times)
{
    struct loader *loader = user;
    struct tree *tree = loader->tree;

    tree->times =
        memory_grow(tree->times, tree->times_count, &loader->times_room, sizeof(*tree->times));
    tree->times[tree->times_count++] =
        (struct tree_times){.thread = thread, .function = times->function, .record = *times};
}

static void load_site(void *user, uint32_t node, uint64_t site, uint64_t calls)
{
    struct loader *loader = user;
    struct tree *tree = loader->tree;

    tree->sites =
        memory_grow(tree->sites, tree->site_count, &loader->site_room, sizeof(*tree->sites));
    tree->sites[tree->site_count++] =
        (struct tree_site){.slot = node, .site = site & TRACE_SITE_ADDRESS, .calls = calls};
}

static const struct tree_run *run_of_unit(const struct loader *loader, uint32_t unit)
{
    uint32_t block = unit / TRACE_BLOCK_UNITS;

    return &loader->tree->runs[block < loader->block_count ? loader->run_of_block[block] : 0];
}

/* The slot of the node at unit, 0 if there is no committed node of that thread. */
static uint32_t slot_of_unit(const struct loader *loader, uint32_t unit, uint32_t thread)
{
    const struct tree_run *run = run_of_unit(loader, unit);
    uint32_t slot;

    if (unit < run->first_unit || unit - run->first_unit >= run->count || run->thread != thread)
        return 0;
    slot = run->first_slot + (unit - run->first_unit);
    return loader->links[slot].context ? slot : 0;
}

static int compare_modules(const void *left, const void *right)
{
    const struct tree_module *a = left, *b = right;

    if (a->first_function != b->first_function)
        return a->first_function < b->first_function ? -1 : 1;
    return 0;
}

static int compare_threads(const void *left, const void *right)
{
    const struct tree_thread *a = left, *b = right;

    if (a->record.ordinal != b->record.ordinal)
        return a->record.ordinal < b->record.ordinal ? -1 : 1;
    return 0;
}

uint32_t tree_module_of(const struct tree *tree, uint32_t function)
{
    size_t behind =
        partition_point(i, tree->module_count, tree->modules[i].first_function <= function);
    size_t last = behind ? behind - 1 : 0;

    if (!tree->modules[last].image ||
        function - tree->modules[last].first_function >= tree->modules[last].function_count)
        return 0;
    return (uint32_t)last;
}

/* What each call of the function executes beside what its contexts count: of an image without a
   manifest it is not known, as images_add has said. */
static void add_of_each_call(struct context *context, const struct image *image, uint32_t function)
{
    const struct manifest_copy *copy = manifest_copy_of(&image->manifest, function);

    if (copy)
        context->instructions += context->calls * (uint64_t)copy->instructions; /* or fewer */
}

static void number_function(struct tree *tree, struct images *images, uint32_t slot,
                            uint32_t function)
{
    struct context *context = &tree->contexts[slot];
    const struct tree_module *module;

    context->module = tree_module_of(tree, function);
    module = &tree->modules[context->module];
    context->function = images_function(images, module->image, function - module->first_function);
    if (module->counts_instructions)
        add_of_each_call(context, &images->images[module->image],
                         function - module->first_function);
}

/* Times of functions that no module has are dropped. */
static void number_times(struct tree *tree, struct images *images)
{
    size_t kept = 0;

    for (size_t i = 0; i < tree->times_count; i++) {
        struct tree_times *times = &tree->times[i];
        const struct tree_module *module = &tree->modules[tree_module_of(tree, times->function)];

        if (!module->image)
            continue;
        times->function =
            images_function(images, module->image, times->function - module->first_function);
        tree->times[kept++] = *times;
    }
    tree->times_count = kept;
}

/* Null if there is no record of that thread. */
static struct tree_thread *thread_of_ordinal(struct tree *tree, uint32_t ordinal)
{
    size_t found =
        partition_point(i, tree->thread_count, tree->threads[i].record.ordinal < ordinal);

    if (found == tree->thread_count || tree->threads[found].record.ordinal != ordinal)
        return NULL;
    return &tree->threads[found];
}

static int is_representative(const struct loader *loader, uint32_t slot)
{
    const struct link *link = &loader->links[slot];

    return link->context == link->unit && !link->parent && link->function &&
           (loader->tree->contexts[slot].site & TRACE_SITE_FOLDED);
}

static void add_fold(struct loader *loader, uint32_t slot, struct tree_thread *thread)
{
    struct tree *tree = loader->tree;

    tree->folds =
        memory_grow(tree->folds, tree->fold_count, &loader->fold_room, sizeof(*tree->folds));
    tree->folds[tree->fold_count] = (struct fold){.slot = slot, .next = thread->first_fold};
    thread->first_fold = (uint32_t)tree->fold_count++;
    tree->contexts[slot].fold = thread->first_fold;
}

/* Counts each committed node to its thread, gives it its function, each representative a fold. */
static void find_functions(struct loader *loader)
{
    for (size_t r = 1; r < loader->tree->run_count; r++) {
        const struct tree_run *run = &loader->tree->runs[r];
        struct tree_thread *thread = thread_of_ordinal(loader->tree, run->thread);
        for (uint32_t slot = run->first_slot; slot < run->first_slot + run->count; slot++) {
            if (!loader->links[slot].context)
                continue;
            loader->tree->committed++;
            if (!thread)
                continue;
            thread->contexts++;
            thread->entries += loader->tree->contexts[slot].calls;
            thread->exits += loader->tree->contexts[slot].exits;
            thread->timed += loader->tree->contexts[slot].timed;
            if (loader->links[slot].function)
                number_function(loader->tree, loader->images, slot, loader->links[slot].function);
            if (is_representative(loader, slot))
                add_fold(loader, slot, thread);
        }
    }
}

/* The context that has what this one calls below it, and is of the same calls but from another
   place (trace_format.h, places); or 0. */
static uint32_t first_place(const struct loader *loader, uint32_t slot, uint32_t thread)
{
    const struct context *contexts = loader->tree->contexts;
    const struct link *link = &loader->links[slot], *other;
    uint32_t first;

    if (!link->context || link->context == link->unit)
        return 0;
    first = slot_of_unit(loader, link->context, thread);
    other = &loader->links[first];
    if (!first || other->parent != link->parent || other->function != link->function ||
        (contexts[first].site ^ contexts[slot].site) & TRACE_SITE_TAIL)
        return 0;
    return other->context == other->unit ||
                   is_representative(loader, slot_of_unit(loader, other->context, thread))
               ? first
               : 0;
}

static void link_node(struct loader *loader, uint32_t slot, uint32_t thread)
{
    struct tree *tree = loader->tree;
    const struct link *link = &loader->links[slot];
    struct context *context = &tree->contexts[slot];
    uint32_t parent;

    if (!link->context || !link->parent || !link->function)
        return;
    if (link->context != link->unit) {
        uint32_t body = slot_of_unit(loader, link->context, thread);
        if (first_place(loader, slot, thread)) {
            context->parent = slot_of_unit(loader, link->parent, thread);
            return;
        }
        if (!is_representative(loader, body) || loader->links[body].function != link->function)
            return;
        context->fold = tree->contexts[body].fold;
    }
    parent = slot_of_unit(loader, link->parent, thread);
    if (!parent)
        return;
    context->parent = parent;
    context->sibling = tree->contexts[parent].first_child;
    tree->contexts[parent].first_child = slot;
}

/* From the last slot to the first, so that children end up in the order of the file. */
static void link_nodes(struct loader *loader)
{
    for (size_t r = loader->tree->run_count - 1; r > 0; r--) {
        const struct tree_run *run = &loader->tree->runs[r];
        for (uint32_t i = run->count; i > 0; i--)
            link_node(loader, run->first_slot + i - 1, run->thread);
    }
}

/* What the context's calls from its place were. Samples are too few to share them among places. */
static void note_place(struct loader *loader, uint32_t first, const struct context *context)
{
    struct tree *tree = loader->tree;
    bool is_sampled = tree->header.timing == TRACE_TIMING_SAMPLES;

    if (context->site & TRACE_SITE_TAIL)
        return;
    load_site(loader, loader->links[first].unit, context->site, context->calls);
    tree->sites[tree->site_count - 1].ticks = is_sampled ? 0 : context->ticks;
}

/* Contexts of the same calls from several places become the first of them. */
static void join_places(struct loader *loader)
{
    struct tree *tree = loader->tree;

    for (size_t r = 1; r < tree->run_count; r++) {
        const struct tree_run *run = &tree->runs[r];
        struct tree_thread *thread = thread_of_ordinal(tree, run->thread);
        for (uint32_t slot = run->first_slot; slot < run->first_slot + run->count; slot++) {
            uint32_t first = first_place(loader, slot, run->thread);
            struct context *sum = &tree->contexts[first];
            const struct context *context = &tree->contexts[slot];

            if (!first)
                continue;
            if (!(sum->site & TRACE_SITE_SHARED))
                note_place(loader, first, sum);
            note_place(loader, first, context);
            sum->site = TRACE_SITE_SHARED | (sum->site & TRACE_SITE_TAIL);
            context_add_figures(sum, context);
            tree->committed--;
            if (thread)
                thread->contexts--;
        }
    }
}

void tree_add_wait(struct tree *tree, uint32_t slot, uint32_t number)
{
    struct context *context = &tree->contexts[slot];
    struct trace_wait *sum = &tree->waits[context->wait];
    const struct trace_wait *wait = &tree->waits[number];

    if (!slot || !number || context->wait == number)
        return;
    if (!context->wait) {
        context->wait = number;
        return;
    }
    sum->count += wait->count;
    sum->ticks += wait->ticks;
    if (wait->longest > sum->longest) {
        sum->longest = wait->longest;
        sum->ended = wait->ended;
    }
}

/* Where the figures of a node have gone: the slot of its context. */
static uint32_t slot_of_figures(const struct loader *loader, uint32_t unit, uint32_t thread)
{
    uint32_t slot = slot_of_unit(loader, unit, thread), first = first_place(loader, slot, thread);

    return first ? first : slot;
}

/* Waits of contexts that are not there are nobody's. */
static void place_waits(struct loader *loader)
{
    struct tree *tree = loader->tree;

    for (size_t i = 1; i < tree->wait_count; i++)
        tree_add_wait(tree, slot_of_figures(loader, tree->waits[i].node, loader->wait_threads[i]),
                      (uint32_t)i);
}

/* Samples of contexts that are not there are left out. */
static void place_hits(struct loader *loader)
{
    struct tree *tree = loader->tree;
    size_t kept = 0;

    for (size_t i = 0; i < tree->hit_count; i++) {
        struct tree_hit *hit = &tree->hits[kept];

        *hit = tree->hits[i];
        hit->slot = slot_of_figures(loader, hit->slot, hit->thread);
        kept += hit->slot != 0;
    }
    tree->hit_count = kept;
}

static int compare_sites(const void *left, const void *right)
{
    const struct tree_site *a = left, *b = right;

    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

void tree_sort_sites(struct tree *tree)
{
    if (tree->site_count)
        qsort(tree->sites, tree->site_count, sizeof(*tree->sites), compare_sites);
}

/* The slot of a node of whichever thread: sites name nodes alone. */
static uint32_t shared_slot_of_unit(const struct loader *loader, uint32_t unit)
{
    uint32_t slot = slot_of_unit(loader, unit, run_of_unit(loader, unit)->thread);

    return loader->tree->contexts[slot].site & TRACE_SITE_SHARED ? slot : 0;
}

/* Those of nodes that are not there are nobody's. */
static void load_instructions(void *user, uint32_t node, uint64_t count)
{
    struct loader *loader = user;
    uint32_t slot = slot_of_unit(loader, node, run_of_unit(loader, node)->thread);

    if (slot)
        loader->tree->contexts[slot].instructions += count;
}

/* Sites of nodes that are not there, or are not shared, are nobody's. */
static void place_sites(struct loader *loader)
{
    struct tree *tree = loader->tree;
    size_t kept = 0;

    for (size_t i = 0; i < tree->site_count; i++) {
        struct tree_site site = tree->sites[i];

        site.slot = shared_slot_of_unit(loader, site.slot);
        if (site.slot)
            tree->sites[kept++] = site;
    }
    tree->site_count = kept;
    tree_sort_sites(tree);
}

static bool find_roots(struct loader *loader, struct failure *failure)
{
    struct tree *tree = loader->tree;

    for (size_t i = 0; i < tree->thread_count; i++) {
        struct tree_thread *thread = &tree->threads[i];
        uint32_t root = slot_of_unit(loader, thread->record.root, thread->record.ordinal);
        if (i && thread->record.ordinal == thread[-1].record.ordinal)
            return fail(failure, tree->path, "thread %" PRIu32 ": expected one record, found two",
                        thread->record.ordinal);
        if (root && !loader->links[root].parent && !loader->links[root].function)
            thread->root = root;
    }
    return true;
}

/* Element 0 of runs, contexts, modules and folds stands for none. */
static void loader_begin(struct loader *loader, struct tree *tree, const struct trace_file *file)
{
    loader->tree = tree;
    loader->block_count = file->end / TRACE_BLOCK_SIZE;
    loader->run_of_block = memory_zeroed(loader->block_count, sizeof(*loader->run_of_block));
    tree->runs = memory_grow(NULL, 0, &loader->run_room, sizeof(*tree->runs));
    tree->runs[tree->run_count++] = (struct tree_run){0};
    load_node(loader, 0, &(struct trace_node){0});
    tree->modules = memory_grow(NULL, 0, &loader->module_room, sizeof(*tree->modules));
    tree->modules[tree->module_count++] = (struct tree_module){0};
    tree->folds = memory_grow(NULL, 0, &loader->fold_room, sizeof(*tree->folds));
    tree->folds[tree->fold_count++] = (struct fold){0};
    load_wait(loader, 0, &(struct trace_wait){0});
}

bool tree_read(struct tree *tree, const struct trace_file *file, struct images *images,
               struct failure *failure)
{
    struct loader loader = {.images = images};
    struct trace_visitor visitor = {.user = &loader,
                                    .thread = load_thread,
                                    .nodes = load_nodes,
                                    .module = load_module,
                                    .site = load_site,
                                    .instructions = load_instructions,
                                    .hit = load_hit,
                                    .wait = load_wait,
                                    .times = load_times};
    bool is_read = false;

    *tree =
        (struct tree){.path = file->path, .header = file->header, .missing_bytes = file->missing};
    if (tree->header.timing == TRACE_TIMING_SAMPLES)
        tree->header.probe_inner = tree->header.probe_timed = tree->header.probe_untimed =
            tree->header.probe_passed = 0; /* nothing was timed */
    loader_begin(&loader, tree, file);
    if (!trace_file_read(file, &visitor, failure))
        goto err;
    if (tree->thread_count)
        qsort(tree->threads, tree->thread_count, sizeof(*tree->threads), compare_threads);
    if (!find_roots(&loader, failure))
        goto err;
    qsort(tree->modules + 1, tree->module_count - 1, sizeof(*tree->modules), compare_modules);
    find_functions(&loader);
    link_nodes(&loader);
    join_places(&loader);
    place_waits(&loader);
    place_hits(&loader);
    place_sites(&loader);
    number_times(tree, images);
    is_read = true;
err:
    free(loader.run_of_block);
    free(loader.links);
    free(loader.wait_threads);
    if (!is_read)
        tree_free(tree);
    return is_read;
}

uint64_t tree_call_site(const struct tree *tree, const struct context *context)
{
    return tree_site_in_caller(tree, context, context->site);
}

const struct tree_site *tree_sites_of(const struct tree *tree, const struct context *context,
                                      size_t *count)
{
    uint32_t slot = (uint32_t)(context - tree->contexts);
    size_t first = partition_point(i, tree->site_count, tree->sites[i].slot < slot);
    size_t behind = first;

    while (behind < tree->site_count && tree->sites[behind].slot == slot)
        behind++;
    *count = behind - first;
    return tree->sites + first;
}

/* image << 32 | rva of an address in a module; else 0. */
static uint64_t place_in(const struct tree_module *module, uint64_t address)
{
    if (!module->image || address < module->base || address - module->base >= module->size ||
        address - module->base > UINT32_MAX - module->rva)
        return 0;
    return (uint64_t)module->image << 32 | (address - module->base + module->rva);
}

uint64_t tree_site_in_caller(const struct tree *tree, const struct context *context, uint64_t site)
{
    return place_in(&tree->modules[tree->contexts[context->parent].module],
                    (site & TRACE_SITE_ADDRESS) - 1);
}

uint64_t tree_spot(const struct tree *tree, const struct context *context, uint64_t instruction)
{
    return place_in(&tree->modules[context->module], instruction);
}

void tree_add_hit(struct tree *tree, const struct tree_hit *hit)
{
    tree->hits = memory_grow(tree->hits, tree->hit_count, &tree->hit_room, sizeof(*tree->hits));
    tree->hits[tree->hit_count++] = *hit;
}

static int compare_hits(const void *left, const void *right)
{
    const struct tree_hit *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

void tree_sort_hits(struct tree *tree)
{
    if (tree->hit_count)
        qsort(tree->hits, tree->hit_count, sizeof(*tree->hits), compare_hits);
}

const struct tree_hit *tree_hits_of(const struct tree *tree, uint32_t thread, size_t *count)
{
    size_t first = partition_point(i, tree->hit_count, tree->hits[i].thread < thread);
    size_t behind = partition_point(i, tree->hit_count, tree->hits[i].thread <= thread);

    *count = behind - first;
    return tree->hits + first;
}

/* The index of each slot's node; to be freed. */
static uint32_t *units_of_slots(const struct tree *tree)
{
    uint32_t *units = memory_zeroed(tree->context_count, sizeof(*units));

    for (size_t r = 1; r < tree->run_count; r++)
        for (uint32_t i = 0; i < tree->runs[r].count; i++)
            units[tree->runs[r].first_slot + i] = tree->runs[r].first_unit + i;
    return units;
}

struct tree_node *tree_nodes(const struct tree *tree, size_t *count)
{
    const struct tree_run *last = &tree->runs[tree->run_count - 1];
    uint32_t *units = units_of_slots(tree);
    struct tree_node *nodes;

    *count = (size_t)last->first_unit + last->count + 1;
    nodes = memory_zeroed(*count, sizeof(*nodes));
    for (size_t slot = 1; slot < tree->context_count; slot++) {
        const struct context *context = &tree->contexts[slot];
        const struct context *above = &tree->contexts[context->parent];
        struct tree_node node = {.function = context->function, .parent = units[context->parent]};
        if (context->site & CONTEXT_ADDED)
            continue;
        if (above->site & CONTEXT_UNDER_WAY) {
            node.parent = 0;
        } else if (above->site & CONTEXT_JIT) {
            node.parent = units[above->parent];
            node.caller = above->function;
        }
        nodes[units[slot]] = node;
    }
    free(units);
    return nodes;
}

void thread_samples_free(struct thread_samples *samples)
{
    free(samples->functions);
    *samples = (struct thread_samples){0};
}

void tree_free(struct tree *tree)
{
    for (size_t i = 0; i < tree->module_count; i++)
        free(tree->modules[i].path);
    for (size_t i = 0; i < tree->thread_count; i++)
        thread_samples_free(&tree->threads[i].samples);
    free(tree->contexts);
    free(tree->threads);
    free(tree->modules);
    free(tree->folds);
    free(tree->waits);
    free(tree->hits);
    free(tree->sites);
    free(tree->times);
    free(tree->runs);
    *tree = (struct tree){0};
}
