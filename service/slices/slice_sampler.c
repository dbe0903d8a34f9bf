#include "service/slices/slice_sampler.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"
#include "trace/trace_format.h"

#define BUFFER_SIZE (256u << 10)
#define CHAIN_LIMIT 1024 /* callers that are looked through for the same function */
#define NO_NODES    UINT32_MAX

enum slice_node_flags {
    NODE_OUTERMOST = 1, /* no caller is of the same function */
    NODE_UNROOTED = 2,  /* below a representative: who is under way there is not known */
    NODE_REPRESENTATIVE = 4,
};

struct slice_node {
    uint64_t calls, passed, exits, ticks; /* as last seen */
    int64_t raw;                          /* of this look: growth of ticks and of credit */
    int64_t below;    /* of this look: what probes took of it, those of callees included; or, with
                         TRACE_TIMING_SAMPLES, growth of callees' ticks */
    int64_t credit;   /* not yet in ticks */
    uint64_t gone;    /* invocations that ended, but are not among exits */
    uint64_t entered; /* in this look */
    uint32_t timed;
    uint32_t caller; /* whose ticks these are within: the parent, or of a tail call its caller;
                        with samples, whose total: the parent */
    uint32_t function;
    uint32_t flags : 3;
    uint32_t thread : 29;            /* 0: not seen yet */
    uint16_t child_changed, through; /* look at which one was called; at which it was open */
};

bool slice_sampler_open(struct slice_sampler *sampler, int file)
{
    *sampler = (struct slice_sampler){.file = file};
    sampler->buffer = malloc(BUFFER_SIZE);
    return sampler->buffer != NULL;
}

void slice_sampler_close(struct slice_sampler *sampler)
{
    free(sampler->nodes);
    free(sampler->places);
    free(sampler->open);
    free(sampler->entries);
    free(sampler->buffer);
    *sampler = (struct slice_sampler){.file = -1};
}

size_t slice_sampler_size(const struct slice_sampler *sampler)
{
    return BUFFER_SIZE + sampler->room * sizeof(*sampler->nodes) +
           sampler->place_room * sizeof(*sampler->places) +
           sampler->open_room * sizeof(*sampler->open) +
           sampler->entry_room * sizeof(*sampler->entries);
}

static bool is_sampled(const struct slice_sampler *sampler)
{
    return sampler->header.timing == TRACE_TIMING_SAMPLES;
}

/* At least count elements, new ones of no known content: most of them are never used, and their
   pages need not be there. */
