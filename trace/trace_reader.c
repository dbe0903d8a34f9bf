#include "trace/trace_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/regular_file.h"
#include "trace/link_sums.h"

#define CHUNK_BLOCKS 256u
#define CHUNK_SIZE   (CHUNK_BLOCKS * (uint64_t)TRACE_BLOCK_SIZE)

/* Node indexes are 32 bits of 64-byte units. */
#define ADDRESSABLE ((uint64_t)TRACE_UNIT << 32)

/* Reads size bytes at offset. 0, or -1 with errno set; the file ending early is EPIPE. */
static int read_fully(int fd, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t count = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0) {
            errno = EPIPE;
            return -1;
        }
        done += (size_t)count;
    }
    return 0;
}

/* Why read_fully failed. */
static const char *why_unread(void)
{
    return errno == EPIPE ? "the file became shorter" : strerror(errno);
}

#define NOT_A_TRACE "not a trace file: expected it to begin with " TRACE_MAGIC

static bool header_check_layout(const struct trace_file *file, struct failure *failure)
{
    const struct trace_header *header = &file->header;

    if (memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)))
        return fail(failure, file->path, NOT_A_TRACE);
    if (header->version != TRACE_VERSION)
        return fail(failure, file->path,
                    "header: expected trace version %u, found %" PRIu32
                    "; use the grinder of the release that recorded it",
                    TRACE_VERSION, header->version);
    if (header->header_size != TRACE_HEADER_SIZE)
        return fail(failure, file->path, "header: expected a header of %u bytes, found %" PRIu32,
                    TRACE_HEADER_SIZE, header->header_size);
    if (header->block_size != TRACE_BLOCK_SIZE)
        return fail(failure, file->path, "header: expected blocks of %u bytes, found %" PRIu32,
                    TRACE_BLOCK_SIZE, header->block_size);
    if (header->capacity < TRACE_HEADER_SIZE || header->capacity > ADDRESSABLE)
        return fail(failure, file->path,
                    "header: expected a capacity of %u to %" PRIu64 ", found %" PRIu64,
                    TRACE_HEADER_SIZE, ADDRESSABLE, header->capacity);
    if (header->used % TRACE_BLOCK_SIZE)
        return fail(failure, file->path, "header: expected `used` in blocks of %u, found %" PRIu64,
                    TRACE_BLOCK_SIZE, header->used);
    return true;
}

static bool header_check_facts(struct trace_file *file, struct failure *failure)
{
    struct trace_header *header = &file->header;

    if (!header->ticks_per_second || header->ticks_per_second > 1000000000000ull)
        return fail(failure, file->path,
                    "header: expected 1 to 10^12 ticks per second, found %" PRIu64,
                    header->ticks_per_second);
    if (header->state > TRACE_ENDED)
        return fail(failure, file->path, "header: expected a state of 0 to %d, found %" PRIu32,
                    TRACE_ENDED, header->state);
    if (header->end > TRACE_END_DETACHED)
        return fail(failure, file->path, "header: expected an end of 0 to %d, found %" PRIu32,
                    TRACE_END_DETACHED, header->end);
    if (header->end_how > TRACE_END_KILLED)
        return fail(failure, file->path,
                    "header: expected a kind of end of 0 to %d, found %" PRIu32, TRACE_END_KILLED,
                    header->end_how);
    header->exe[TRACE_EXE_SIZE - 1] = 0;
    header->command[TRACE_COMMAND_SIZE - 1] = 0;
    return true;
}

/* An agent that ran into the capacity may have counted past it; no block lies there. */
static void find_end(struct trace_file *file)
{
    const struct trace_header *header = &file->header;
    uint64_t used = header->used < header->capacity ? header->used : header->capacity;

    if (used < TRACE_HEADER_SIZE)
        used = TRACE_HEADER_SIZE;
    file->missing = used > file->file_size ? used - file->file_size : 0;
    file->end = used - file->missing;
    file->end -= file->end % TRACE_BLOCK_SIZE;
}

/* For want of bytes. What there is may show that it is another file. */
static bool refuse_short(const struct trace_file *file, struct failure *failure)
{
    uint64_t magic_size = sizeof(file->header.magic);
    size_t size = (size_t)(file->file_size < magic_size ? file->file_size : magic_size);
    char start[sizeof(file->header.magic)];

    if (read_fully(file->fd, start, size, 0) == 0 && memcmp(start, TRACE_MAGIC, size))
        return fail(failure, file->path, NOT_A_TRACE);
    return fail(failure, file->path,
                "cut off in its header: expected at least %u bytes, found %" PRIu64,
                TRACE_HEADER_SIZE, file->file_size);
}

