/*
 * A consistent copy of a trace that is being written to.
 *
 * The program stores into its mapping meanwhile and cannot be asked to stop. What the copy must
 * keep is, for every thread,
 *
 *      entries >= exits + unwound          (what is between them is live)
 *
 * and that each context's caller is in it. Counters only grow, and a call is counted before its
 * end is: so it is enough to read ends first, and calls after all of them. The reads are ordered
 * by going over the file several times, each time as far as `used` says by then:
 *
 *      1  threads     unwound, state       ─┐ ends
 *      2  nodes       exits, ticks, …      ─┘
 *      3  nodes       calls, callers         of all nodes committed by now: no end of passes 1 and
 *                                            2 is of a node, or a call, that is not among them
 *      4  links       calls that they count  of all records committed by now
 *      5  stacks      as they stand: their checks tell what changed meanwhile (stack_format.h)
 *      6  callers     of nodes in the copy, and nodes of stacks, that were committed after pass 3
 *                     had been there
 *      7  modules     of all functions that nodes name
 *      8  header      with the base that links count from: it was written before the first of them
 *
 * A commit mark is read before what it is the mark of: blocks are read twice, marks taken from the
 * first and contents from the second reading (the kernel copies a page in no promised order, but
 * one read is done before the next begins, and x86 shows stores in order). A thread that was seen
 * to have ended does not change any more: its equation holds exactly. Of a node or thread that
 * pass 3 sees first, no ends are known and none are counted. Blocks that are handed out meanwhile
 * stay holes, which readers pass over.
 *
 * A call that a link counts is taken for returned: it stands on both sides of the equation, and no
 * order of reading breaks that. Links are read behind the nodes since nodes are committed before
 * their links are. Still, a link may lead to a node, or to a record, that was committed after its
 * pass had been there; readers find nothing there, and the next snapshot has its calls. What a link
 * hands on to its context while both are read may be in neither reading, or in both: a context's
 * calls can be off by what its links counted since they were armed.
 */
#include "service/traces/snapshot.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/tick_clock.h"
#include "service/traces/cover.h"
#include "service/traces/part_file.h"
#include "trace/stack_format.h"
#include "trace/trace_format.h"

#define FIRST_OF_NODES 1u

union block {
    struct trace_block head;
    struct trace_node nodes[TRACE_BLOCK_UNITS];
    struct trace_stack_entry entries[TRACE_BLOCK_SIZE / sizeof(struct trace_stack_entry)];
    unsigned char units[TRACE_BLOCK_UNITS][TRACE_UNIT];
};

/* A thread as pass 1 saw it. */
struct thread_seen {
    uint64_t at; /* of its block */
    struct trace_thread record;
};

struct snapshot {
    int from, to;
    uint64_t capacity;
    uint8_t *committed; /* a bit a unit of the copy that holds a node */
    uint8_t *copied;    /* a bit a thread whose record is in the copy, by ordinal */
    struct thread_seen *threads;
    size_t thread_count, thread_room;
};

_Static_assert(sizeof(union block) == TRACE_BLOCK_SIZE, "a block");

/* Where blocks end by now, whatever the program says. */
static uint64_t read_used(const struct snapshot *snapshot)
{
    uint64_t used;

    if (!file_read_at(snapshot->from, &used, sizeof(used), offsetof(struct trace_header, used)))
        return 0;
    used = used < snapshot->capacity ? used : snapshot->capacity;
    return used - used % TRACE_BLOCK_SIZE;
}

static bool is_marked(const struct snapshot *snapshot, uint32_t unit)
{
    return snapshot->committed[unit / 8] >> unit % 8 & 1;
}

static void mark(struct snapshot *snapshot, uint32_t unit)
{
    snapshot->committed[unit / 8] |= (uint8_t)(1u << unit % 8);
}

/* There is at least a block a thread. */
static bool is_ordinal(const struct snapshot *snapshot, uint32_t ordinal)
{
    return ordinal < snapshot->capacity / TRACE_BLOCK_SIZE;
}

static uint32_t first_node(const struct trace_block *head)
{
    return head->kind == TRACE_BLOCK_THREAD  ? TRACE_FIRST_NODE
           : head->kind == TRACE_BLOCK_NODES ? FIRST_OF_NODES
                                             : TRACE_BLOCK_UNITS;
}

