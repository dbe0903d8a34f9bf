#include "grinder/test_traces/ground_sample.h"

#include <assert.h>
#include <unistd.h>

#include "grinder/profile/symbolize.h"
#include "grinder/profile/tree_load.h"

void ground_begin_with(struct ground *ground, struct trace_sample *sample, bool merged,
                       const char *debug_dir)
{
    const char *debug_dirs[] = {debug_dir, NULL};
    struct failure failure;
    struct tree tree;
    bool is_loaded;

    *ground =
        (struct ground){.profile = {.merged = merged, .keeps_stacks = true, .keeps_hits = true}};
    ground->fd = trace_sample_open(sample, ground->path);
    images_begin(&ground->images);
    is_loaded = tree_load_path(&tree, ground->path, &ground->images, &failure);
    assert(is_loaded && "the sample is a trace");
    (void)is_loaded;
    profile_add(&ground->profile, &tree, &ground->images);
    tree_free(&tree);
    symbolize(&ground->images, &ground->profile, debug_dirs);
    trace_sample_free(sample);
}

void ground_begin(struct ground *ground, struct trace_sample *sample, bool merged)
{
    ground_begin_with(ground, sample, merged, NULL);
}

void ground_free(struct ground *ground)
{
    profile_free(&ground->profile);
    images_free(&ground->images);
    close(ground->fd);
}

/* The function's place in the trace, 0 for the root. */
static uint32_t trace_number(const struct ground *ground, uint64_t function)
{
    return ground->images.functions[function].index;
}

static void add(struct costs *sum, const struct costs *costs)
{
    sum->calls += costs->calls;
    sum->self_ns += costs->self_ns;
    sum->measuring_ns += costs->measuring_ns;
    sum->total_ns += costs->total_ns;
    sum->total_calls += costs->total_calls;
    sum->self_instructions += costs->self_instructions;
    sum->total_instructions += costs->total_instructions;
}

struct costs ground_function(const struct ground *ground, size_t part, uint32_t function)
{
    const struct cost_table *table = &ground->profile.parts[part].functions;
    struct costs sum = {0};

    for (size_t i = 0; i < table->keys.count; i++)
        if (trace_number(ground, table->keys.pairs[i].a) == function)
            add(&sum, &table->costs[i]);
    return sum;
}

struct costs ground_edge(const struct ground *ground, size_t part, uint32_t caller, uint32_t callee)
{
    const struct cost_table *table = &ground->profile.parts[part].edges;
    struct costs sum = {0};

    for (size_t i = 0; i < table->keys.count; i++)
        if (trace_number(ground, table->keys.pairs[i].a >> 32) == caller &&
            trace_number(ground, (uint32_t)table->keys.pairs[i].a) == callee)
            add(&sum, &table->costs[i]);
    return sum;
}
