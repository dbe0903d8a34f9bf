#include "hooks/invocation.h"

#include "hooks/events.h"
#include "thunkstash/pages.h"

void invocation_begin(struct record *record, struct trace_node *node, uint64_t ret, uint64_t body,
                      uint64_t slot, uint64_t now)
{
    uint64_t calls = node->calls + 1;

    record->ret = ret;
    record->body = body;
    record->node = node;
    record->probes = 0;
    record->t0 = now;
    __atomic_store_n(&record->mark, MARK_LIVE | calls, __ATOMIC_RELEASE);
    __atomic_store_n(&record->slot, slot + SLOT_BIAS, __ATOMIC_RELEASE);
    node->calls = calls;
}

static void note_duration(struct trace_node *node, int64_t duration)
{
    if (duration < 0)
        duration = 0;
    if ((uint64_t)duration > node->max)
        node->max = (uint64_t)duration;
    if (duration < node->min)
        node->min = (uint32_t)duration;
}

static void add_time(struct trace_node *node, const struct record *record, uint64_t ticks)
{
    node->ticks += ticks;
    node->probes += record->probes;
}

static void raise_to(uint64_t *counter, uint64_t count)
{
    if (*counter < count)
        *counter = count;
}

/* From here on the invocation has ended, however this slow path does. */
static void count_end(struct record *record, uint64_t *counter, uint64_t mark)
{
    uint64_t count = *counter + 1;

    __atomic_store_n(&record->mark, mark | count, __ATOMIC_RELEASE);
    *counter = count;
}

static bool ended_elsewhere(const struct record *record)
{
    return (__atomic_load_n(&record->mark, __ATOMIC_ACQUIRE) & MARK_BITS) == MARK_ELSEWHERE;
}

void invocation_end_elsewhere(struct record *record, uint64_t now)
{
    record->t0 = now - record->t0;
    __atomic_store_n(&record->mark, MARK_ELSEWHERE, __ATOMIC_RELEASE);
}

void invocation_end(struct thread *thread, struct record *record, struct record *caller,
                    uint64_t now, bool returned)
{
    struct trace_node *node = record->node;
    uint64_t ticks = ended_elsewhere(record) ? record->t0 : now - record->t0;

    returned |= ended_elsewhere(record);
    add_time(node, record, ticks);
    note_duration(node, (int64_t)(ticks - record->probes * thread->probe_ticks));
    if (caller)
        caller->probes += record->probes + 1;
    event_end(thread, node, now, returned);
    count_end(record, returned ? &node->exits : &thread->entry->unwound,
              returned ? MARK_LEAVING : MARK_UNWINDING);
}

/* Ends the top, and finishes first what a hook that never went on had begun to count. */
static void unwind_top(struct thread *thread, uint64_t now)
{
    struct record *top = thread->own.top;
    uint64_t count = top->mark & ~MARK_BITS;

    switch (record_is_live(top) ? top->mark & MARK_BITS : 0) {
    case MARK_LIVE:
        raise_to(&top->node->calls, count);
        invocation_end(thread, top, stash_below(top), now, false);
        break;
    case MARK_ELSEWHERE:
        invocation_end(thread, top, stash_below(top), now, true);
        break;
    case MARK_LEAVING:
        raise_to(&top->node->exits, count);
        break;
    case MARK_UNWINDING:
        raise_to(&thread->entry->unwound, count);
        break;
    }
    stash_pop(&thread->own);
}

void invocations_unwind_above(struct thread *thread, const struct record *record, uint64_t now)
{
    stash_settle(&thread->own);
    while (thread->own.top != record && !record_is_sentinel(thread->own.top))
        unwind_top(thread, now);
}

void invocations_unwind(struct thread *thread, uint64_t until, uint64_t now)
{
    struct stash *stash = &thread->own;

    stash_settle(stash);
    while (!record_is_sentinel(stash->top) && record_slot(stash->top) < until)
        unwind_top(thread, now);
}

/* Its slot holds something else now, or is not there any more. */
static bool is_overwritten(const struct record *record)
{
    uint64_t found;

    return !record_is_live(record) || !pages_read(record_slot(record), &found) ||
           found != record_thunk(record) + THUNK_RETURN;
}

void invocations_unwind_overwritten(struct thread *thread, uint64_t now)
{
    struct record *oldest = 0;

    stash_settle(&thread->own);
    for (struct record *record = thread->own.top; !record_is_sentinel(record);
         record = stash_below(record))
        if (is_overwritten(record))
            oldest = record;
    if (oldest)
        invocations_unwind_above(thread, stash_below(oldest), now);
}

struct collection {
    struct thread *thread;
    uint64_t now;
    bool by_content;
    uint32_t freed;
};

static void collect(struct record *record, void *with)
{
    struct collection *collection = with;

    if (!record_is_live(record))
        return;
    if (!ended_elsewhere(record) && !(collection->by_content && is_overwritten(record)))
        return;
    invocation_end(collection->thread, record, 0, collection->now, false);
    stash_free(&collection->thread->other, record);
    collection->freed++;
}

uint32_t invocations_collect(struct thread *thread, uint64_t now, bool by_content)
{
    struct collection collection = {thread, now, by_content, 0};

    if (thread->other_begun)
        stash_each(&thread->other, collect, &collection);
    return collection.freed;
}

struct settlement {
    uint64_t now, live;
};

static void settle(struct record *record, void *with)
{
    struct settlement *settlement = with;

    if (!record_is_live(record))
        return;
    settlement->live++;
    add_time(record->node, record, settlement->now - record->t0);
    record->t0 = settlement->now;
    record->probes = 0;
}

uint64_t invocations_settle(struct thread *thread, uint64_t now)
{
    struct settlement settlement = {now, 0};

    stash_each(&thread->own, settle, &settlement);
    if (thread->other_begun)
        stash_each(&thread->other, settle, &settlement);
    return settlement.live;
}
