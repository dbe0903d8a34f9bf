#include "trace/trace_sample.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct trace_block *block_at(struct trace_sample *sample, size_t offset)
{
    return (struct trace_block *)(sample->bytes + offset);
}

static size_t add_block(struct trace_sample *sample, uint32_t kind, uint32_t thread)
{
    size_t at = sample->size;

    sample->size += TRACE_BLOCK_SIZE;
    sample->bytes = realloc(sample->bytes, sample->size);
    assert(sample->bytes && "out of memory");
    memset(sample->bytes + at, 0, TRACE_BLOCK_SIZE);
    *block_at(sample, at) = (struct trace_block){.kind = kind, .thread = thread, .used = 1};
    trace_sample_header(sample)->used = sample->size;
    return at;
}

/* The number of a fresh unit of the thread's. */
static uint32_t add_unit(struct trace_sample *sample, uint32_t ordinal)
{
    size_t *last = &sample->thread_blocks[ordinal];

    if (block_at(sample, *last)->used == TRACE_BLOCK_UNITS)
        *last = add_block(sample, TRACE_BLOCK_NODES, ordinal);
    return (uint32_t)(*last / TRACE_UNIT) + block_at(sample, *last)->used++;
}

void trace_sample_begin(struct trace_sample *sample, uint32_t pid, const char *command)
{
    struct trace_header *header;

    memset(sample, 0, sizeof(*sample));
    sample->bytes = calloc(1, TRACE_HEADER_SIZE);
    assert(sample->bytes && "out of memory");
    sample->size = TRACE_HEADER_SIZE;
    header = trace_sample_header(sample);
    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    header->version = TRACE_VERSION;
    header->header_size = TRACE_HEADER_SIZE;
    header->block_size = TRACE_BLOCK_SIZE;
    header->node_limit = 1000000;
    header->capacity = 1ull << 32;
    header->ticks_per_second = 1000000000;
    header->pid = pid;
    header->used = TRACE_HEADER_SIZE;
    header->state = TRACE_ENDED;
    header->end = TRACE_END_GONE;
    header->start_ticks = 1000;
    header->end_ticks = 1001000;
    snprintf(header->command, sizeof(header->command), "%s", command);
}

void trace_sample_free(struct trace_sample *sample)
{
    free(sample->bytes);
    sample->bytes = NULL;
}

struct trace_header *trace_sample_header(struct trace_sample *sample)
{
    return (struct trace_header *)sample->bytes;
}

struct trace_thread *trace_sample_thread(struct trace_sample *sample, uint32_t ordinal)
{
    return (struct trace_thread *)(sample->bytes + sample->thread_at[ordinal]);
}

struct trace_node *trace_sample_node(struct trace_sample *sample, uint32_t index)
{
    return (struct trace_node *)(sample->bytes + (size_t)index * TRACE_UNIT);
}

static uint32_t add_node(struct trace_sample *sample, uint32_t ordinal, struct trace_node node)
{
    uint32_t index = add_unit(sample, ordinal);

    node.context = index;
    *trace_sample_node(sample, index) = node;
    trace_sample_thread(sample, ordinal)->nodes++;
    return index;
}

uint32_t trace_sample_add_thread(struct trace_sample *sample, const char *name)
{
    uint32_t ordinal = ++trace_sample_header(sample)->thread_count;
    struct trace_thread *thread;
    uint32_t root;
    size_t at;

    assert(ordinal < 64 && "a sample has few threads");
    at = add_block(sample, TRACE_BLOCK_THREAD, ordinal);
    sample->thread_blocks[ordinal] = at;
    sample->thread_at[ordinal] = at + TRACE_UNIT;
    block_at(sample, at)->used = TRACE_FIRST_NODE;
    thread = trace_sample_thread(sample, ordinal);
    thread->tid = trace_sample_header(sample)->pid + ordinal - 1;
    thread->ordinal = ordinal;
    thread->state = TRACE_THREAD_ENDED;
    snprintf(thread->name, sizeof(thread->name), "%s", name);
    root = add_node(sample, ordinal, (struct trace_node){0});
    trace_sample_thread(sample, ordinal)->root = root;
    return ordinal;
}

