#include "hooks/times.h"

#include "hooks/session.h"
#include "thunkstash/pages.h"
#include "trace/time_buckets.h"

#define TABLE_SIZE    4096u /* records a thread can have, at most half of them used; a power of 2 */
#define MOST_CONTEXTS 1024u /* of these, by context; further contexts go by function */
#define HASH          0x9e3779b1u /* 2^32 by the golden ratio */

#define TABLE_BYTES (TABLE_SIZE * sizeof(struct trace_times *))

bool times_has(const struct trace_node *node)
{
    return node->function & TRACE_FUNCTION_TIMED && session.counts_only;
}

static struct trace_times **place_of(struct trace_times **table, uint32_t node, uint32_t function)
{
    uint32_t place = (node ^ function) * HASH & (TABLE_SIZE - 1);

    while (table[place] && (table[place]->node != node || table[place]->function != function))
        place = (place + 1) & (TABLE_SIZE - 1);
    return &table[place];
}

/* A fresh record. Null: there is no room. */
static struct trace_times *make(struct thread *thread, uint32_t node, uint32_t function)
{
    struct trace_times *times;

    if (thread->times.records.count >= TABLE_SIZE / 2)
        return NULL;
    times = trace_list_next(thread->entry->ordinal, &thread->times.records, TRACE_BLOCK_TIMES,
                            sizeof(*times));
    if (!times)
        return NULL;
    times->node = node;
    __atomic_store_n(&times->function, function, __ATOMIC_RELEASE);
    thread->times.records.count++;
    return times;
}

static struct trace_times *times_of(struct thread *thread, const struct trace_node *node)
{
    uint32_t function = node->function & TRACE_FUNCTION_NUMBER, index = trace_index(node);
    struct trace_times **place;

    if (!thread->times.table)
        thread->times.table = pages_take(TABLE_BYTES);
    if (!thread->times.table)
        return NULL;
    place = place_of(thread->times.table, index, function);
    if (!*place && thread->times.records.count >= MOST_CONTEXTS) {
        index = 0;
        place = place_of(thread->times.table, 0, function);
    }
    if (!*place)
        *place = make(thread, index, function);
    return *place;
}

static void add(struct thread *thread, const struct trace_node *node, uint64_t begun)
{
    uint64_t ended = thread->times.clock;
    struct trace_times *times = times_of(thread, node);
    uint64_t ticks = ended > begun ? ended - begun : 0;

    if (!times) {
        thread->entry->untold_times++;
        return;
    }
    times->count++;
    times->ticks += ticks;
    times->buckets[time_bucket(ticks)]++;
    if (ticks < times->longest)
        return;
    times->longest = ticks;
    times->longest_ended = ended;
}

bool times_are_of(const struct record *record)
{
    return session.counts_only && record->t0 & TRACE_TICK_FLAG && record->t0 != TICK_THAT_STANDS;
}

/* The timed call of a function that its record no longer names. Context null: it is not known. */
static struct timed_call carried(const struct thread *thread, const struct record *record)
{
    for (uint32_t i = 0; i < TIMES_CARRIED; i++)
        if (thread->times.carried[i].record == record &&
            thread->times.carried[i].call.begun == (record->t0 & ~TRACE_TICK_FLAG))
            return thread->times.carried[i].call;
    return (struct timed_call){0};
}

static struct timed_call call_of(const struct thread *thread, const struct record *record)
{
    return times_has(record->node)
               ? (struct timed_call){record->node, record->t0 & ~TRACE_TICK_FLAG}
               : carried(thread, record);
}

void times_end(struct thread *thread, const struct record *record)
{
    struct timed_call call = call_of(thread, record);

    if (call.context)
        add(thread, call.context, call.begun);
    else
        thread->entry->untold_times++;
}

struct timed_call times_leave(struct thread *thread, struct record *record,
                              const struct trace_node *next)
{
    struct timed_call call = call_of(thread, record);

    record->t0 = TICK_THAT_STANDS;
    if (!call.context || !times_has(next))
        return call;
    thread->times.clock = ticks_now();
    add(thread, call.context, call.begun);
    return (struct timed_call){0};
}

void times_carry(struct thread *thread, struct record *record, struct timed_call call)
{
    uint32_t place = thread->times.carried_count++ % TIMES_CARRIED;

    record->t0 = TRACE_TICK_FLAG | call.begun;
    thread->times.carried[place].record = record;
    thread->times.carried[place].call = call;
}

void times_release(struct thread *thread)
{
    if (thread->times.table)
        pages_give_back(thread->times.table, TABLE_BYTES);
    thread->times.table = NULL;
}
