/*
 * Compares two recordings of the same program, context by context:
 *
 *      tree_compare [--ignore-ends] [--by-callee[=alone]] [--limit=N] EXPECTED FOUND
 *
 * Each is a trace, or a folder of the traces of one service. Processes are matched by the order in
 * which they began, threads by their ordinals. A context is the chain of call sites and functions
 * from its thread's root. Its sites and functions are those of the original images, told by file
 * name and RVA, so it does not matter how an image was instrumented, and where it was loaded. Each
 * context has to have as many calls in both, and as many exits; each thread as many calls that were
 * unwound, live, skipped and dropped. --ignore-ends leaves out exits, unwound and live.
 *
 * With --by-callee a context is the chain of functions alone, and is to have as many calls from
 * each call site, but for jumps: so are contexts recorded that their caller's call sites share.
 * --by-callee=alone leaves call sites out.
 *
 *      a.bin  tree --+                                        calls, exits
 *                    +--> one table of contexts: the chain |  in a.bin    in b.bin
 *      b.bin  tree --+
 *
 * Prints the first N contexts that differ (20), and how much was compared. Exit status 1 if
 * something differs, 2 if it cannot be compared.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/base/pair_index.h"
#include "grinder/profile/profile.h"
#include "grinder/profile/symbolize.h"
#include "grinder/profile/traces.h"
#include "grinder/profile/tree_load.h"
#include "support/memory.h"

#define NOWHERE   0u              /* in no module: number of its name */
#define OF_FOLDED (1ull << 62)    /* in a site: the context, or what it is below, is folded */
#define OF_TAIL   TRACE_SITE_TAIL /* in a site: entered by a jump */
#define OF_SITE   (1ull << 60)    /* in a site: no context, but a place that it is called from */

enum { EXPECTED, FOUND, SIDES };

struct figures {
    uint64_t calls, exits;
};

/* A thread has one as well, without a link. */
struct context_pair {
    uint32_t parent; /* place; of a thread its own */
    uint32_t link;   /* number among the links */
    struct figures sides[SIDES];
};

/* From one context to the next: site and function as image << 32 | rva. */
struct link_name {
    int side;
    uint32_t function; /* number there */
};

struct thread_pair {
    uint32_t context; /* its root's place */
    uint32_t process, ordinal;
    struct trace_thread records[SIDES];
    uint64_t live[SIDES];
    bool is_there[SIDES];
};

struct comparison {
    struct images images[SIDES];
    char **names; /* of files, without their folders; [0]: none */
    size_t name_count, name_room;
    struct pair_index links;      /* site, function */
    struct link_name *link_names; /* by number */
    size_t link_room;
    struct pair_index contexts; /* parent's place, link; of threads: UINT64_MAX, process, ordinal */
    struct context_pair *figures; /* by place */
    size_t figure_room;
    struct pair_index threads; /* process, ordinal */
    struct thread_pair *thread_pairs;
    size_t thread_room;
    bool ignores_ends, is_by_callee, ignores_sites;
    uint64_t limit, differences;
};

static void give_up(const char *what)
{
    fprintf(stderr, "tree_compare: %s\n", what);
    exit(2);
}

/* Two images of the same name are taken for the same. */
static uint32_t number_of_name(struct comparison *comparison, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (size_t i = 1; i < comparison->name_count; i++)
        if (!strcmp(comparison->names[i], name))
            return (uint32_t)i;
    comparison->names = memory_grow(comparison->names, comparison->name_count,
                                    &comparison->name_room, sizeof(*comparison->names));
    comparison->names[comparison->name_count] = memory_copy_string(name);
    return (uint32_t)comparison->name_count++;
}

static bool is_in(const struct tree_module *module, uint64_t address)
{
    return address - module->base < module->size && !module->rva;
}

/* The caller's, or the last one that was there. */
static const struct tree_module *module_of(const struct tree *tree, uint32_t caller,
                                           uint64_t address)
{
    if (is_in(&tree->modules[caller], address))
        return &tree->modules[caller];
    for (size_t i = tree->module_count; i-- > 1;)
        if (is_in(&tree->modules[i], address))
            return &tree->modules[i];
    return NULL;
}