uint32_t trace_sample_add_node(struct trace_sample *sample, uint32_t ordinal, uint32_t parent,
                               uint64_t site, uint32_t function, uint64_t calls, uint64_t ticks)
{
    return add_node(sample, ordinal,
                    (struct trace_node){.site = site,
                                        .parent = parent,
                                        .function = function,
                                        .calls = calls,
                                        .exits = calls,
                                        .ticks = ticks});
}

uint32_t trace_sample_add_fold(struct trace_sample *sample, uint32_t ordinal, uint32_t function)
{
    return add_node(sample, ordinal,
                    (struct trace_node){.site = TRACE_SITE_FOLDED, .function = function});
}

void trace_sample_add_module(struct trace_sample *sample, const char *path, uint64_t base,
                             uint64_t size, uint32_t first_function, uint32_t function_count,
                             uint64_t original_hash)
{
    size_t path_size = strlen(path) + 1;
    uint32_t units =
        (uint32_t)((sizeof(struct trace_module) + path_size + TRACE_UNIT - 1) / TRACE_UNIT);
    struct trace_module *module;
    struct trace_block *block;

    assert(units < TRACE_BLOCK_UNITS && "a sample's path is short");
    if (!sample->module_block ||
        block_at(sample, sample->module_block)->used + units > TRACE_BLOCK_UNITS)
        sample->module_block = add_block(sample, TRACE_BLOCK_MODULES, 0);
    block = block_at(sample, sample->module_block);
    module = (struct trace_module *)(block + block->used);
    module->flags = first_function ? TRACE_MODULE_INSTRUMENTED : 0;
    module->base = base;
    module->size = size;
    module->first_function = first_function;
    module->function_count = function_count;
    module->original_hash = original_hash;
    module->path_size = (uint32_t)path_size;
    memcpy(module->path, path, path_size);
    module->size_units = units;
    block->used += units;
}

struct trace_stack *trace_sample_add_stack(struct trace_sample *sample, uint32_t ordinal,
                                           const uint32_t *depths, const uint32_t *nodes,
                                           uint32_t count)
{
    size_t at = add_block(sample, TRACE_BLOCK_STACK, ordinal);
    struct trace_stack *stack = (struct trace_stack *)(sample->bytes + at);
    struct trace_stack_entry *entries = (struct trace_stack_entry *)(stack + 1);
    uint32_t check = 0;

    assert(count && count <= STACK_BLOCK_ENTRIES && "a sample's chain is short");
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (struct trace_stack_entry){.depth = depths[i], .node = nodes[i], .number = 1};
        entries[i].check = check = stack_check(check, &entries[i]);
    }
    stack->used = TRACE_BLOCK_UNITS;
    stack->high = 0x7fff00000000;
    stack->size = 8 << 20;
    stack->lowest = stack->high - (uint64_t)depths[count - 1] * STACK_DEPTH_UNIT;
    stack->chain = (uint64_t)check << 32 | count;
    return stack;
}

/* Zeroed; committed by its node. */
static size_t add_links_record(struct trace_sample *sample, const struct trace_links *record)
{
    uint32_t size = trace_links_size(record);
    size_t at;

    assert(size <= TRACE_BLOCK_SIZE - TRACE_UNIT && "a record fits a block");
    if (!sample->links_block || sample->links_end + size > sample->links_block + TRACE_BLOCK_SIZE) {
        sample->links_block = add_block(sample, TRACE_BLOCK_LINKS, 1);
        sample->links_end = sample->links_block + TRACE_UNIT;
        block_at(sample, sample->links_block)->used = TRACE_BLOCK_UNITS;
        trace_sample_header(sample)->base = TRACE_SAMPLE_BASE;
    }
    at = sample->links_end;
    sample->links_end += size;
    memcpy(sample->bytes + at, record, sizeof(*record));
    return at;
}