static bool make_room(void **array, size_t *room, size_t count, size_t size)
{
    size_t wanted = *room ? *room : 64;
    void *grown;

    if (count <= *room)
        return true;
    while (wanted < count)
        wanted *= 2;
    grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

static bool add_entry(struct slice_sampler *sampler, const struct slice_node *node, int64_t self,
                      int64_t total, uint64_t calls)
{
    if (!node->function)
        return true;
    if (!make_room((void **)&sampler->entries, &sampler->entry_room, sampler->entry_count + 1,
                   sizeof(*sampler->entries)))
        return false;
    sampler->entries[sampler->entry_count++] =
        (struct slice_entry){node->thread, node->function, self, total, calls};
    return true;
}

/* The node's time went by in it, and not in its caller itself. */
static bool add_calls(struct slice_sampler *sampler, const struct slice_node *node)
{
    int64_t time = node->raw - node->below;
    int64_t total = node->flags & NODE_OUTERMOST ? time : 0;

    if (node->function)
        sampler->nodes[node->caller].below += node->below;
    if (!time && !node->entered)
        return true;
    return add_entry(sampler, node, time, total, node->entered) &&
           (!time || add_entry(sampler, &sampler->nodes[node->caller], -time, 0, 0));
}

/* Callees were added before. A representative has no total (grinder/profile/cost.c). */
static bool add_samples(struct slice_sampler *sampler, const struct slice_node *node)
{
    int64_t all = node->raw + node->below;
    bool has_total = node->flags & NODE_OUTERMOST && !(node->flags & NODE_REPRESENTATIVE);

    sampler->nodes[node->caller].below += all;
    if (!all && !node->entered)
        return true;
    return add_entry(sampler, node, node->raw, has_total ? all : 0, node->entered);
}

static uint32_t outermost(const struct slice_sampler *sampler, uint32_t caller, uint32_t function)
{
    for (int i = 0; i < CHAIN_LIMIT; i++) {
        const struct slice_node *node = &sampler->nodes[caller];
        if (!node->function)
            return NODE_OUTERMOST;
        if (node->function == function)
            return 0;
        caller = node->caller;
    }
    return 0;
}

/* Where a unit of the trace that holds a node is among the nodes; 0: nowhere. */
static uint32_t place_of(const struct slice_sampler *sampler, uint32_t unit)
{
    uint32_t block = unit / TRACE_BLOCK_UNITS;
    uint32_t first = block < sampler->place_count ? sampler->places[block] : 0;

    return first && first != NO_NODES ? first + unit % TRACE_BLOCK_UNITS : 0;
}

/* Callers are committed before what they call, in front of it in the file. */
static void meet(struct slice_sampler *sampler, uint32_t index, const struct trace_node *seen,
                 uint32_t thread)
{
    struct slice_node *node = &sampler->nodes[index];
    uint32_t place = place_of(sampler, seen->parent), parent = place < index ? place : 0;

    node->thread = thread;
    node->function = seen->function & TRACE_FUNCTION_NUMBER;
    if (seen->site & TRACE_SITE_TAIL && !is_sampled(sampler))
        parent = sampler->nodes[parent].caller;
    node->caller = parent;
    if (!parent && node->function)
        node->flags |= NODE_UNROOTED | NODE_REPRESENTATIVE;
    node->flags |= sampler->nodes[parent].flags & NODE_UNROOTED;
    node->flags |= outermost(sampler, parent, node->function);
}

/* At most one invocation of a context is under way on a stack. */
static void count_gone(struct slice_node *node, bool called, bool returned, bool ended)
{
    uint64_t open = node->calls > node->exits ? node->calls - node->exits : 0;

    if (node->gone > open || (ended && !called && !returned))
        node->gone = open;
    if (open > node->gone + 1)
        node->gone = open - 1;
}

/* What the calls since the last look cost: in the node's own ticks, and in its caller's. As in
   grinder/profile/cost.c. */
static void count_cost(struct slice_sampler *sampler, struct slice_node *node,
                       const struct trace_node *seen)
{
    const struct trace_header *header = &sampler->header;
    int64_t calls = (int64_t)(seen->calls - node->calls), inner = header->probe_inner;
    int64_t passed = (int64_t)(seen->passed - node->passed);
    int64_t ended = (int64_t)(seen->exits - node->exits) + passed;
    int64_t timed =
        header->timing == TRACE_TIMING_EXACT ? calls : (int64_t)(seen->timed - node->timed);
    int64_t outer = timed * (header->probe_timed - inner) +
                    (calls - timed) * (header->probe_untimed - inner) +
                    passed * (header->probe_passed - inner);

    node->below += ended * inner / (1 << TRACE_COST_SHIFT);
    sampler->nodes[node->caller].below += outer / (1 << TRACE_COST_SHIFT);
}

static bool compare(struct slice_sampler *sampler, uint32_t index, const struct trace_node *seen)
{
    struct slice_node *node = &sampler->nodes[index];
    bool called = seen->calls != node->calls || seen->passed != node->passed;
    bool returned = seen->exits != node->exits, ended = seen->ticks != node->ticks;

    if (called || returned)
        sampler->nodes[node->caller].child_changed = (uint16_t)sampler->look;
    if (!is_sampled(sampler))
        count_cost(sampler, node, seen);
    node->raw = (int64_t)(seen->ticks - node->ticks);
    node->entered = seen->calls - node->calls + seen->passed - node->passed;
    node->calls = seen->calls;
    node->passed = seen->passed;
    node->exits = seen->exits;
    node->ticks = seen->ticks;
    node->timed = seen->timed;
    if (is_sampled(sampler))
        return true;
    if (ended) {
        node->raw -= node->credit;
        node->credit = 0;
    }
    if (called || returned || ended) {
        count_gone(node, called, returned, ended);
        return true;
    }
    if (node->calls <= node->exits + node->gone || node->flags & NODE_UNROOTED)
        return true;
    if (!make_room((void **)&sampler->open, &sampler->open_room, sampler->open_count + 1,
                   sizeof(*sampler->open)))
        return false;
    sampler->open[sampler->open_count++] = index;
    return true;
}

/* After the nodes: it is there before a node has the address of its links. */
static bool read_base(struct slice_sampler *sampler)
{
    uint64_t *base = &sampler->header.base;

    return *base ||
           file_read_at(sampler->file, base, sizeof(*base), offsetof(struct trace_header, base));
}

static bool has_nodes(const struct trace_block *block)
{
    return block->kind == TRACE_BLOCK_THREAD || block->kind == TRACE_BLOCK_NODES;
}

/* Blocks that are new are not seen yet. False: no memory. */
static bool add_places(struct slice_sampler *sampler, size_t count)
{
    if (!make_room((void **)&sampler->places, &sampler->place_room, count,
                   sizeof(*sampler->places)))
        return false;
    for (; sampler->place_count < count; sampler->place_count++)
        sampler->places[sampler->place_count] = 0;
    return true;
}

/* `count` zeroed nodes behind those that are there. False: no memory. */
static bool add_zeroed(struct slice_sampler *sampler, uint32_t count)
{
    if (!make_room((void **)&sampler->nodes, &sampler->room, sampler->node_count + count,
                   sizeof(*sampler->nodes)))
        return false;
    memset(&sampler->nodes[sampler->node_count], 0, count * sizeof(*sampler->nodes));
    sampler->node_count += count;
    return true;
}

/* A block that is seen for the first time gets room for nodes: also if it is not committed, so that
   nodes are in the order of the file. False: no memory. */
static bool place_block(struct slice_sampler *sampler, const struct trace_block *block,
                        uint64_t number)
{
    uint32_t *place = &sampler->places[number];

    if (block->kind && !has_nodes(block)) {
        *place = NO_NODES;
        return true;
    }
    if (*place)
        return true;
    if (!sampler->node_count && !add_zeroed(sampler, 1)) /* nobody's */
        return false;
    *place = sampler->node_count;
    return add_zeroed(sampler, TRACE_BLOCK_UNITS);
}

static bool look_at_block(struct slice_sampler *sampler, unsigned char *bytes, uint64_t number)
{
    const struct trace_block *block = (const struct trace_block *)bytes;
    struct trace_node *units = (struct trace_node *)bytes;
    uint32_t used = block->used < TRACE_BLOCK_UNITS ? block->used : TRACE_BLOCK_UNITS;
    uint32_t unit = block->kind == TRACE_BLOCK_THREAD ? TRACE_FIRST_NODE : 1;

    if (!place_block(sampler, block, number))
        return false;
    if (!has_nodes(block))
        return true;
    if (!block->thread || block->thread > SLICE_TRACE_LIMIT / TRACE_BLOCK_SIZE)
        return false;
    for (; unit < used; unit++) {
        uint32_t index = sampler->places[number] + unit;
        if (!units[unit].context)
            continue;
        units[unit].passed = trace_node_passed(&sampler->header, &units[unit]);
        if (!sampler->nodes[index].thread)
            meet(sampler, index, &units[unit], block->thread);
        if (!compare(sampler, index, &units[unit]))
            return false;
    }
    return true;
}

/* Credits calls that were under way from the last look to this one. Callers come first. */
static void credit_open(struct slice_sampler *sampler, uint64_t width)
{
    for (size_t i = 0; i < sampler->open_count; i++) {
        struct slice_node *node = &sampler->nodes[sampler->open[i]];
        struct slice_node *caller = &sampler->nodes[node->caller];
        bool caller_open = !caller->function || caller->through == (uint16_t)sampler->look;
        if (!caller_open || caller->child_changed == (uint16_t)sampler->look) {
            node->gone = node->calls - node->exits;
            continue;
        }
        node->through = (uint16_t)sampler->look;
        node->credit += (int64_t)width;
        node->raw += (int64_t)width;
    }
}

/* From the last node to the first: callees come before their callers. */
static bool add_nodes(struct slice_sampler *sampler)
{
    uint32_t count = sampler->node_count;

    while (count-- > 0) {
        struct slice_node *node = &sampler->nodes[count];
        if (node->thread &&
            !(is_sampled(sampler) ? add_samples(sampler, node) : add_calls(sampler, node)))
            return false;
        node->raw = node->below = 0;
        node->entered = 0;
    }
    return true;
}

/* Blocks from this one on that hold nodes, as far as is known, and fit into the buffer. */
static uint64_t run_of_blocks(const struct slice_sampler *sampler, uint64_t first, uint64_t end)
{
    uint64_t last = first;

    while (last < end && sampler->places[last] != NO_NODES &&
           last - first < BUFFER_SIZE / TRACE_BLOCK_SIZE)
        last++;
    return last - first;
}

static bool look_at_run(struct slice_sampler *sampler, uint64_t first, uint64_t count)
{
    if (!file_read_at(sampler->file, sampler->buffer, count * TRACE_BLOCK_SIZE,
                      first * TRACE_BLOCK_SIZE) ||
        !read_base(sampler))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!look_at_block(sampler, sampler->buffer + i * TRACE_BLOCK_SIZE, first + i))
            return false;
    return true;
}