static uint64_t flags_of(const struct context *context)
{
    return (context->site & (OF_TAIL | CONTEXT_JIT)) | (context->fold ? OF_FOLDED : 0);
}

static uint64_t address_in_image(struct comparison *comparison, const struct tree *tree,
                                 const struct context *context, uint64_t site)
{
    uint64_t address = site & TRACE_SITE_ADDRESS;
    const struct tree_module *module =
        module_of(tree, tree->contexts[context->parent].module, address - 1);

    if (!address || !module || !context->parent || context->site & CONTEXT_JIT)
        return 0;
    return (uint64_t)number_of_name(comparison, module->path) << 32 |
           (uint32_t)(address - module->base);
}

static uint64_t site_of(struct comparison *comparison, const struct tree *tree,
                        const struct context *context)
{
    return flags_of(context) |
           (comparison->is_by_callee ? 0
                                     : address_in_image(comparison, tree, context, context->site));
}

static uint64_t function_of(struct comparison *comparison, int side, uint32_t number)
{
    const struct images *images = &comparison->images[side];
    const struct function *function = &images->functions[number];
    const struct image *image = &images->images[function->image];

    return (uint64_t)number_of_name(comparison, image->path) << 32 |
           (image->problem ? function->index : function->rva);
}

static struct context_pair *pair_at(struct comparison *comparison, uint32_t parent, uint32_t link,
                                    uint64_t key, uint32_t *place)
{
    size_t before = comparison->contexts.count;

    *place = pair_index_add(&comparison->contexts, key, link);
    if (*place == before) {
        comparison->figures = memory_grow(comparison->figures, before, &comparison->figure_room,
                                          sizeof(*comparison->figures));
        comparison->figures[*place] = (struct context_pair){.parent = parent, .link = link};
    }
    return &comparison->figures[*place];
}

static uint32_t link_of(struct comparison *comparison, int side, uint64_t site, uint32_t function)
{
    size_t before = comparison->links.count;
    uint32_t link =
        pair_index_add(&comparison->links, site, function_of(comparison, side, function));

    if (link == before) {
        comparison->link_names = memory_grow(comparison->link_names, link, &comparison->link_room,
                                             sizeof(*comparison->link_names));
        comparison->link_names[link] = (struct link_name){side, function};
    }
    return link;
}

/* So many calls of the context that has that place. */
static void add_site(struct comparison *comparison, int side, uint32_t place, uint64_t site,
                     const struct context *context, uint64_t calls)
{
    uint32_t link = link_of(comparison, side, OF_SITE | site, context->function), own;

    pair_at(comparison, place, link, place, &own)->sides[side].calls += calls;
}

static void add_sites(struct comparison *comparison, int side, const struct tree *tree,
                      const struct context *context, uint32_t place)
{
    uint64_t rest = context->calls;
    size_t count;
    const struct tree_site *sites = tree_sites_of(tree, context, &count);

    if (context->site & OF_TAIL || !rest)
        return;
    if (!(context->site & TRACE_SITE_SHARED)) {
        add_site(comparison, side, place,
                 address_in_image(comparison, tree, context, context->site), context, rest);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        add_site(comparison, side, place,
                 address_in_image(comparison, tree, context, sites[i].site), context,
                 sites[i].calls);
        rest -= sites[i].calls;
    }
    if (rest)
        add_site(comparison, side, place, 0, context, rest);
}

/* Adds the context's figures to those of the same context; returns its place. */
static uint32_t add_context(struct comparison *comparison, int side, const struct tree *tree,
                            const struct context *context, uint32_t parent)
{
    uint32_t link =
        link_of(comparison, side, site_of(comparison, tree, context), context->function);
    struct context_pair *pair;
    uint32_t place;

    pair = pair_at(comparison, parent, link, parent, &place);
    pair->sides[side].calls += context->calls;
    pair->sides[side].exits += context->exits;
    if (comparison->is_by_callee && !comparison->ignores_sites)
        add_sites(comparison, side, tree, context, place);
    return place;
}