/* In a block of its own. */
static void add_site(struct trace_sample *sample, uint32_t ordinal, const struct trace_site *site)
{
    size_t block = add_block(sample, TRACE_BLOCK_SITES, ordinal);

    block_at(sample, block)->used = TRACE_BLOCK_UNITS;
    memcpy(sample->bytes + block + TRACE_UNIT, site, sizeof(*site));
}

void trace_sample_add_site(struct trace_sample *sample, uint32_t ordinal, uint32_t node,
                           uint64_t site, const struct trace_link *link)
{
    size_t offset = (size_t)((const uint8_t *)link - sample->bytes);

    add_site(sample, ordinal,
             &(struct trace_site){
                 .site = site, .node = node, .link = (uint32_t)(offset / sizeof(*link))});
}

void trace_sample_add_calls(struct trace_sample *sample, uint32_t ordinal, uint32_t node,
                            uint64_t site, uint32_t callee, uint64_t calls)
{
    add_site(sample, ordinal,
             &(struct trace_site){.site = site,
                                  .node = node,
                                  .link = TRACE_SITE_HANDED_ON,
                                  .calls = calls,
                                  .callee = callee});
}

struct trace_hit *trace_sample_add_hit(struct trace_sample *sample, uint32_t ordinal,
                                       const struct trace_hit *hit)
{
    size_t block = add_block(sample, TRACE_BLOCK_HITS, ordinal);
    struct trace_hit *added = (struct trace_hit *)(sample->bytes + block + TRACE_UNIT);

    block_at(sample, block)->used = TRACE_BLOCK_UNITS;
    *added = *hit;
    return added;
}

struct trace_wait *trace_sample_add_wait(struct trace_sample *sample, uint32_t ordinal,
                                         uint32_t node, uint32_t count, uint64_t ticks)
{
    size_t block = add_block(sample, TRACE_BLOCK_WAITS, ordinal);
    struct trace_wait *wait = (struct trace_wait *)(sample->bytes + block + TRACE_UNIT);

    block_at(sample, block)->used = TRACE_BLOCK_UNITS;
    *wait = (struct trace_wait){node, count, ticks, ticks / count, ticks};
    return wait;
}

uint8_t *trace_sample_add_cover(struct trace_sample *sample, uint32_t function, uint32_t page,
                                uint32_t block_hash)
{
    size_t at = add_block(sample, TRACE_BLOCK_COVER, 0);
    struct trace_block *block = block_at(sample, at);

    block->used = TRACE_BLOCK_UNITS;
    block->function = function;
    block->page = page;
    block->block_hash = block_hash;
    return sample->bytes + at + TRACE_UNIT;
}

struct trace_times *trace_sample_add_times(struct trace_sample *sample, uint32_t ordinal,
                                           uint32_t node, uint32_t function)
{
    size_t block = add_block(sample, TRACE_BLOCK_TIMES, ordinal);
    struct trace_times *times = (struct trace_times *)(sample->bytes + block + TRACE_UNIT);

    block_at(sample, block)->used = TRACE_BLOCK_UNITS;
    *times = (struct trace_times){.node = node, .function = function};
    return times;
}

struct trace_links *trace_sample_links(struct trace_sample *sample, size_t links)
{
    return (struct trace_links *)(sample->bytes + links);
}

/* The addresses of chunks. */
static uint64_t *chunks_of(struct trace_sample *sample, size_t links)
{
    struct trace_links *record = trace_sample_links(sample, links);

    return (uint64_t *)&record->links[record->count];
}

static uint32_t at_most(uint32_t number, uint32_t most)
{
    return number < most ? number : most;
}

static size_t add_chunk(struct trace_sample *sample, uint32_t node, uint32_t first, uint32_t count)
{
    const struct trace_links record = {
        .key = node, .node = node, .first = (uint16_t)first, .count = (uint16_t)count};

    return add_links_record(sample, &record);
}

