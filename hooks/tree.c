#include "hooks/tree.h"

#include "hooks/memory.h"
#include "hooks/modules.h"
#include "hooks/session.h"
#include "hooks/system.h"
#include "thunkstash/pages.h"

#define FIRST_TABLE_SIZE 512 /* entries: one page */
/* Entries: folded nodes are as many as pairs of functions are. */
#define LEAST_ROOM      (sizeof(void *) == 8 ? 1 << 20 : 1 << 18)
#define GROWTH_WAITS    1024 /* contexts: where memory is short, each try takes two system calls */
#define ROOM_FOR_A_NODE 4    /* entries a node of the limit, folded ones not counted */
#define MOST_IF_LIMITED                                                                            \
    65536              /* nodes of a thread whose process may not have addresses as it likes */
#define FOLDED_SHARE 4 /* of what a trace may grow to: contexts fold past one in so many */

/* Hashes as entry.S does. */
uint32_t tree_hash(uint64_t site, uint32_t parent, uint32_t function)
{
    uint64_t key = (uint64_t)function << 32 | parent;

    return (uint32_t)(((site + (key << HASH_ROTATE | key >> (64 - HASH_ROTATE))) * HASH_B) >> 32);
}

static struct trace_node *node_at(const struct thread *thread, uint32_t index)
{
    return (struct trace_node *)(thread->trace + (uint64_t)index * TRACE_UNIT);
}

struct trace_node *tree_parent(const struct thread *thread, const struct trace_node *node)
{
    return node_at(thread, node->parent);
}

struct trace_node *tree_tail_caller(const struct thread *thread, struct trace_node *node)
{
    return node->site & TRACE_SITE_TAIL ? tree_parent(thread, node) : node;
}

static uint64_t last_place(const struct thread *thread)
{
    return thread->table_mask / sizeof(*thread->table);
}

/* The index of what is in the table under that site, and has its bits of `compared` in its own; or
 * 0. */
static uint32_t look_up(const struct thread *thread, uint64_t site, uint64_t compared,
                        uint32_t parent, uint32_t function)
{
    uint32_t hash = tree_hash(site, parent, function);
    uint64_t mask = last_place(thread), place = hash & mask;

    for (; thread->table[place].node; place = (place + 1) & mask) {
        struct trace_node *node = node_at(thread, thread->table[place].node);

        if (thread->table[place].hash == hash && !((node->site ^ site) & compared) &&
            node->parent == parent && node->function == function)
            return thread->table[place].node;
    }
    return 0;
}

static struct trace_node *find(const struct thread *thread, uint64_t site, uint32_t parent,
                               uint32_t function)
{
    uint32_t index = look_up(thread, site, UINT64_MAX, parent, function);

    return index ? node_at(thread, index) : NULL;
}

/* The table is as large as it may become from the start, but only its front is in use: it grows
   where it is, since a hot path that was interrupted may hold its address. */
static bool table_take(struct thread *thread)
{
    uint64_t room = LEAST_ROOM;

    thread->node_limit = session.node_limit;
    if (system_address_limit() != UINT64_MAX && thread->node_limit > MOST_IF_LIMITED)
        thread->node_limit = MOST_IF_LIMITED;
    while (room < (uint64_t)ROOM_FOR_A_NODE * thread->node_limit)
        room *= 2;
    thread->table = pages_reserve(room * sizeof(*thread->table));
    thread->table_room = room;
    thread->table_mask = (FIRST_TABLE_SIZE - 1) * sizeof(*thread->table);
    thread->table_used = thread->table_waits = 0;
    return thread->table && pages_commit(thread->table, FIRST_TABLE_SIZE * sizeof(*thread->table));
}

void tree_put(struct thread *thread, struct table_entry entry)
{
    uint64_t mask = last_place(thread), place = entry.hash & mask;

    while (thread->table[place].node)
        place = (place + 1) & mask;
    thread->table[place] = entry;
}