static bool keep_thread(struct snapshot *snapshot, uint64_t at)
{
    uint64_t record = at + TRACE_UNIT;
    struct thread_seen seen = {.at = at};
    uint32_t state;

    if (!file_read_at(snapshot->from, &state, sizeof(state),
                      record + offsetof(struct trace_thread, state)) ||
        !file_read_at(snapshot->from, &seen.record, sizeof(seen.record), record))
        return false;
    if (!state || !seen.record.root)
        return true; /* it is beginning: pass 3 may find it */
    seen.record.state = state;
    if (snapshot->thread_count == snapshot->thread_room) {
        size_t room = snapshot->thread_room ? 2 * snapshot->thread_room : 16;
        struct thread_seen *threads = realloc(snapshot->threads, room * sizeof(*threads));
        if (!threads)
            return false;
        snapshot->threads = threads;
        snapshot->thread_room = room;
    }
    snapshot->threads[snapshot->thread_count++] = seen;
    return true;
}

static bool read_threads(struct snapshot *snapshot)
{
    uint64_t used = read_used(snapshot);
    struct trace_block head;

    for (uint64_t at = TRACE_HEADER_SIZE; at < used; at += TRACE_BLOCK_SIZE) {
        if (!file_read_at(snapshot->from, &head, sizeof(head), at))
            return false;
        if (head.kind == TRACE_BLOCK_THREAD && !keep_thread(snapshot, at))
            return false;
    }
    return true;
}

/* They lie in the copy until pass 3 needs them. */
static bool copy_ends(const struct snapshot *snapshot)
{
    uint64_t used = read_used(snapshot);
    union block block;

    for (uint64_t at = TRACE_HEADER_SIZE; at < used; at += TRACE_BLOCK_SIZE) {
        if (!file_read_at(snapshot->from, &block, sizeof(block), at))
            return false;
        if (first_node(&block.head) < TRACE_BLOCK_UNITS &&
            !file_write_at(snapshot->to, &block, sizeof(block), at))
            return false;
    }
    return true;
}

/* What is counted at a call's end. A passed call counts at once as both. */
static void take_ends(struct trace_node *node, const struct trace_node *ends)
{
    node->exits = ends->exits;
    node->ticks = ends->ticks;
    node->timed = ends->timed;
}

