#include "hooks/waits.h"

#include "hooks/session.h"
#include "thunkstash/pages.h"

#define FIRST_ROOM 512         /* contexts: one page */
#define HASH       0x9e3779b1u /* 2^32 by the golden ratio */

static uint64_t table_bytes(uint32_t room)
{
    return room * sizeof(struct trace_wait *);
}

/* Where a context is, or is to be put. */
static struct trace_wait **place_of(struct trace_wait **table, uint32_t room, uint32_t node)
{
    uint32_t place = node * HASH & (room - 1);

    while (table[place] && table[place]->node != node)
        place = (place + 1) & (room - 1);
    return &table[place];
}

/* Room for one more, in a table that is at most half full. False: there is no memory. */
static bool make_room(struct thread *thread)
{
    uint32_t old = thread->waits.room, room = old ? 2 * old : FIRST_ROOM;
    struct trace_wait **table = thread->waits.table, **larger;

    if (thread->waits.count < old / 2)
        return true;
    larger = pages_take(table_bytes(room));
    if (!larger)
        return false;
    for (uint32_t i = 0; i < old; i++)
        if (table[i])
            *place_of(larger, room, table[i]->node) = table[i];
    thread->waits.table = larger;
    thread->waits.room = room;
    if (table)
        pages_give_back(table, table_bytes(old));
    return true;
}

/* The next one of the thread's in the trace; null if that is full. */
static struct trace_wait *take(struct thread *thread)
{
    struct trace_block *block = thread->waits.block;

    if (!block || thread->waits.count % TRACE_WAITS_IN_BLOCK == 0) {
        block = session_block(thread->entry->ordinal);
        if (!block)
            return 0;
        block->used = TRACE_BLOCK_UNITS;
        block_commit(block, TRACE_BLOCK_WAITS);
        thread->waits.block = block;
    }
    return (struct trace_wait *)((char *)block + TRACE_UNIT) +
           thread->waits.count++ % TRACE_WAITS_IN_BLOCK;
}

struct trace_wait *waits_of(struct thread *thread, uint32_t node)
{
    struct trace_wait **place, *wait;

    if (!make_room(thread))
        return 0;
    place = place_of(thread->waits.table, thread->waits.room, node);
    if (*place)
        return *place;
    wait = take(thread);
    if (!wait)
        return 0;
    __atomic_store_n(&wait->node, node, __ATOMIC_RELEASE);
    return *place = wait;
}

void waits_release(struct thread *thread)
{
    if (thread->waits.table)
        pages_give_back(thread->waits.table, table_bytes(thread->waits.room));
    thread->waits.table = 0;
    thread->waits.room = thread->waits.count = 0;
}