/* Doubles the table when it is three quarters full. False: it cannot grow, and is nearly full. */
static bool table_make_room(struct thread *thread)
{
    uint64_t size = last_place(thread) + 1;
    struct table_entry *entries = NULL;

    if (thread->table_used < size / 4 * 3)
        return true;
    if (thread->table_waits)
        thread->table_waits--;
    else if (size < thread->table_room && pages_commit(thread->table, 2 * size * sizeof(*entries)))
        entries = pages_take(size * sizeof(*entries));
    if (!entries) {
        thread->table_waits = thread->table_waits ? thread->table_waits : GROWTH_WAITS;
        return thread->table_used < size / 8 * 7;
    }
    memcpy(entries, thread->table, size * sizeof(*entries));
    memset(thread->table, 0, size * sizeof(*entries));
    thread->table_mask = (2 * size - 1) * sizeof(*thread->table);
    for (uint64_t i = 0; i < size; i++)
        if (entries[i].node)
            tree_put(thread, entries[i]);
    pages_give_back(entries, size * sizeof(*entries));
    return true;
}

/* A zeroed unit in a block of the thread's; null if the trace is full. */
static void *unit_take(struct thread *thread)
{
    struct trace_block *block = thread->block;

    if (block->used == TRACE_BLOCK_UNITS) {
        block = session_block(thread->entry->ordinal);
        if (!block)
            return NULL;
        block_commit(block, TRACE_BLOCK_NODES);
        thread->block = block;
    }
    return (char *)block + TRACE_UNIT * block->used++;
}

/* Adds a node that is not in the table yet. context: what its callees hang below, 0 for itself. */
static struct trace_node *node_add(struct thread *thread, uint64_t site, uint32_t parent,
                                   uint32_t function, uint32_t context)
{
    struct trace_node *node = table_make_room(thread) ? unit_take(thread) : NULL;

    if (!node)
        return NULL;
    node->site = site;
    node->parent = parent;
    node->function = function;
    node->next = session.counts_only ? TIMING_NEVER : 1;
    node->gap = !session.counts_only;
    __atomic_store_n(&node->context, context ? context : trace_index(node), __ATOMIC_RELEASE);
    tree_put(thread, (struct table_entry){trace_index(node), tree_hash(site, parent, function)});
    thread->table_used++;
    thread->entry->nodes++;
    return node;
}

/*
 * Calls of one function by another, from several places. Each place's calls have a context, since
 * they are counted and timed apart; but what they call has one for all of them, or contexts would
 * multiply with each level: fib, which calls itself from two places, had 2^30 of them.
 *
 *      caller --+-- g, from place 1  ("the first")  <-- what g calls is below this one
 *               +-- g, from place 2                     `context`: the first
 *
 * The table has the first once more, under the site that a context has which places share. Places
 * in code that was made at run time stay apart: the reader tells functions of that code by them
 * (grinder/profile/jit_callers.h).
 */
static uint64_t site_of_first(uint64_t site)
{
    return TRACE_SITE_SHARED | (site & TRACE_SITE_TAIL);
}

static struct trace_node *add_by_place(struct thread *thread, uint64_t site, uint32_t parent,
                                       uint32_t function)
{
    bool is_known = modules_hold(site & TRACE_SITE_ADDRESS);
    uint32_t first =
        is_known ? look_up(thread, site_of_first(site), TRACE_SITE_TAIL, parent, function) : 0;
    struct trace_node *node = node_add(thread, site, parent, function, first);

    if (!node || first || !is_known || !table_make_room(thread))
        return node;
    tree_put(thread, (struct table_entry){trace_index(node),
                                          tree_hash(site_of_first(site), parent, function)});
    thread->table_used++;
    return node;
}

static struct trace_node *representative(struct thread *thread, uint32_t function)
{
    struct trace_node *node = find(thread, TRACE_SITE_FOLDED, 0, function);

    return node ? node : node_add(thread, TRACE_SITE_FOLDED, 0, function, 0);
}