/* Threads were found in ascending order. */
static const struct thread_seen *find_thread(const struct snapshot *snapshot, uint64_t at)
{
    size_t low = 0, high = snapshot->thread_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (snapshot->threads[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < snapshot->thread_count && snapshot->threads[low].at == at ? &snapshot->threads[low]
                                                                           : NULL;
}

static void settle_thread(struct snapshot *snapshot, union block *block, uint64_t at)
{
    const struct thread_seen *seen = find_thread(snapshot, at);
    struct trace_thread record;

    memcpy(&record, block->units[1], sizeof(record));
    if (seen) {
        record = seen->record;
    } else {
        record.state = TRACE_THREAD_RUNNING;
        record.unwound = record.live = record.end_ticks = 0;
    }
    memcpy(block->units[1], &record, sizeof(record));
    if (is_ordinal(snapshot, record.ordinal))
        snapshot->copied[record.ordinal / 8] |= (uint8_t)(1u << record.ordinal % 8);
}

/* marks: the block as it was read before. ends: as pass 2 wrote it. */
static void settle_nodes(struct snapshot *snapshot, union block *block, const union block *marks,
                         const union block *ends, uint64_t at)
{
    uint32_t first = first_node(&marks->head);
    uint32_t used = first;

    for (uint32_t unit = first; unit < TRACE_BLOCK_UNITS; unit++) {
        struct trace_node *node = &block->nodes[unit];
        if (!marks->nodes[unit].context) {
            memset(node, 0, sizeof(*node));
            continue;
        }
        take_ends(node, &ends->nodes[unit]);
        mark(snapshot, (uint32_t)(at / TRACE_UNIT) + unit);
        used = unit + 1;
    }
    block->head.used = used;
}

static bool copy_calls(struct snapshot *snapshot)
{
    uint64_t used = read_used(snapshot);
    union block block, marks, ends;

    for (uint64_t at = TRACE_HEADER_SIZE; at < used; at += TRACE_BLOCK_SIZE) {
        if (!file_read_at(snapshot->from, &marks, sizeof(marks), at))
            return false;
        if (first_node(&marks.head) == TRACE_BLOCK_UNITS)
            continue;
        if (!file_read_at(snapshot->from, &block, sizeof(block), at))
            return false;
        if (!file_read_at(snapshot->to, &ends, sizeof(ends), at))
            memset(&ends, 0, sizeof(ends)); /* past its end */
        settle_nodes(snapshot, &block, &marks, &ends, at);
        if (marks.head.kind == TRACE_BLOCK_THREAD)
            settle_thread(snapshot, &block, at);
        if (!file_write_at(snapshot->to, &block, sizeof(block), at))
            return false;
    }
    return true;
}

/* Bytes of the block up to the end of its last committed record. */
static uint32_t committed_links(const union block *block)
{
    uint32_t used = TRACE_UNIT;

    while (used + sizeof(struct trace_links) <= sizeof(*block)) {
        struct trace_links links;
        memcpy(&links, (const char *)block + used, sizeof(links));
        if (!links.node || trace_links_size(&links) > sizeof(*block) - used)
            break;
        used += trace_links_size(&links);
    }
    return used;
}

static bool copy_links(const struct snapshot *snapshot)
{
    uint64_t used = read_used(snapshot);
    union block block, marks;

    for (uint64_t at = TRACE_HEADER_SIZE; at < used; at += TRACE_BLOCK_SIZE) {
        uint32_t end;
        if (!file_read_at(snapshot->from, &marks.head, sizeof(marks.head), at))
            return false;
        if (marks.head.kind != TRACE_BLOCK_LINKS)
            continue;
        if (!file_read_at(snapshot->from, &marks, sizeof(marks), at) ||
            !file_read_at(snapshot->from, &block, sizeof(block), at))
            return false;
        end = committed_links(&marks);
        memset((char *)&block + end, 0, sizeof(block) - end);
        if (!file_write_at(snapshot->to, &block, sizeof(block), at))
            return false;
    }
    return true;
}

/* Stacks of threads that are in the copy are wanted. */
static bool is_wanted_stack(const struct snapshot *snapshot, const struct trace_block *head)
{
    return head->kind == TRACE_BLOCK_STACK && is_ordinal(snapshot, head->thread) &&
           snapshot->copied[head->thread / 8] >> head->thread % 8 & 1;
}

static bool copy_stacks(const struct snapshot *snapshot)
{
    uint64_t used = read_used(snapshot);
    union block block;

    for (uint64_t at = TRACE_HEADER_SIZE; at < used; at += TRACE_BLOCK_SIZE) {
        if (!file_read_at(snapshot->from, &block.head, sizeof(block.head), at))
            return false;
        if (is_wanted_stack(snapshot, &block.head) &&
            !(file_read_at(snapshot->from, &block, sizeof(block), at) &&
              file_write_at(snapshot->to, &block, sizeof(block), at)))
            return false;
    }
    return true;
}

/* The block of a node that is added counts at least that far. */
static bool count_in_block(const struct snapshot *snapshot, uint32_t unit)
{
    uint64_t at = (uint64_t)unit * TRACE_UNIT;
    struct trace_block head = {0}, ours = {0};

    at -= at % TRACE_BLOCK_SIZE;
    if (!file_read_at(snapshot->from, &head, sizeof(head), at))
        return false;
    if (!file_read_at(snapshot->to, &ours, sizeof(ours), at))
        ours = (struct trace_block){0};
    head.used = unit % TRACE_BLOCK_UNITS + 1;
    if (ours.used > head.used)
        head.used = ours.used;
    return file_write_at(snapshot->to, &head, sizeof(head), at);
}

/* Adds a node and what it hangs below, as far as that is missing. */
static bool add_caller(struct snapshot *snapshot, uint32_t unit)
{
    const struct trace_node none = {0};
    struct trace_node node;

    while (unit && unit < snapshot->capacity / TRACE_UNIT && !is_marked(snapshot, unit)) {
        if (!file_read_at(snapshot->from, &node, sizeof(node), (uint64_t)unit * TRACE_UNIT))
            return false;
        if (!node.context)
            return true; /* the trace is damaged: readers will say so */
        take_ends(&node, &none);
        mark(snapshot, unit);
        if (!file_write_at(snapshot->to, &node, sizeof(node), (uint64_t)unit * TRACE_UNIT) ||
            !count_in_block(snapshot, unit))
            return false;
        if (node.context != unit && !add_caller(snapshot, node.context))
            return false;
        unit = node.parent;
    }
    return true;
}

static bool add_nodes_of_stack(struct snapshot *snapshot, const union block *block)
{
    const struct trace_stack_entry *entries =
        &block->entries[sizeof(struct trace_stack) / sizeof(struct trace_stack_entry)];

    for (uint32_t i = 0; i < STACK_BLOCK_ENTRIES; i++)
        if (!add_caller(snapshot, entries[i].node))
            return false;
    return true;
}

static bool copy_callers(struct snapshot *snapshot, uint64_t used)
{
    struct trace_thread record;
    union block block;

    for (uint64_t at = TRACE_HEADER_SIZE; at < used; at += TRACE_BLOCK_SIZE) {
        if (!file_read_at(snapshot->to, &block, sizeof(block), at))
            return true; /* the copy ends here */
        memcpy(&record, block.units[1], sizeof(record));
        if (block.head.kind == TRACE_BLOCK_THREAD && !add_caller(snapshot, record.root))
            return false;
        if (block.head.kind == TRACE_BLOCK_STACK && !add_nodes_of_stack(snapshot, &block))
            return false;
        for (uint32_t unit = first_node(&block.head); unit < TRACE_BLOCK_UNITS; unit++) {
            const struct trace_node *node = &block.nodes[unit];
            if (node->context &&
                !(add_caller(snapshot, node->parent) && add_caller(snapshot, node->context)))
                return false;
        }
    }
    return true;
}

/* Units of the records that are committed, the block's own included. */
static uint32_t committed_modules(const union block *block)
{
    uint32_t used = 1;

    while (used < TRACE_BLOCK_UNITS) {
        uint32_t size;
        memcpy(&size, block->units[used], sizeof(size));
        if (!size || size > TRACE_BLOCK_UNITS - used)
            break;
        used += size;
    }
    return used;
}

static bool copy_modules(const struct snapshot *snapshot, uint64_t used)
{
    union block block, marks;

    for (uint64_t at = TRACE_HEADER_SIZE; at < used; at += TRACE_BLOCK_SIZE) {
        if (!file_read_at(snapshot->from, &marks.head, sizeof(marks.head), at))
            return false;
        if (marks.head.kind != TRACE_BLOCK_MODULES)
            continue;
        if (!file_read_at(snapshot->from, &marks, sizeof(marks), at) ||
            !file_read_at(snapshot->from, &block, sizeof(block), at))
            return false;
        block.head.used = committed_modules(&marks);
        memset(block.units[block.head.used], 0,
               (TRACE_BLOCK_UNITS - block.head.used) * sizeof(block.units[0]));
        if (!file_write_at(snapshot->to, &block, sizeof(block), at))
            return false;
    }
    return true;
}

static bool copy_header(const struct snapshot *snapshot, uint64_t used)
{
    union {
        struct trace_header header;
        unsigned char bytes[TRACE_HEADER_SIZE];
    } page;

    if (!file_read_at(snapshot->from, &page, sizeof(page), 0))
        return false;
    page.header.used = used;
    if (page.header.end == TRACE_END_UNKNOWN) {
        page.header.end = TRACE_END_SNAPSHOT;
        page.header.end_seen_ticks = tick_clock_now();
    }
    return file_write_at(snapshot->to, &page, sizeof(page), 0) && file_extend(snapshot->to, used);
}

static bool copy_passes(struct snapshot *snapshot)
{
    uint64_t used;

    if (!read_threads(snapshot) || !copy_ends(snapshot) || !copy_calls(snapshot) ||
        !copy_links(snapshot) || !copy_stacks(snapshot))
        return false;
    used = read_used(snapshot);
    if (!copy_callers(snapshot, used))
        return false;
    used = read_used(snapshot);
    if (!copy_modules(snapshot, used))
        return false;
    used = cover_append(snapshot->to, snapshot->from, snapshot->capacity, used);
    return used && copy_header(snapshot, used);
}

/* Returns false, errno set: EPROTO if it is no trace that this service could have made. */
static bool open_trace(struct snapshot *snapshot)
{
    struct trace_header header;

    if (!file_read_at(snapshot->from, &header, sizeof(header), 0))
        return false;
    errno = EPROTO;
    if (memcmp(header.magic, TRACE_MAGIC, sizeof(header.magic)) ||
        header.version != TRACE_VERSION || header.block_size != TRACE_BLOCK_SIZE ||
        header.capacity / TRACE_UNIT > UINT32_MAX)
        return false;
    snapshot->capacity = header.capacity;
    snapshot->committed = calloc(header.capacity / TRACE_UNIT / 8 + 1, 1);
    snapshot->copied = calloc(header.capacity / TRACE_BLOCK_SIZE / 8 + 1, 1);
    return snapshot->committed && snapshot->copied;
}

static void end_copy(struct snapshot *snapshot)
{
    free(snapshot->committed);
    free(snapshot->copied);
    free(snapshot->threads);
}

bool snapshot_copy(int from, const char *name, int directory, const char *copy,
                   struct failure *failure)
{
    struct snapshot snapshot = {.from = from};
    struct part_file part = {.fd = -1};
    const char *subject = name;
    bool ok = open_trace(&snapshot);

    if (ok) {
        subject = copy;
        ok = part_file_begin(&part, directory, copy);
        snapshot.to = part.fd;
        ok = ok && copy_passes(&snapshot) && part_file_finish(&part, copy);
    }
    if (!ok)
        fail(failure, subject, "%s",
             errno == EPROTO    ? "expected a trace of this version"
             : errno == ENODATA ? "the trace ends too early"
                                : strerror(errno));
    part_file_abandon(&part);
    end_copy(&snapshot);
    return ok;
}
