#include "grinder/profile/borrowed_times.h"

static void forget(struct cost_table *table)
{
    for (size_t i = 0; i < table->keys.count; i++) {
        struct costs *costs = &table->costs[i];
        costs->self_ns = costs->total_ns = costs->measuring_ns = 0;
        costs->samples = costs->total_samples = 0;
    }
}

static void borrow(struct cost_table *table, const struct cost_table *from)
{
    forget(table);
    for (size_t i = 0; i < from->keys.count; i++) {
        const struct costs *times = &from->costs[i];
        struct costs *costs = cost_table_at(table, from->keys.pairs[i].a, from->keys.pairs[i].b);
        costs->self_ns = times->self_ns;
        costs->total_ns = times->total_ns;
        costs->samples = times->samples;
        costs->total_samples = times->total_samples;
    }
}

/* Function 0 is a thread's root: whoever is below no counted function. */
static void look(struct borrowed_times *borrowed, const struct part *part)
{
    uint64_t most = 0;

    for (size_t i = 0; i < part->functions.keys.count; i++) {
        const struct costs *costs = &part->functions.costs[i];
        if (costs->calls || !costs->samples || !part->functions.keys.pairs[i].a)
            continue;
        borrowed->uncounted += costs->samples;
        if (costs->samples <= most)
            continue;
        most = costs->samples;
        borrowed->function = (uint32_t)part->functions.keys.pairs[i].a;
    }
}

void times_borrow(struct profile *counts, const struct profile *times, const char *path)
{
    const struct part none = {0}, *from = times->part_count ? times->parts : &none;
    struct borrowed_times borrowed = {.path = path};
    struct part *part = counts->parts;

    for (size_t i = 0; i < times->process_count; i++)
        for (size_t j = 0; j < times->processes[i].thread_count; j++)
            borrowed.samples += times->processes[i].threads[j].timed;
    counts->borrowed = borrowed;
    if (!counts->part_count)
        return;
    borrow(&part->functions, &from->functions);
    borrow(&part->edges, &from->edges);
    part->ns = from->ns;
    part->samples = from->samples;
    part->measuring_ns = 0;
    look(&borrowed, part);
    borrowed.outside = borrowed.samples - from->samples;
    counts->timed = counts->sampled = path;
    counts->untimed = counts->clocked = NULL;
    counts->borrowed = borrowed;
}