/*
 * Past the limit: the node of (caller, site, function) whose callees hang below the function's
 * representative. The caller's context folds with it: what it calls from now on is found below its
 * own representative at once, in the hot path too. The root stays as it is.
 */
static struct trace_node *add_folded(struct thread *thread, struct trace_node *caller,
                                     uint64_t site, uint32_t function)
{
    struct trace_node *of_caller =
        caller == thread->root ? caller : representative(thread, caller->function);
    struct trace_node *of_function = representative(thread, function);
    struct trace_node *node;

    if (!of_caller || !of_function)
        return NULL;
    __atomic_store_n(&caller->context, trace_index(of_caller), __ATOMIC_RELEASE);
    node = find(thread, site, trace_index(of_caller), function);
    if (!node) {
        node = node_add(thread, site, trace_index(of_caller), function, trace_index(of_function));
        if (node)
            thread->entry->folded++;
    }
    return node;
}

/* Where among the thread's hints this context is, if it is: the same as in entry.inc. */
static uint32_t *hint_of(struct thread *thread, uint64_t slot, uint64_t site, uint64_t body)
{
    uint32_t offset = (uint32_t)(slot ^ site ^ body) & (HINTS_SIZE - 4);

    return &thread->hints[offset / 4];
}

void tree_hint(struct thread *thread, const struct trace_node *node, uint64_t slot, uint64_t body)
{
    *hint_of(thread, slot, node->site, body) = trace_index(node);
}

struct trace_node *tree_find(struct thread *thread, const struct trace_node *caller, uint64_t slot,
                             uint64_t site, uint64_t body, uint32_t function)
{
    uint32_t parent = caller->context, *hint = hint_of(thread, slot, site, body), index;
    struct trace_node *node = node_at(thread, *hint);

    if (*hint && node->site == site && node->parent == parent && node->function == function)
        return node;
    index = look_up(thread, site, UINT64_MAX, parent, function);
    if (!index)
        return NULL;
    *hint = index;
    return node_at(thread, index);
}

/* The thread has as many contexts as it may; or all threads have, by what the trace takes. */
static bool is_to_fold(const struct thread *thread)
{
    return thread->entry->nodes >= thread->node_limit ||
           session.header->used >= session.capacity / FOLDED_SHARE;
}

struct trace_node *tree_known(const struct thread *thread, const struct trace_node *caller,
                              uint64_t site, uint32_t function)
{
    struct trace_node *node = find(thread, site, caller->context, function);

    return node ? node : find(thread, site, caller->context, function | TRACE_FUNCTION_LEAF);
}

bool tree_has_place(const struct thread *thread, const struct trace_node *node, uint64_t site)
{
    const struct trace_node *of_site = find(thread, site, node->parent, node->function);

    return of_site && of_site->context == node->context;
}

struct trace_node *tree_child(struct thread *thread, struct trace_node *caller, uint64_t site,
                              uint32_t function)
{
    struct trace_node *node = find(thread, site, caller->context, function);

    if (node)
        return node;
    if (is_to_fold(thread))
        return add_folded(thread, caller, site, function);
    return add_by_place(thread, site, caller->context, function);
}

bool tree_begin(struct thread *thread, uint32_t ordinal)
{
    struct trace_block *block = session_block(ordinal);

    if (!block)
        return false;
    if (!table_take(thread))
        return false;
    thread->trace = session.trace;
    thread->block = block;
    thread->entry = (struct trace_thread *)((char *)block + TRACE_UNIT);
    thread->root = (struct trace_node *)((char *)block + TRACE_FIRST_NODE * TRACE_UNIT);
    thread->root->context = trace_index(thread->root);
    block->used = TRACE_FIRST_NODE + 1;
    thread->entry->ordinal = ordinal;
    thread->entry->root = trace_index(thread->root);
    block_commit(block, TRACE_BLOCK_THREAD);
    return true;
}