bool trace_file_open(struct trace_file *file, const char *path, struct failure *failure)
{
    struct stat status;

    memset(file, 0, sizeof(*file));
    file->path = path;
    file->fd = regular_file_open(path);
    if (file->fd < 0)
        return fail(failure, file->path, "cannot be opened: %s", regular_file_error());
    if (fstat(file->fd, &status) < 0) {
        fail(failure, file->path, "cannot be read: %s", strerror(errno));
        goto err;
    }
    file->file_size = (uint64_t)status.st_size;
    if (file->file_size < TRACE_HEADER_SIZE) {
        refuse_short(file, failure);
        goto err;
    }
    if (read_fully(file->fd, &file->header, sizeof(file->header), 0) < 0) {
        fail(failure, file->path, "cannot be read: %s", why_unread());
        goto err;
    }
    if (!header_check_layout(file, failure) || !header_check_facts(file, failure))
        goto err;
    find_end(file);
    return true;

err:
    trace_file_close(file);
    return false;
}

/* What blocks are read with. */
struct reading {
    const struct trace_file *file;
    const struct trace_visitor *visitor;
    struct link_sums sums;
    struct trace_site *sites;
    size_t site_count, site_room;
    struct failure *failure;
};

typedef bool visit_function(struct reading *reading, struct trace_block *block, uint64_t at);

static bool visit_thread(const struct trace_file *file, const struct trace_visitor *visitor,
                         const struct trace_block *block, uint64_t at, struct failure *failure)
{
    struct trace_thread thread;

    memcpy(&thread, block + 1, sizeof(thread));
    if (!thread.root)
        return true;
    if (thread.ordinal != block->thread)
        return fail(failure, file->path,
                    "thread record at %" PRIu64 ": expected ordinal %" PRIu32 ", found %" PRIu32,
                    at + TRACE_UNIT, block->thread, thread.ordinal);
    if (thread.state < TRACE_THREAD_RUNNING || thread.state > TRACE_THREAD_CUT)
        return fail(failure, file->path,
                    "thread record at %" PRIu64 ": expected a state of 1 to %d, found %" PRIu32,
                    at + TRACE_UNIT, TRACE_THREAD_CUT, thread.state);
    thread.name[sizeof(thread.name) - 1] = 0;
    if (visitor->thread)
        visitor->thread(visitor->user, &thread);
    return true;
}

/* `passed` of nodes becomes all calls that have no record. */
static void add_links(const struct reading *reading, struct trace_node *nodes, uint32_t first,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].context)
            nodes[i].passed = trace_node_passed(&reading->file->header, &nodes[i]) +
                              link_sums_of(&reading->sums, first + i);
}

/* What a block of nodes or a thread's first block holds: nodes from unit `from` on. */
static bool visit_nodes(const struct reading *reading, struct trace_block *block, uint64_t at,
                        uint32_t from)
{
    const struct trace_visitor *visitor = reading->visitor;
    struct trace_node *nodes = (struct trace_node *)(block + from);
    uint32_t first = (uint32_t)(at / TRACE_UNIT) + from;

    if (!block->thread)
        return fail(reading->failure, reading->file->path,
                    "block at %" PRIu64 ": expected nodes of a thread, found thread 0", at);
    if (block->used <= from || !visitor->nodes)
        return true;
    if (reading->file->header.base)
        add_links(reading, nodes, first, block->used - from);
    visitor->nodes(visitor->user, block->thread, first, nodes, block->used - from);
    return true;
}

static bool module_check(const struct trace_file *file, const struct trace_module *module,
                         uint32_t room_units, uint64_t at, struct failure *failure)
{
    uint64_t path_room;

    if (module->size_units < 3 || module->size_units > room_units)
        return fail(failure, file->path,
                    "module record at %" PRIu64 ": expected 3 to %" PRIu32 " units, found %" PRIu32,
                    at, room_units, module->size_units);
    path_room = (uint64_t)module->size_units * TRACE_UNIT - sizeof(*module);
    if (!module->path_size || module->path_size > path_room || module->path[module->path_size - 1])
        return fail(failure, file->path,
                    "module record at %" PRIu64 ": expected a path of up to %" PRIu64
                    " bytes that ends with 0, found %" PRIu32 " bytes",
                    at, path_room, module->path_size);
    if (module->build_id_size > sizeof(module->build_id))
        return fail(failure, file->path,
                    "module record at %" PRIu64 ": expected a build-id of up to %zu bytes, "
                    "found %" PRIu32,
                    at, sizeof(module->build_id), module->build_id_size);
    if (module->base + module->size < module->base)
        return fail(failure, file->path,
                    "module record at %" PRIu64 ": its end lies past the last address", at);
    if ((module->flags & TRACE_MODULE_INSTRUMENTED) &&
        (!module->first_function ||
         (uint64_t)module->first_function + module->function_count > UINT32_MAX))
        return fail(failure, file->path,
                    "module record at %" PRIu64 ": expected function numbers within 1 to %u, "
                    "found %" PRIu32 " numbers from %" PRIu32,
                    at, UINT32_MAX, module->function_count, module->first_function);
    return true;
}

