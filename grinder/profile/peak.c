#include "grinder/profile/peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

#define LONGEST_CYCLE 8 /* functions that call each other in turn */

/* Empty if nothing was read of it. */
static struct stack_chain *chain_of(struct chains *chains, uint32_t ordinal)
{
    size_t before = chains->ordinals.count;
    uint32_t number = pair_index_add(&chains->ordinals, ordinal, 0);

    if (number == before) {
        chains->chains =
            memory_grow(chains->chains, number, &chains->room, sizeof(*chains->chains));
        chains->chains[number] = (struct stack_chain){0};
    }
    return &chains->chains[number];
}

static void load_stack(void *user, const struct trace_stack *stack,
                       const struct trace_stack_entry *entries)
{
    if (!stack_chain_add(chain_of(user, stack->thread), stack, entries)) {
        fprintf(stderr, "grinder: out of memory\n");
        exit(EXIT_FAILURE);
    }
}

bool chains_read(struct chains *chains, const struct trace_file *file, struct failure *failure)
{
    const struct trace_visitor visitor = {.user = chains, .stack = load_stack};
    bool is_read = trace_file_read(file, &visitor, failure);

    for (size_t i = 0; i < chains->ordinals.count; i++)
        stack_chain_check(&chains->chains[i]);
    return is_read;
}

void chains_free(struct chains *chains)
{
    for (size_t i = 0; i < chains->ordinals.count; i++)
        stack_chain_free(&chains->chains[i]);
    free(chains->chains);
    pair_index_free(&chains->ordinals);
    *chains = (struct chains){0};
}

/* What a chain is made into rows with. */
struct making {
    struct peak *peak;
    const struct stack_chain *chain;
    const struct tree_node *nodes; /* by index */
    size_t node_count;
    const uint8_t *chosen; /* by function; null: all */
    uint64_t depth;        /* of the call that the last row is of */
    bool has_chosen;
};

static struct peak_row *add_row(struct peak *peak, enum peak_row_kind kind)
{
    peak->rows = memory_grow(peak->rows, peak->row_count, &peak->row_room, sizeof(*peak->rows));
    peak->rows[peak->row_count] = (struct peak_row){.kind = kind};
    return &peak->rows[peak->row_count++];
}

static struct peak_row *last_row(struct making *making)
{
    return &making->peak->rows[making->peak->row_count - 1];
}

/* The last row's bytes reach down to there. */
static void reach(struct making *making, uint64_t depth)
{
    if (depth <= making->depth)
        return;
    last_row(making)->bytes += depth - making->depth;
    making->depth = depth;
}

static void add_call(struct making *making, const struct trace_stack_entry *entry)
{
    uint64_t depth = (uint64_t)entry->depth * STACK_DEPTH_UNIT;
    uint32_t function = entry->node < making->node_count ? making->nodes[entry->node].function : 0;
    enum peak_row_kind kind = PEAK_CALLS;

    if (depth <= making->depth || depth > making->peak->bytes)
        return; /* was ending; or no chain that an agent wrote */
    reach(making, depth);
    making->has_chosen = making->has_chosen || !making->chosen || making->chosen[function];
    if (!making->has_chosen) {
        kind = PEAK_CALLERS;
        function = 0;
    }
    if (last_row(making)->kind != kind || last_row(making)->function != function)
        add_row(making->peak, kind)->function = function;
    last_row(making)->calls++;
}

static void add_calls(struct making *making, uint32_t from, uint32_t to)
{
    for (uint32_t position = from; position < to; position++)
        add_call(making, stack_chain_entry(making->chain, position));
}

static bool is_same(const struct peak_row *a, const struct peak_row *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].kind != PEAK_CALLS || b[i].kind != PEAK_CALLS || a[i].function != b[i].function)
            return false;
    return true;
}

/* How many rows from the first on call each other in turn, and come again at once; 0 if none. */
static uint32_t cycle_at(const struct peak_row *rows, size_t count)
{
    for (uint32_t length = 2; length <= LONGEST_CYCLE && 2 * length <= count; length++)
        if (is_same(rows, rows + length, length))
            return length;
    return 0;
}

static void join_cycles(struct peak *peak)
{
    struct peak_row *rows = peak->rows;
    size_t from = 0, to = 0;

    while (from < peak->row_count) {
        uint32_t length = cycle_at(rows + from, peak->row_count - from);
        if (!length) {
            rows[to++] = rows[from++];
            continue;
        }
        memmove(rows + to, rows + from, length * sizeof(*rows));
        rows[to].cycle = length;
        from += length;
        for (; from + length <= peak->row_count && is_same(rows + to, rows + from, length);
             from += length) {
            for (uint32_t i = 0; i < length; i++) {
                rows[to + i].calls += rows[from + i].calls;
                rows[to + i].bytes += rows[from + i].bytes;
            }
        }
        to += length;
    }
    peak->row_count = to;
}

static void make_rows(struct making *making)
{
    const struct stack_chain *chain = making->chain;
    struct peak *peak = making->peak;
    uint32_t unknown = chain->count - chain->outer - chain->inner;

    add_row(peak, PEAK_BEFORE);
    add_calls(making, 0, chain->outer);
    if (unknown && (chain->outer || chain->inner))
        add_row(peak, PEAK_UNKNOWN)->calls = unknown;
    add_calls(making, chain->count - chain->inner, chain->count);
    if (making->depth < peak->bytes) {
        if (last_row(making)->kind != PEAK_UNKNOWN)
            add_row(peak, PEAK_UNKNOWN);
        reach(making, peak->bytes);
    }
    join_cycles(peak);
}

static void make_peak(struct making *making, struct peak *peak)
{
    *peak = (struct peak){
        .is_shown = true,
        .is_known = true,
        .bytes = making->chain->peak,
        .size = making->chain->copies[0].head.size,
        .calls = making->chain->count,
    };

    making->peak = peak;
    make_rows(making);
    peak->is_shown = making->has_chosen || !making->chosen;
}

struct peak *peaks_of(struct chains *chains, const struct tree *tree, const struct images *images,
                      struct selection *selection)
{
    struct peak *peaks = memory_zeroed(tree->thread_count + 1, sizeof(*peaks));
    struct making making = {0};
    struct tree_node *nodes = tree_nodes(tree, &making.node_count);

    making.nodes = nodes;
    if (selection)
        making.chosen = selection_functions(selection, images_function_count(images));
    for (size_t i = 0; i < tree->thread_count; i++) {
        const struct trace_thread *record = &tree->threads[i].record;
        if (selection && !selection_match_thread(selection, record))
            continue;
        peaks[i].is_shown = !making.chosen;
        making.chain = chain_of(chains, record->ordinal);
        making.depth = 0;
        making.has_chosen = false;
        if (making.chain->copies[0].head.kind)
            make_peak(&making, &peaks[i]);
    }
    free(nodes);
    return peaks;
}

void peaks_free(struct peak *peaks, size_t count)
{
    for (size_t i = 0; peaks && i < count; i++)
        free(peaks[i].rows);
    free(peaks);
}