size_t trace_sample_add_links(struct trace_sample *sample, uint32_t node, uint32_t places)
{
    uint32_t inner = at_most(places, TRACE_LINKS_INLINE), first = inner;
    struct trace_links record = {.key = node, .node = node, .count = (uint16_t)inner};
    size_t at;

    record.chunks = (uint16_t)((places - inner + TRACE_LINKS_CHUNK - 1) / TRACE_LINKS_CHUNK);
    at = add_links_record(sample, &record);
    for (uint32_t i = 0; first < places; i++, first += TRACE_LINKS_CHUNK) {
        size_t chunk = add_chunk(sample, node, first, at_most(places - first, TRACE_LINKS_CHUNK));
        chunks_of(sample, at)[i] = TRACE_SAMPLE_BASE + chunk;
    }
    if (!(trace_sample_node(sample, node)->function & TRACE_FUNCTION_LEAF))
        trace_sample_node(sample, node)->passed = TRACE_SAMPLE_BASE + at;
    return at;
}

struct trace_link *trace_sample_link(struct trace_sample *sample, size_t links, uint32_t place)
{
    struct trace_links *record = trace_sample_links(sample, links);

    if (place >= TRACE_LINKS_INLINE) {
        uint32_t behind = place - TRACE_LINKS_INLINE;
        uint64_t chunk = chunks_of(sample, links)[behind / TRACE_LINKS_CHUNK];
        record = trace_sample_links(sample, chunk - TRACE_SAMPLE_BASE);
        place = behind % TRACE_LINKS_CHUNK;
    }
    assert(place < record->count && "there is such a place");
    return &record->links[place];
}

/* Its turn comes in 7 calls. */
static void count_link(struct trace_link *link, uint64_t callee, uint32_t calls)
{
    *link = (struct trace_link){.callee = callee, .word = -7, .armed = calls + 7};
}

void trace_sample_call(struct trace_sample *sample, size_t links, uint32_t place, size_t callee,
                       uint32_t calls)
{
    count_link(trace_sample_link(sample, links, place), TRACE_SAMPLE_BASE + callee, calls);
}

void trace_sample_call_node(struct trace_sample *sample, size_t links, uint32_t place,
                            uint32_t callee, uint32_t calls)
{
    count_link(trace_sample_link(sample, links, place),
               (TRACE_SAMPLE_BASE + (uint64_t)callee * TRACE_UNIT) | 1, calls);
}

static struct trace_module *module_at(struct trace_sample *sample, size_t block, uint32_t unit)
{
    return (struct trace_module *)(block_at(sample, block) + unit);
}

void trace_sample_count_modules(struct trace_sample *sample)
{
    for (size_t at = TRACE_HEADER_SIZE; at < sample->size; at += TRACE_BLOCK_SIZE)
        if (block_at(sample, at)->kind == TRACE_BLOCK_MODULES)
            for (uint32_t unit = 1; unit < block_at(sample, at)->used;
                 unit += module_at(sample, at, unit)->size_units)
                module_at(sample, at, unit)->flags |= TRACE_MODULE_COUNTED;
}

void trace_sample_add_instructions(struct trace_sample *sample, uint32_t node, uint64_t count)
{
    assert(!(trace_sample_node(sample, node)->function & TRACE_FUNCTION_LEAF) &&
           "no function of a counted module is a leaf");
    if (!trace_sample_node(sample, node)->passed)
        trace_sample_add_links(sample, node, 0);
    trace_sample_links(sample, trace_sample_node(sample, node)->passed - TRACE_SAMPLE_BASE)
        ->instructions += count;
}

int trace_sample_open(const struct trace_sample *sample, char path[64])
{
    int fd = memfd_create("trace", 0);
    ssize_t written = write(fd, sample->bytes, sample->size);

    assert(fd >= 0 && written == (ssize_t)sample->size && "a file in memory holds the sample");
    (void)written;
    snprintf(path, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}