static bool visit_modules(const struct trace_file *file, const struct trace_visitor *visitor,
                          const struct trace_block *block, uint64_t at, struct failure *failure)
{
    uint32_t unit = 1;

    while (unit + 2 < block->used) {
        const struct trace_module *module = (const struct trace_module *)(block + unit);
        uint64_t module_at = at + (uint64_t)unit * TRACE_UNIT;
        if (!module->size_units)
            break;
        if (!module_check(file, module, block->used - unit, module_at, failure))
            return false;
        if (visitor->module)
            visitor->module(visitor->user, module);
        unit += module->size_units;
    }
    return true;
}

static bool visit_stack(const struct trace_file *file, const struct trace_visitor *visitor,
                        const struct trace_block *block, uint64_t at, struct failure *failure)
{
    struct trace_stack stack;

    memcpy(&stack, block, sizeof(stack));
    if (!stack.thread)
        return fail(failure, file->path,
                    "block at %" PRIu64 ": expected a thread's stack, found thread 0", at);
    if (stack.first % STACK_BLOCK_ENTRIES || stack.first >= STACK_KEPT)
        return fail(failure, file->path,
                    "stack record at %" PRIu64 ": expected a multiple of %u below %u for its first "
                    "entry, found %" PRIu32,
                    at, STACK_BLOCK_ENTRIES, STACK_KEPT, stack.first);
    if (stack.copy >= STACK_COPIES)
        return fail(failure, file->path,
                    "stack record at %" PRIu64 ": expected a copy of 0 to %d, found %" PRIu32, at,
                    STACK_COPIES - 1, stack.copy);
    if (!stack.first && (stack.size > stack.high || stack.lowest > stack.high ||
                         stack.high - stack.lowest > stack.size))
        return fail(failure, file->path,
                    "stack record at %" PRIu64 ": expected a lowest address within %" PRIu64
                    " bytes below %" PRIu64 ", found %" PRIu64,
                    at, stack.size, stack.high, stack.lowest);
    if (visitor->stack)
        visitor->stack(visitor->user, &stack, (const struct trace_stack_entry *)(block + 1));
    return true;
}

static bool visit_waits(const struct reading *reading, const struct trace_block *block, uint64_t at)
{
    const struct trace_wait *waits = (const struct trace_wait *)(block + 1);

    if (!block->thread)
        return fail(reading->failure, reading->file->path,
                    "block at %" PRIu64 ": expected waits of a thread, found thread 0", at);
    for (uint32_t i = 0; i < TRACE_IN_BLOCK(*waits) && waits[i].node; i++) {
        if (waits[i].longest > waits[i].ticks)
            return fail(reading->failure, reading->file->path,
                        "wait record at %" PRIu64 ": expected the longest of %" PRIu64
                        " ticks at most, found %" PRIu64,
                        at + TRACE_UNIT + i * sizeof(*waits), waits[i].ticks, waits[i].longest);
        if (reading->visitor->wait)
            reading->visitor->wait(reading->visitor->user, block->thread, &waits[i]);
    }
    return true;
}

static bool visit_hits(const struct reading *reading, const struct trace_block *block, uint64_t at)
{
    const struct trace_hit *hits = (const struct trace_hit *)(block + 1);

    if (!block->thread)
        return fail(reading->failure, reading->file->path,
                    "block at %" PRIu64 ": expected samples of a thread, found thread 0", at);
    for (uint32_t i = 0; i < TRACE_IN_BLOCK(*hits) && hits[i].ticks; i++)
        if (reading->visitor->hit)
            reading->visitor->hit(reading->visitor->user, block->thread, &hits[i]);
    return true;
}

