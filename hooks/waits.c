#include "hooks/waits.h"

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

    if (thread->waits.records.count < old / 2)
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

struct trace_wait *waits_of(struct thread *thread, uint32_t node)
{
    struct trace_wait **place, *wait;

    if (!make_room(thread))
        return NULL;
    place = place_of(thread->waits.table, thread->waits.room, node);
    if (*place)
        return *place;
    wait = trace_list_next(thread->entry->ordinal, &thread->waits.records, TRACE_BLOCK_WAITS,
                           sizeof(*wait));
    if (!wait)
        return NULL;
    __atomic_store_n(&wait->node, node, __ATOMIC_RELEASE);
    thread->waits.records.count++;
    return *place = wait;
}

void waits_release(struct thread *thread)
{
    if (thread->waits.table)
        pages_give_back(thread->waits.table, table_bytes(thread->waits.room));
    thread->waits.table = NULL;
    thread->waits.room = 0;
}