/* All that is below the context at top, and not top itself, which has the place `above`. */
static void add_below(struct comparison *comparison, int side, const struct tree *tree,
                      uint32_t top, uint32_t above)
{
    struct step {
        uint32_t slot, above;
    } *path = NULL;
    size_t depth = 0, room = 0;
    uint32_t slot = tree->contexts[top].first_child;

    while (slot || depth) {
        if (!slot) {
            slot = tree->contexts[path[--depth].slot].sibling;
            above = path[depth].above;
            continue;
        }
        path = memory_grow(path, depth, &room, sizeof(*path));
        path[depth++] = (struct step){slot, above};
        above = add_context(comparison, side, tree, &tree->contexts[slot], above);
        slot = tree->contexts[slot].first_child;
    }
    free(path);
}

static struct thread_pair *thread_at(struct comparison *comparison, uint32_t process,
                                     uint32_t ordinal)
{
    size_t before = comparison->threads.count;
    uint32_t number = pair_index_add(&comparison->threads, process, ordinal);
    struct thread_pair *pair;

    if (number == before) {
        comparison->thread_pairs =
            memory_grow(comparison->thread_pairs, number, &comparison->thread_room, sizeof(*pair));
        pair = &comparison->thread_pairs[number];
        *pair = (struct thread_pair){.process = process, .ordinal = ordinal};
        pair_at(comparison, 0, number, UINT64_MAX, &pair->context);
        comparison->figures[pair->context].parent = pair->context;
    }
    return &comparison->thread_pairs[number];
}

static void add_thread(struct comparison *comparison, int side, const struct tree *tree,
                       const struct tree_thread *thread, uint32_t process)
{
    struct thread_pair *pair = thread_at(comparison, process, thread->record.ordinal);
    uint32_t top = pair->context;

    pair->records[side] = thread->record;
    pair->live[side] = thread->entries - thread->exits - thread->record.unwound;
    pair->is_there[side] = true;
    if (thread->root)
        add_below(comparison, side, tree, thread->root, top);
    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next) {
        uint32_t body = tree->folds[fold].slot;

        add_below(comparison, side, tree, body,
                  add_context(comparison, side, tree, &tree->contexts[body], top));
    }
}

static int by_session(const void *left, const void *right)
{
    const struct tree *a = left, *b = right;

    return (a->header.session > b->header.session) - (a->header.session < b->header.session);
}

/* Returns how many processes there were. */
static size_t add_side(struct comparison *comparison, int side, const char *path)
{
    const char *const paths[] = {path, NULL};
    int result = 0;
    char **traces = traces_of(paths, &result);
    size_t count = traces_count(traces);
    struct tree *trees = memory_zeroed(count + 1, sizeof(*trees));
    struct failure failure;

    images_begin(&comparison->images[side]);
    if (result < 0 || !count)
        give_up("expected traces, found none");
    for (size_t i = 0; i < count; i++)
        if (!tree_load_path(&trees[i], traces[i], &comparison->images[side], &failure))
            give_up(failure.text);
    qsort(trees, count, sizeof(*trees), by_session);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < trees[i].thread_count; j++)
            add_thread(comparison, side, &trees[i], &trees[i].threads[j], (uint32_t)i);
        tree_free(&trees[i]);
    }
    free(trees);
    traces_free(traces);
    return count;
}

static void print_site(const struct comparison *comparison, uint64_t site)
{
    uint32_t name = (uint32_t)((site & TRACE_SITE_ADDRESS) >> 32);

    if (site & CONTEXT_JIT)
        return;
    printf(" (%s%s%s%s+%#x)", site & OF_SITE ? "all from " : "", site & OF_FOLDED ? "folded, " : "",
           site & OF_TAIL ? "jump, " : "", comparison->names[name], (uint32_t)site);
}

/* The chain, the innermost first. */
static void print_context(const struct comparison *comparison, uint32_t place)
{
    const struct context_pair *context = &comparison->figures[place];
    const char *between = "";

    for (; context->parent != place;
         place = context->parent, context = &comparison->figures[place]) {
        const struct link_name *name = &comparison->link_names[context->link];

        printf("%s%s", between, comparison->images[name->side].functions[name->function].name);
        print_site(comparison, comparison->links.pairs[context->link].a);
        between = " < ";
    }
    printf("%sprocess %u thread %u\n", between, comparison->thread_pairs[context->link].process + 1,
           comparison->thread_pairs[context->link].ordinal);
}