/* A thread that runs on counts a call in its bucket last. */
static bool visit_times(const struct reading *reading, const struct trace_block *block, uint64_t at)
{
    const struct trace_times *times = (const struct trace_times *)(block + 1);
    uint64_t calls = 0;

    if (!block->thread)
        return fail(reading->failure, reading->file->path,
                    "block at %" PRIu64 ": expected times of a thread, found thread 0", at);
    if (!times->function)
        return true;
    for (uint32_t i = 0; i < TIME_BUCKETS; i++)
        calls += times->buckets[i];
    if (calls > times->count || calls + 1 < times->count)
        return fail(reading->failure, reading->file->path,
                    "times record at %" PRIu64 ": expected %" PRIu64
                    " calls in its buckets, found %" PRIu64,
                    at + TRACE_UNIT, times->count, calls);
    if (reading->visitor->times)
        reading->visitor->times(reading->visitor->user, block->thread, times);
    return true;
}

static bool keep_sites(struct reading *reading, const struct trace_block *block)
{
    const struct trace_site *sites = (const struct trace_site *)(block + 1);

    for (uint32_t i = 0; i < TRACE_IN_BLOCK(*sites) && sites[i].node; i++) {
        if (reading->site_count == reading->site_room) {
            size_t room = reading->site_room ? 2 * reading->site_room : 128;
            struct trace_site *grown = realloc(reading->sites, room * sizeof(*grown));

            if (!grown)
                return fail(reading->failure, reading->file->path, "out of memory");
            reading->sites = grown;
            reading->site_room = room;
        }
        reading->sites[reading->site_count++] = sites[i];
    }
    return true;
}

static void visit_sites(const struct reading *reading)
{
    const struct trace_visitor *visitor = reading->visitor;

    for (size_t i = 0; visitor->site && i < reading->site_count; i++) {
        const struct trace_site *site = &reading->sites[i];
        struct link_at_place *link = link_sums_at(&reading->sums, site->link);

        if (site->link == TRACE_SITE_HANDED_ON)
            visitor->site(visitor->user, site->callee, site->site, site->calls);
        else if (link && !link->is_told)
            visitor->site(visitor->user, (uint32_t)link->target, site->site, link->calls);
        if (link) /* its site may be there twice */
            link->is_told = true;
    }
}

static void visit_instructions(const struct reading *reading)
{
    const struct trace_visitor *visitor = reading->visitor;
    const struct link_sum_list *list = &reading->sums.instructions;

    for (size_t i = 0; visitor->instructions && i < list->count; i++)
        visitor->instructions(visitor->user, (uint32_t)list->items[i].key, list->items[i].sum);
}

static bool block_check(const struct reading *reading, const struct trace_block *block, uint64_t at)
{
    if (block->used > TRACE_BLOCK_UNITS)
        return fail(reading->failure, reading->file->path,
                    "block at %" PRIu64 ": expected up to %u units in use, found %" PRIu32, at,
                    TRACE_BLOCK_UNITS, block->used);
    return true;
}

static bool visit_block(struct reading *reading, struct trace_block *block, uint64_t at)
{
    const struct trace_file *file = reading->file;
    const struct trace_visitor *visitor = reading->visitor;
    struct failure *failure = reading->failure;

    if (!block->kind)
        return true;
    if (!block_check(reading, block, at))
        return false;
    switch (block->kind) {
    case TRACE_BLOCK_THREAD:
        if (block->used < TRACE_FIRST_NODE)
            return true;
        if (!visit_thread(file, visitor, block, at, failure))
            return false;
        return visit_nodes(reading, block, at, TRACE_FIRST_NODE);
    case TRACE_BLOCK_NODES:
        return visit_nodes(reading, block, at, 1);
    case TRACE_BLOCK_COVER:
        if (visitor->cover)
            visitor->cover(visitor->user, block, (uint8_t *)(block + 1));
        return true;
    case TRACE_BLOCK_MODULES:
        return visit_modules(file, visitor, block, at, failure);
    case TRACE_BLOCK_STACK:
        return visit_stack(file, visitor, block, at, failure);
    case TRACE_BLOCK_LINKS:
    case TRACE_BLOCK_SITES:
        return true; /* sum_links has read them */
    case TRACE_BLOCK_WAITS:
        return visit_waits(reading, block, at);
    case TRACE_BLOCK_TIMES:
        return visit_times(reading, block, at);
    case TRACE_BLOCK_HITS:
        return visit_hits(reading, block, at);
    }
    return fail(failure, file->path,
                "block at %" PRIu64 ": expected a kind of 1 to %d, found %" PRIu32, at,
                TRACE_BLOCK_COVER, block->kind);
}

