#include "hooks/links.h"

#include "hooks/session.h"
#include "trace/image_manifest.h"

#define ONCE_AROUND 0x7fffffffu /* calls that a link counts before it hands them on */
#define LINK_AHEAD  (1u << 30)  /* calls that it counts up to a slow path if it keeps them */
#define MOST_KEPT   (1u << 29)  /* that and LINK_AHEAD fit into `armed` */

struct trace_node *links_node(const struct thread *thread, const struct trace_links *links)
{
    return (struct trace_node *)(thread->trace + (uint64_t)links->node * TRACE_UNIT);
}

bool links_is_leaf(const struct trace_node *node)
{
    return node->function & TRACE_FUNCTION_LEAF;
}

static struct trace_links *links_there(const struct trace_node *node)
{
    return (struct trace_links *)(uintptr_t)node->passed;
}

uint64_t links_calls(const struct trace_node *node)
{
    if (links_is_leaf(node) || !session.header->base)
        return node->calls + node->passed;
    return node->calls + (node->passed ? links_there(node)->entered : 0);
}

static void add(struct trace_node *node, uint32_t calls)
{
    if (links_is_leaf(node))
        node->passed += calls;
    else
        links_there(node)->entered += calls;
}

void links_count(struct trace_node *node)
{
    add(node, 1);
}

/* Bytes of a block from here on; 0 in none. */
static uint64_t room_at(const char *place)
{
    return -(uintptr_t)place % TRACE_BLOCK_SIZE;
}

/* Zeroed, of the thread's: null if the trace is full. It is nobody's yet, and the next one takes it
   again if this one is left by a longjmp out of a handler. Records of many links leave room at the
   end of a block, which is for those of few. */
static struct trace_links *links_take(struct thread *thread, uint64_t size)
{
    struct trace_block *block;

    if (room_at(thread->links_rest) >= size)
        return (struct trace_links *)thread->links_rest;
    if (room_at(thread->links_next) < size) {
        block = session_block(thread->entry->ordinal);
        if (!block)
            return NULL;
        session.header->base = (uintptr_t)session.trace;
        block->used = TRACE_BLOCK_UNITS;
        block_commit(block, TRACE_BLOCK_LINKS);
        if (room_at(thread->links_next) > room_at(thread->links_rest))
            thread->links_rest = thread->links_next;
        thread->links_next = (char *)block + TRACE_UNIT;
    }
    return (struct trace_links *)thread->links_next;
}

/* Readers find the next record behind this one: it is whole before it is taken. */
static void commit(struct thread *thread, struct trace_links *links, uint32_t node)
{
    char **place = (char *)links == thread->links_rest ? &thread->links_rest : &thread->links_next;

    __atomic_store_n(&links->node, node, __ATOMIC_RELEASE);
    __atomic_store_n(place, (char *)links + trace_links_size(links), __ATOMIC_RELEASE);
}

static uint32_t chunks_of(uint32_t links)
{
    return links > TRACE_LINKS_INLINE
               ? (links - TRACE_LINKS_INLINE + TRACE_LINKS_CHUNK - 1) / TRACE_LINKS_CHUNK
               : 0;
}

/* Links of a node's for all places that the function calls from. */
static struct trace_links *links_make(struct thread *thread, const struct trace_node *node,
                                      const struct frame_key *key)
{
    uint32_t count = (key->links < TRACE_LINKS_INLINE ? key->links : TRACE_LINKS_INLINE);
    struct trace_links *links;

    links = links_take(thread, sizeof(*links) + count * sizeof(*links->links) +
                                   chunks_of(key->links) * sizeof(uint64_t));
    if (!links)
        return NULL;
    links->key = key->key;
    links->first = 0;
    links->count = (uint16_t)count;
    links->chunks = (uint16_t)chunks_of(key->links);
    commit(thread, links, trace_index(node));
    return links;
}

struct trace_links *links_of(struct thread *thread, struct trace_node *node,
                             const struct frame_key *key)
{
    struct trace_links *links = links_there(node);

    if (!links)
        links = links_make(thread, node, key);
    node->passed = (uintptr_t)links;
    return links;
}

struct trace_links *links_of_adopted(struct thread *thread, const struct trace_node *caller,
                                     const struct frame_key *key)
{
    struct trace_links *links = thread->adopted;

    while (links && (links->node != trace_index(caller) || links->key != key->key))
        links = (struct trace_links *)(uintptr_t)links->entered;
    if (links)
        return links;
    links = links_make(thread, caller, key);
    if (links) {
        links->flags = TRACE_LINKS_ADOPTED;
        links->entered = (uintptr_t)thread->adopted;
        thread->adopted = links;
    }
    return links;
}

struct trace_links *links_of_leaf(struct thread *thread, const struct trace_node *node,
                                  const struct frame_key *key)
{
    struct trace_links *links = links_take(thread, sizeof(*links));

    if (!links)
        return NULL;
    links->key = key->key;
    links->first = links->count = links->chunks = 0;
    commit(thread, links, trace_index(node));
    return links;
}

struct trace_link *links_further(struct thread *thread, const struct trace_links *links)
{
    struct trace_links *further = links_take(thread, sizeof(*links) + sizeof(*links->links));

    if (!further)
        return NULL;
    further->key = links->key;
    further->first = further->chunks = 0;
    further->count = 1;
    commit(thread, further, links->node);
    return further->links;
}

struct trace_links *links_with(struct thread *thread, struct trace_links *links, uint32_t number)
{
    struct trace_links **chunk;
    uint32_t behind = number - TRACE_LINKS_INLINE;

