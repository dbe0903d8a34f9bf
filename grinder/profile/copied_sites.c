#include "grinder/profile/copied_sites.h"

#include <stdbool.h>
#include <stdlib.h>

#include "support/memory.h"

struct resolving {
    struct tree *tree;
    const struct images *images;
    uint32_t *modules; /* that have copies */
    size_t module_count, module_room;
    struct pair_index same; /* (site, parent << 32 | function), once for each that stays */
    uint32_t *slots;        /* of these, by number */
    size_t slot_room;
    uint32_t *last_child; /* by slot; 0: not known */
    uint32_t *merged;     /* by slot: what it is part of; 0: it stays */
};

static bool has_copies(const struct resolving *resolving, const struct tree_module *module)
{
    return module->image && resolving->images->images[module->image].manifest.site_count;
}

static bool is_in(const struct tree_module *module, uint64_t address)
{
    return address - module->base < module->size;
}

static void find_modules(struct resolving *resolving)
{
    for (size_t i = 1; i < resolving->tree->module_count; i++) {
        if (!has_copies(resolving, &resolving->tree->modules[i]))
            continue;
        resolving->modules = memory_grow(resolving->modules, resolving->module_count,
                                         &resolving->module_room, sizeof(*resolving->modules));
        resolving->modules[resolving->module_count++] = (uint32_t)i;
    }
}

/* The caller's, or the one that was there last; null if none with copies was. */
static const struct tree_module *module_of(const struct resolving *resolving, uint32_t caller,
                                           uint64_t address)
{
    const struct tree_module *modules = resolving->tree->modules;

    if (is_in(&modules[caller], address))
        return has_copies(resolving, &modules[caller]) ? &modules[caller] : NULL;
    for (size_t i = resolving->module_count; i-- > 0;)
        if (is_in(&modules[resolving->modules[i]], address))
            return &modules[resolving->modules[i]];
    return NULL;
}

/* What a return address stands for in the original; context: what was called from there. */
static uint64_t original_site(const struct resolving *resolving, const struct context *context,
                              uint64_t address)
{
    uint32_t caller = resolving->tree->contexts[context->parent].module;
    const struct tree_module *module = module_of(resolving, caller, address);
    uint64_t rva = module ? address - module->base : UINT32_MAX;

    if (rva >= UINT32_MAX)
        return address;
    return module->base + manifest_original_site(&resolving->images->images[module->image].manifest,
                                                 (uint32_t)rva);
}

static void resolve_sites(const struct resolving *resolving)
{
    struct tree *tree = resolving->tree;

    for (uint32_t slot = 1; slot < tree->context_count; slot++) {
        struct context *context = &tree->contexts[slot];

        context->site = (context->site & ~TRACE_SITE_ADDRESS) |
                        original_site(resolving, context, context->site & TRACE_SITE_ADDRESS);
    }
    for (size_t i = 0; i < tree->site_count; i++) {
        struct tree_site *site = &tree->sites[i];

        site->site = original_site(resolving, &tree->contexts[site->slot], site->site);
    }
}

static void append_children(struct resolving *resolving, uint32_t to, uint32_t from)
{
    struct context *contexts = resolving->tree->contexts;
    uint32_t *last = &resolving->last_child[to];

    if (!*last)
        *last = contexts[to].first_child;
    while (*last && contexts[*last].sibling)
        *last = contexts[*last].sibling;
    *(*last ? &contexts[*last].sibling : &contexts[to].first_child) = contexts[from].first_child;
    contexts[from].first_child = 0;
}

static void merge(struct resolving *resolving, uint32_t to, uint32_t from)
{
    struct context *sum = &resolving->tree->contexts[to];
    const struct context *part = &resolving->tree->contexts[from];

    context_add_figures(sum, part);
    tree_add_wait(resolving->tree, to, part->wait);
    resolving->merged[from] = to;
    append_children(resolving, to, from);
}