static bool look_at_blocks(struct slice_sampler *sampler)
{
    uint64_t end = sampler->header.used / TRACE_BLOCK_SIZE;

    for (uint64_t block = TRACE_HEADER_SIZE / TRACE_BLOCK_SIZE; block < end;) {
        uint64_t count = run_of_blocks(sampler, block, end);
        if (count && !look_at_run(sampler, block, count))
            return false;
        block += count ? count : 1;
    }
    return true;
}

enum slice_look slice_sampler_sample(struct slice_sampler *sampler, uint64_t now)
{
    struct trace_header *header = &sampler->header;
    uint64_t width;

    if (!file_read_at(sampler->file, header, sizeof(*header), 0))
        return SLICE_FAILED;
    if (header->state == TRACE_PREPARED || !header->start_ticks || now <= header->start_ticks)
        return SLICE_NOTHING;
    if (header->used > SLICE_TRACE_LIMIT || !add_places(sampler, header->used / TRACE_BLOCK_SIZE))
        return SLICE_FAILED;
    if (!sampler->last_ticks)
        sampler->start_ticks = sampler->last_ticks = header->start_ticks;
    sampler->look++;
    sampler->entry_count = sampler->open_count = 0;
    width = now - sampler->last_ticks;
    sampler->last_ticks = now;
    if (!look_at_blocks(sampler))
        return SLICE_FAILED;
    credit_open(sampler, width);
    return add_nodes(sampler) ? SLICE_TAKEN : SLICE_FAILED;
}