    if (links->first || number < TRACE_LINKS_INLINE)
        return links;
    chunk = (struct trace_links **)&links->links[TRACE_LINKS_INLINE] + behind / TRACE_LINKS_CHUNK;
    if (!*chunk) {
        struct trace_links *fresh =
            links_take(thread, sizeof(*links) + TRACE_LINKS_CHUNK * sizeof(*links->links));

        if (!fresh)
            return NULL;
        fresh->key = links->key;
        fresh->first = (uint16_t)(number - behind % TRACE_LINKS_CHUNK);
        fresh->count = TRACE_LINKS_CHUNK;
        fresh->chunks = 0;
        commit(thread, fresh, links->node);
        *chunk = fresh;
    }
    return *chunk;
}

struct trace_link *links_at(struct thread *thread, struct trace_links *links, uint32_t number)
{
    struct trace_links *with = links_with(thread, links, number);

    return with ? &with->links[number - with->first] : NULL;
}

uint32_t link_calls(const struct trace_link *link)
{
    return (uint32_t)link->word + (link->armed & ~TRACE_LINK_JUMP);
}

typedef uint64_t __attribute__((may_alias)) both_halves;

/* Stores both halves at once: nobody sees calls that were not made. */
static void store(struct trace_link *link, uint32_t ahead)
{
    uint64_t armed = ahead | (link->armed & TRACE_LINK_JUMP);
    uint64_t both = armed << 32 | (uint32_t) - (int32_t)ahead;

    *(volatile both_halves *)&link->word = both;
}

/* Stores both halves at once, with what the link has counted. */
static void keep(struct trace_link *link, uint32_t calls, uint32_t ahead)
{
    uint64_t armed = ((ahead + calls) & ~TRACE_LINK_JUMP) | (link->armed & TRACE_LINK_JUMP);
    uint64_t both = armed << 32 | (uint32_t) - (int32_t)ahead;

    *(volatile both_halves *)&link->word = both;
}

void link_hand_on(struct trace_link *link, struct trace_node *node)
{
    add(node, link_calls(link));
    store(link, 0);
}

static void commit_site(struct thread *thread, struct trace_site *record, uint32_t node)
{
    __atomic_store_n(&record->node, node, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->sites.count, thread->sites.count + 1, __ATOMIC_RELEASE);
}

static struct trace_site *next_site(const struct thread *thread, struct trace_list *list,
                                    uint64_t site, uint32_t link)
{
    struct trace_site *record =
        trace_list_next(thread->entry->ordinal, list, TRACE_BLOCK_SITES, sizeof(*record));

    if (record) {
        record->site = site;
        record->link = link;
    }
    return record;
}

void link_note_site(struct thread *thread, const struct trace_links *links,
                    const struct trace_link *link, uint64_t site)
{
    uint64_t place = (uint64_t)((const char *)link - thread->trace) / sizeof(*link);
    struct trace_site *record = next_site(thread, &thread->sites, site, (uint32_t)place);

    if (record)
        commit_site(thread, record, links->node);
}

/* The link counts from 0 on. False: the trace is full. */
static bool hand_on_from(struct thread *thread, const struct trace_links *links,
                         struct trace_link *link, struct trace_node *node, uint64_t site)
{
    struct trace_site *record = next_site(thread, &thread->sites, site, TRACE_SITE_HANDED_ON);

    if (!record)
        return false;
    record->calls = link_calls(link);
    record->callee = trace_index(node);
    link_hand_on(link, node);
    commit_site(thread, record, links->node);
    return true;
}

void link_hand_on_from(struct thread *thread, const struct trace_links *links,
                       struct trace_link *link, struct trace_node *node, uint64_t site)
{
    if (link_calls(link) && !hand_on_from(thread, links, link, node, site))
        link_hand_on(link, node);
}

uint32_t link_go_on(struct thread *thread, const struct trace_links *links, struct trace_link *link,
                    struct trace_node *node, uint64_t site)
{
    bool is_armed = link->armed & ~TRACE_LINK_JUMP;
    uint32_t since = is_armed ? (uint32_t)link->word + LINK_AHEAD : 0;

    if (link_calls(link) >= MOST_KEPT)
        hand_on_from(thread, links, link, node, site);
    keep(link, link_calls(link), LINK_AHEAD);
    return since;
}

void link_look_after(struct trace_link *link, uint32_t calls)
{
    keep(link, link_calls(link), calls);
}

void link_is_jump(struct trace_links *links, struct trace_link *link)
{
    links->flags |= TRACE_LINKS_JUMP;
    link->armed |= TRACE_LINK_JUMP;
}

static struct trace_node *callee_of(const struct thread *thread, const struct trace_link *link)
{
    return link->callee & 1
               ? (struct trace_node *)(uintptr_t)(link->callee - 1)
               : links_node(thread, (const struct trace_links *)(uintptr_t)link->callee);
}

static void stop_at_jumps(const struct thread *thread, struct trace_links *links)
{
    for (uint32_t i = 0; i < links->count; i++) {
        struct trace_link *link = &links->links[i];

        if (!(link->armed & TRACE_LINK_JUMP))
            continue;
        link_hand_on(link, callee_of(thread, link));
        store(link, 1);
    }
}

void links_stop_at_jumps(const struct thread *thread, struct trace_links *links)
{
    struct trace_links **chunks = (struct trace_links **)&links->links[links->count];

    if (!(links->flags & TRACE_LINKS_JUMP))
        return;
    stop_at_jumps(thread, links);
    for (uint32_t i = 0; i < links->chunks; i++)
        if (chunks[i])
            stop_at_jumps(thread, chunks[i]);
}

void link_arm(struct trace_link *link, const struct trace_node *node)
{
    uint32_t ahead = node->next - (uint32_t)links_calls(node);

    if ((int32_t)ahead <= 0)
        ahead = session.counts_only ? ONCE_AROUND : 1;
    store(link, ahead);
}