/* The slot that the context is to be part of: its own, if it is the first of its kind. */
static uint32_t slot_of_same(struct resolving *resolving, uint32_t parent, uint32_t slot)
{
    const struct context *contexts = resolving->tree->contexts;
    size_t before = resolving->same.count;
    uint32_t number = pair_index_add(&resolving->same, contexts[slot].site,
                                     (uint64_t)parent << 32 | contexts[slot].function);

    if (number < before)
        return contexts[resolving->slots[number]].fold == contexts[slot].fold
                   ? resolving->slots[number]
                   : slot;
    resolving->slots =
        memory_grow(resolving->slots, number, &resolving->slot_room, sizeof(*resolving->slots));
    resolving->slots[number] = slot;
    return slot;
}

/* Returns how many were merged into others. */
static uint64_t merge_children(struct resolving *resolving, uint32_t parent)
{
    struct context *contexts = resolving->tree->contexts;
    uint32_t *link = &contexts[parent].first_child;
    uint64_t merged = 0;

    while (*link) {
        uint32_t slot = *link, same = slot_of_same(resolving, parent, slot);

        if (same == slot) {
            link = &contexts[slot].sibling;
            continue;
        }
        *link = contexts[slot].sibling;
        contexts[slot].sibling = 0;
        merge(resolving, same, slot);
        merged++;
    }
    return merged;
}

/* From the top, so that children that came from several contexts are together by then. Parents are
   kept on a list of their own: those of children that were moved are others. */
static uint64_t merge_below(struct resolving *resolving, uint32_t top)
{
    const struct context *contexts = resolving->tree->contexts;
    uint32_t *path = NULL, slot = top;
    size_t depth = 0, room = 0;
    uint64_t merged = 0;

    for (;;) {
        merged += merge_children(resolving, slot);
        if (contexts[slot].first_child) {
            path = memory_grow(path, depth, &room, sizeof(*path));
            path[depth++] = slot;
            slot = contexts[slot].first_child;
            continue;
        }
        while (depth && !contexts[slot].sibling)
            slot = path[--depth];
        if (!depth)
            break;
        slot = contexts[slot].sibling;
    }
    free(path);
    return merged;
}

static void merge_thread(struct resolving *resolving, struct tree_thread *thread)
{
    struct tree *tree = resolving->tree;
    uint64_t merged = 0;

    if (thread->root)
        merged += merge_below(resolving, thread->root);
    for (uint32_t fold = thread->first_fold; fold; fold = tree->folds[fold].next)
        merged += merge_below(resolving, tree->folds[fold].slot);
    thread->contexts -= merged;
    tree->committed -= merged;
}

static void move_sites(const struct resolving *resolving)
{
    struct tree *tree = resolving->tree;

    for (size_t i = 0; i < tree->site_count; i++)
        while (resolving->merged[tree->sites[i].slot])
            tree->sites[i].slot = resolving->merged[tree->sites[i].slot];
    tree_sort_sites(tree);
    for (size_t i = 0; i < tree->hit_count; i++)
        while (resolving->merged[tree->hits[i].slot])
            tree->hits[i].slot = resolving->merged[tree->hits[i].slot];
}

void copied_sites_resolve(struct tree *tree, const struct images *images)
{
    struct resolving resolving = {.tree = tree, .images = images};

    find_modules(&resolving);
    if (resolving.module_count) {
        resolve_sites(&resolving);
        resolving.last_child = memory_zeroed(tree->context_count, sizeof(*resolving.last_child));
        resolving.merged = memory_zeroed(tree->context_count, sizeof(*resolving.merged));
        for (size_t i = 0; i < tree->thread_count; i++)
            merge_thread(&resolving, &tree->threads[i]);
        move_sites(&resolving);
    }
    free(resolving.modules);
    free(resolving.slots);
    free(resolving.last_child);
    free(resolving.merged);
    pair_index_free(&resolving.same);
}