static bool is_equal(struct comparison *comparison, const char *what, uint64_t expected,
                     uint64_t found, uint32_t context)
{
    if (expected == found)
        return true;
    if (comparison->differences++ >= comparison->limit)
        return false;
    printf("%s %" PRIu64 ", expected %" PRIu64 ": ", what, found, expected);
    print_context(comparison, context);
    return false;
}

static void compare_threads(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->threads.count; i++) {
        const struct thread_pair *pair = &comparison->thread_pairs[i];
        const struct trace_thread *expected = &pair->records[EXPECTED];
        const struct trace_thread *found = &pair->records[FOUND];

        is_equal(comparison, "there", pair->is_there[EXPECTED], pair->is_there[FOUND],
                 pair->context);
        is_equal(comparison, "skipped", expected->skipped, found->skipped, pair->context);
        is_equal(comparison, "dropped", expected->dropped, found->dropped, pair->context);
        if (comparison->ignores_ends)
            continue;
        is_equal(comparison, "unwound", expected->unwound, found->unwound, pair->context);
        is_equal(comparison, "live", pair->live[EXPECTED], pair->live[FOUND], pair->context);
    }
}

/* Callers come before what they called. */
static void compare_contexts(struct comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->contexts.count; i++) {
        const struct figures *expected = &comparison->figures[i].sides[EXPECTED];
        const struct figures *found = &comparison->figures[i].sides[FOUND];

        if (is_equal(comparison, "calls", expected->calls, found->calls, i) &&
            !comparison->ignores_ends)
            is_equal(comparison, "exits", expected->exits, found->exits, i);
    }
}

static uint64_t calls_of(const struct comparison *comparison)
{
    uint64_t calls = 0;

    for (size_t i = 0; i < comparison->contexts.count; i++)
        calls += comparison->figures[i].sides[EXPECTED].calls;
    return calls;
}

/* Returns where the two names are. */
static int read_options(struct comparison *comparison, int count, char **arguments)
{
    int i = 1;

    for (; i < count && !strncmp(arguments[i], "--", 2); i++) {
        if (!strcmp(arguments[i], "--ignore-ends"))
            comparison->ignores_ends = true;
        else if (!strcmp(arguments[i], "--by-callee"))
            comparison->is_by_callee = true;
        else if (!strcmp(arguments[i], "--by-callee=alone"))
            comparison->is_by_callee = comparison->ignores_sites = true;
        else if (!strncmp(arguments[i], "--limit=", 8))
            comparison->limit = strtoull(arguments[i] + 8, NULL, 10);
        else
            break;
    }
    if (count - i != 2)
        give_up("expected [--ignore-ends] [--by-callee[=alone]] [--limit=N] EXPECTED FOUND");
    return i;
}

static void comparison_free(struct comparison *comparison)
{
    for (int side = 0; side < SIDES; side++)
        images_free(&comparison->images[side]);
    for (size_t i = 0; i < comparison->name_count; i++)
        free(comparison->names[i]);
    free(comparison->names);
    free(comparison->link_names);
    free(comparison->figures);
    free(comparison->thread_pairs);
    pair_index_free(&comparison->links);
    pair_index_free(&comparison->contexts);
    pair_index_free(&comparison->threads);
}

int main(int count, char **arguments)
{
    static const char *const no_dirs[] = {NULL};
    struct comparison comparison = {.limit = 20};
    const struct profile none = {0};
    int first = read_options(&comparison, count, arguments), result;
    size_t processes[SIDES];

    number_of_name(&comparison, "nowhere");
    for (int side = 0; side < SIDES; side++) {
        processes[side] = add_side(&comparison, side, arguments[first + side]);
        symbolize(&comparison.images[side], &none, no_dirs);
    }
    if (processes[EXPECTED] != processes[FOUND])
        printf("%zu processes, expected %zu\n", processes[FOUND], processes[EXPECTED]);
    compare_threads(&comparison);
    compare_contexts(&comparison);
    if (comparison.differences > comparison.limit)
        printf("... and %" PRIu64 " more\n", comparison.differences - comparison.limit);
    printf("%" PRIu64 " differences in %zu contexts with %" PRIu64 " calls\n",
           comparison.differences, comparison.contexts.count, calls_of(&comparison));
    result = comparison.differences || processes[EXPECTED] != processes[FOUND];
    comparison_free(&comparison);
    return result;
}