static bool links_check(const struct reading *reading, const struct trace_links *links,
                        uint32_t room, uint64_t at)
{
    const struct trace_file *file = reading->file;
    uint32_t most = links->first ? TRACE_LINKS_CHUNK : TRACE_LINKS_INLINE;

    if (links->node < TRACE_BLOCK_UNITS || links->node % TRACE_BLOCK_UNITS == 0 ||
        links->node >= file->header.capacity / TRACE_UNIT)
        return fail(reading->failure, file->path,
                    "links record at %" PRIu64 ": expected the index of a node within %" PRIu64
                    ", found %" PRIu32,
                    at, file->header.capacity / TRACE_UNIT, links->node);
    if (links->first && (links->first < TRACE_LINKS_INLINE || links->chunks))
        return fail(reading->failure, file->path,
                    "links record at %" PRIu64 ": expected the first link or one behind %u, "
                    "without chunks, found %u with %u chunks",
                    at, TRACE_LINKS_INLINE, links->first, links->chunks);
    if (links->count > most)
        return fail(reading->failure, file->path,
                    "links record at %" PRIu64 ": expected up to %" PRIu32 " links, found %u", at,
                    most, links->count);
    if (trace_links_size(links) > room)
        return fail(reading->failure, file->path,
                    "links record at %" PRIu64 ": expected it to end within its block of %" PRIu32
                    " bytes more, found %" PRIu32 " bytes",
                    at, room, trace_links_size(links));
    return true;
}

/* Blocks of other kinds are passed over. */
static bool sum_links(struct reading *reading, struct trace_block *block, uint64_t at)
{
    uint32_t done = TRACE_UNIT;

    if (block->kind != TRACE_BLOCK_LINKS && block->kind != TRACE_BLOCK_SITES)
        return true;
    if (!block_check(reading, block, at))
        return false;
    if (block->kind == TRACE_BLOCK_SITES)
        return keep_sites(reading, block);
    while (done + sizeof(struct trace_links) <= TRACE_BLOCK_SIZE) {
        const struct trace_links *links = (const struct trace_links *)((char *)block + done);
        if (!links->node)
            break;
        if (!links_check(reading, links, TRACE_BLOCK_SIZE - done, at + done))
            return false;
        if (!link_sums_add(&reading->sums, links, at + done))
            return fail(reading->failure, reading->file->path, "out of memory");
        done += trace_links_size(links);
    }
    return true;
}

/* Where the next data at or behind `at` is, rounded down to a block; `end` if there is none. */
static uint64_t skip_hole(const struct trace_file *file, uint64_t at)
{
    off_t data = lseek(file->fd, (off_t)at, SEEK_DATA);

    if (data < 0)
        return errno == ENXIO ? file->end : at;
    if ((uint64_t)data <= at)
        return at;
    return (uint64_t)data - (uint64_t)data % TRACE_BLOCK_SIZE;
}

/* Calls visit for each block. */
static bool read_blocks(struct reading *reading, struct trace_block *chunk, visit_function *visit)
{
    const struct trace_file *file = reading->file;
    uint64_t at = TRACE_HEADER_SIZE;

    while ((at = skip_hole(file, at)) < file->end) {
        uint64_t size = file->end - at < CHUNK_SIZE ? file->end - at : CHUNK_SIZE;
        if (read_fully(file->fd, chunk, size, at) < 0)
            return fail(reading->failure, file->path, "block at %" PRIu64 " cannot be read: %s", at,
                        why_unread());
        for (uint64_t done = 0; done < size; done += TRACE_BLOCK_SIZE)
            if (!visit(reading, chunk + done / TRACE_UNIT, at + done))
                return false;
        at += size;
    }
    return true;
}

static bool read_links(struct reading *reading, struct trace_block *chunk)
{
    if (!read_blocks(reading, chunk, sum_links))
        return false;
    if (!link_sums_settle(&reading->sums))
        return fail(reading->failure, reading->file->path, "out of memory");
    return true;
}

bool trace_file_read(const struct trace_file *file, const struct trace_visitor *visitor,
                     struct failure *failure)
{
    struct reading reading = {.file = file, .visitor = visitor, .failure = failure};
    struct trace_block *chunk = aligned_alloc(TRACE_UNIT, CHUNK_SIZE);
    bool is_read = false;

    if (!chunk)
        return fail(failure, file->path, "out of memory");
    link_sums_begin(&reading.sums, file->header.base, file->end);
    reading.sums.keeps_places = visitor->site && (file->header.timing == TRACE_TIMING_NONE ||
                                                  file->header.timing == TRACE_TIMING_SAMPLES);
    if (!(file->header.base && visitor->nodes) || read_links(&reading, chunk))
        is_read = read_blocks(&reading, chunk, visit_block);
    if (is_read) {
        visit_sites(&reading);
        visit_instructions(&reading);
    }
    link_sums_free(&reading.sums);
    free(reading.sites);
    free(chunk);
    return is_read;
}

void trace_file_close(struct trace_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
