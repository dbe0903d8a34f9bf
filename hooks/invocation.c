/*
 * How invocations are counted: each once at its entry, and once at its end or as live.
 *
 * Parked ones (thunkstash/stash.c) were taken off the top of the own stack's stash while their slot
 * still held their thunk's address. After a longjmp or an exception they are over: that is what is
 * taken for granted, and they are counted as unwound at once, so that such programs have the right
 * figures at any time. If the own stack holds a coroutine's stack, too, they may go on:
 *
 *                          taken off the top          returns            overwritten
 *      slot holds T        unwound + 1                unwound - 1,       -
 *                                                     exits + 1
 *      slot holds the      nothing                    exits + 1          unwound + 1
 *      return address
 *      slot holds else,    unwound + 1, free
 *      or another call
 *
 * T: the address in its thunk. Where the slot holds the true return address, a signal has
 * interrupted the entry hook, which has not yet gone through the thunk, or the exit hook, which
 * has: the hook will count by itself when it goes on, and stores the slot again.
 *
 * Once a parked invocation returns, it is certain that stacks lie within the own one. From then on
 * the thread's calls are treated as those on foreign stacks are (slow_paths.c, lose_order).
 */
#include "hooks/invocation.h"

#include "hooks/events.h"
#include "hooks/gap.h"
#include "hooks/links.h"
#include "hooks/notes.h"
#include "hooks/session.h"
#include "hooks/times.h"
#include "thunkstash/pages.h"

/* In a record's weight: its invocation was parked, and its end noted as an event. */
#define END_IS_NOTED (1ull << 8)

_Static_assert(TIMING_MASK_OF_MANY / 2 + 1 + TIMING_MASK_OF_MANY == TRACE_MOST_GAP, "gap");
_Static_assert(TRACE_MOST_GAP <= UINT8_MAX, "trace_node.gap");

static bool is_timed(const struct record *record)
{
    return !(record->t0 & TRACE_TICK_FLAG);
}

static uint64_t weight_of(const struct record *record)
{
    return record->weight & ~END_IS_NOTED;
}

/* Numbers are compared modulo 2^32: the turn of a context that is never timed comes, too, and is
   put off. */
bool invocation_choose(struct trace_node *node, uint64_t number)
{
    if ((int32_t)((uint32_t)number - node->next) < 0)
        return false;
    if (!node->gap)
        node->next = (uint32_t)number + TIMING_NEVER;
    return node->gap;
}

/* Number `number` of the node's calls: is it to be timed, and for how many does it stand? The
   same as in linux/x86_64/entry.S. */
static uint64_t choose(struct trace_node *node, uint64_t number)
{
    return invocation_choose(node, number) ? gap_take(node, (uint32_t)number) : 0;
}

void invocation_begin(struct record *record, struct trace_node *node, uint64_t ret, uint64_t body,
                      uint64_t slot, uint64_t now)
{
    uint64_t calls = node->calls + 1;

    __atomic_store_n(&record->mark, 0, __ATOMIC_RELEASE); /* it was that of another node */
    record->ret = ret;
    record->body = body;
    record->node = node;
    record->weight = session.is_adaptive ? choose(node, links_calls(node) + 1) : 1;
    record->t0 = times_has(node)  ? TRACE_TICK_FLAG | ticks_now()
                 : record->weight ? now
                                  : session.header->tick;
    __atomic_store_n(&record->mark, calls, __ATOMIC_RELEASE);
    __atomic_store_n(&record->slot, slot + SLOT_BIAS, __ATOMIC_RELEASE);
    node->calls = calls;
}

/* Durations of calls that stand for others decide how many calls the next timed one stands for. */
static void add_timed(struct trace_node *node, uint64_t weight, uint64_t ticks, uint64_t now)
{
    node->ticks += gap_ticks(ticks, weight);
    if (session.is_adaptive)
        gap_adapt(node, ticks, (uint32_t)now);
}

/*
 * A call that was not timed. It began between the tick that it noted and the next one; the middle
 * of the two is taken for its begin. If two ticks went by since, it took long, and its time is
 * added. From now on the context is timed again.
 */
static void notice(const struct thread *thread, struct trace_node *node, uint64_t tick,
                   uint64_t now)
{
    const struct trace_header *header = session.header;
    uint64_t begin = (tick & ~TRACE_TICK_FLAG) - thread->stopped + header->ticks_per_second / 2000;
    uint32_t number = (uint32_t)(links_calls(node) + 1), ahead = node->next - number;

    if (session.counts_only || header->tick == tick || header->tick_before == tick ||
        (int64_t)(now - begin) < 0)
        return;
    node->ticks += now - begin;
    node->mask = 0;
    if ((int32_t)ahead > 0) {
        node->gap = ahead < node->gap ? (uint8_t)(node->gap - ahead) : 1; /* never 0 */
        node->next = number;
    }
}

static void add_time(const struct thread *thread, struct record *record, uint64_t now)
{
    if (is_timed(record))
        add_timed(record->node, weight_of(record), now - record->t0, now);
    else
        notice(thread, record->node, record->t0, now);
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
    if (record->mark == MARK_PARKED) /* counted as unwound, for good */
        return;
    if (is_timed(record))
        record->t0 = now - record->t0;
    __atomic_store_n(&record->mark, MARK_ELSEWHERE, __ATOMIC_RELEASE);
}

void invocation_end(struct thread *thread, struct record *record, uint64_t now, bool returned)
{
    struct trace_node *node = record->node;

    if (times_are_of(record) && returned && !ended_elsewhere(record))
        times_end(thread, record);
    else if (!ended_elsewhere(record))
        add_time(thread, record, now);
    else if (is_timed(record))
        add_timed(node, weight_of(record), record->t0, now);
    returned |= ended_elsewhere(record);
    if (!(record->weight & END_IS_NOTED))
        event_end(thread, node, now, returned);
    count_end(record, returned ? &node->exits : &thread->entry->unwound,
              returned ? MARK_LEAVING : MARK_UNWINDING);
}

/* Ends one that is over, and finishes first what a hook that never went on had begun to count. */
static void finish(struct thread *thread, struct record *record, uint64_t now)
{
    uint64_t count = record->mark & ~MARK_BITS;

    if (!record->mark)
        return;
    switch (record->mark & MARK_BITS) {
    case MARK_LIVE:
        raise_to(&record->node->calls, count);
        invocation_end(thread, record, now, false);
        break;
    case MARK_ELSEWHERE:
        invocation_end(thread, record, now, true);
        break;
    case MARK_LEAVING:
        raise_to(&record->node->exits, count);
        break;
    case MARK_UNWINDING:
        raise_to(&thread->entry->unwound, count);
        break;
    }
}

void invocation_finish_count(struct record *top)
{
    struct record *above = top + 1;

    if (above->slot && record_is_live(above)) /* not the top yet, so not counted: filled in again */
        __atomic_store_n(&above->slot, SLOT_FREE, __ATOMIC_RELEASE);
    if (record_is_sentinel(top))
        return;
    if (!record_is_live(top) && top->slot != SLOT_FREE)
        raise_to(&top->node->exits, ~top->slot);
    else if (record_is_live(top) && top->mark && (top->mark & MARK_BITS) == MARK_LIVE)
        raise_to(&top->node->calls, top->mark);
}

static void unwind_top(struct thread *thread, uint64_t now)
{
    struct record *top = thread->own.top;

    if (record_is_live(top))
        finish(thread, top, now);
    else
        raise_to(&top->node->exits, ~top->slot);
    stash_pop(&thread->own);
}

/* What the slot of a call on the own stack holds. What lies above the call that this slow path is
   about is in use. Below it, a program may have taken access away, to give it back later. */
static bool read_slot(struct thread *thread, uint64_t slot, uint64_t *found)
{
    uint64_t page = slot & ~(uint64_t)(TRACE_BLOCK_SIZE - 1), here = thread->busy_slot;

    if ((here - thread->own_low < thread->own_size && slot >= here) ||
        (page && page == thread->readable)) {
        *found = *(const volatile uintptr_t *)(uintptr_t)slot;
        return true;
    }
    if (!pages_read_own(slot, found))
        return false;
    thread->readable = page;
    return true;
}

/* Whether a record's slot does not show that its call is over. */
static bool is_in_slot(struct thread *thread, const struct record *record, uint64_t slot,
                       uint64_t entered)
{
    uint64_t found;

    return !read_slot(thread, slot, &found) || found == record_thunk(record) + THUNK_RETURN ||
           (found == record->ret && slot != entered);
}

bool invocation_may_go_on(struct thread *thread, const struct record *record, uint64_t entered)
{
    return record_is_live(record) && !ended_elsewhere(record) &&
           is_in_slot(thread, record, record_slot(record), entered);
}

/* Whether a record's hook is still under way, or was left: what is not counted yet is not certain.
 */
static bool is_in_hook(struct thread *thread, const struct record *record)
{
    uint64_t state = record->mark & MARK_BITS, found;

    return !record->mark || state == MARK_LEAVING ||
           (state == MARK_LIVE && read_slot(thread, record_slot(record), &found) &&
            found == record->ret);
}

/* Parks the top, which is counted first: should this be left in between, it is still the top. */
static void park_top(struct thread *thread, uint64_t now)
{
    struct record *top = thread->own.top, *caller;

    if (!is_in_hook(thread, top)) {
        finish(thread, top, now);
        caller = stash_below(top);
        top->t0 = now;
        top->weight = record_is_sentinel(caller) ? 0 : (uintptr_t)caller;
        __atomic_store_n(&top->mark, MARK_PARKED, __ATOMIC_RELEASE);
    }
    stash_park(&thread->own);
}

static void leave_top(struct thread *thread, uint64_t entered, uint64_t now)
{
    note_unwind(thread, thread->own.top, entered);
    if (entered != STACK_IS_GONE && invocation_may_go_on(thread, thread->own.top, entered))
        park_top(thread, now);
    else
        unwind_top(thread, now);
}

void invocations_unwind_above(struct thread *thread, const struct record *record, uint64_t now)
{
    stash_settle(&thread->own);
    while (thread->own.top != record && !record_is_sentinel(thread->own.top))
        leave_top(thread, 0, now);
}

void invocations_unwind(struct thread *thread, uint64_t until, uint64_t entered, uint64_t now)
{
    struct stash *stash = &thread->own;

    stash_settle(stash);
    while (!record_is_sentinel(stash->top) &&
           (!record_is_live(stash->top) || record_slot(stash->top) < until))
        leave_top(thread, entered, now);
}

bool invocation_end_if_over(struct thread *thread, struct record *record, uint64_t entered)
{
    if (is_in_slot(thread, record, record->parked, entered))
        return false;
    finish(thread, record, thread->now);
    record->mark = 0;
    return true;
}

/* Idempotent. */
void invocation_finish_revival(struct thread *thread)
{
    struct record *record = thread->revival.record;

    if (!record)
        return;
    __atomic_store_n(&record->mark, record->node->calls, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->entry->unwound, thread->revival.unwound, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->revival.record, NULL, __ATOMIC_RELEASE);
}

void invocation_revive(struct thread *thread, struct record *record)
{
    struct record *caller = NULL;
    uint64_t slot = record->parked;

    if (record->mark == MARK_PARKED) {
        caller = (struct record *)(uintptr_t)record->weight;
        record->weight = 1 | END_IS_NOTED;
        thread->revival.unwound = thread->entry->unwound - 1;
        __atomic_store_n(&thread->revival.record, record, __ATOMIC_RELEASE);
        invocation_finish_revival(thread);
    }
    __atomic_store_n(&record->slot, slot + SLOT_BIAS, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    record->below = caller;
}

/*
 * A handler may interrupt this anywhere and leave by longjmp: the record is live all the time, and
 * its mark always goes with its node. In between it counts nothing.
 */
bool invocation_replace(struct record *record, struct trace_node *node)
{
    uint64_t calls = node->calls + 1;

    if (!session.is_adaptive || record->t0 != session.header->tick ||
        invocation_choose(node, links_calls(node) + 1))
        return false;
    count_end(record, &record->node->exits, MARK_LEAVING);
    __atomic_store_n(&record->mark, 0, __ATOMIC_RELEASE);
    record->node = node;
    __atomic_store_n(&record->mark, calls, __ATOMIC_RELEASE);
    node->calls = calls;
    return true;
}

/* Whether a record's slot holds something else now, or is not there any more. */
static bool is_overwritten(const struct record *record)
{
    uint64_t found;

    return !record_is_live(record) || !pages_read(record_slot(record), &found) ||
           found != record_thunk(record) + THUNK_RETURN;
}

/* Whether a record's hook has not gone through its thunk yet. */
static bool is_about_to_run(const struct record *record)
{
    uint64_t found;

    return pages_read(record_slot(record), &found) && found == record->ret;
}

void invocations_unwind_overwritten(struct thread *thread, uint64_t now)
{
    struct record *oldest = NULL;

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
    struct stash *owner = record_owner(record);

    if (record_is_parked(record)) {
        if (!collection->by_content || !invocation_end_if_over(collection->thread, record, 0))
            return;
    } else {
        if (!record_is_live(record))
            return;
        if (!ended_elsewhere(record) &&
            !(collection->by_content && is_overwritten(record) && !is_about_to_run(record)))
            return;
        invocation_end(collection->thread, record, collection->now, false);
    }
    stash_free(owner, record);
    collection->freed++;
}

uint32_t invocations_collect(struct thread *thread, uint64_t now, bool by_content)
{
    struct collection collection = {thread, now, by_content, 0};

    if (thread->other_begun)
        stash_each(&thread->other, collect, &collection);
    if (thread->own.first_block && !thread->own.ordered)
        stash_each(&thread->own, collect, &collection);
    return collection.freed;
}

struct settlement {
    const struct thread *thread;
    uint64_t now, live;
};

/* What is live stands for itself, whether its turn had come or not. */
static void settle(struct record *record, void *with)
{
    struct settlement *settlement = with;

    if (record_is_parked(record) ? !record->mark || record->mark & MARK_BITS
                                 : !record_is_live(record))
        return;
    if (record_is_parked(record)) /* its hook may not have counted it */
        raise_to(&record->node->calls, record->mark);
    settlement->live++;
    if (times_are_of(record))
        return;
    if (is_timed(record))
        record->weight = 1;
    add_time(settlement->thread, record, settlement->now);
    record->t0 = settlement->now;
    record->weight = 1;
}

uint64_t invocations_settle(struct thread *thread, uint64_t now)
{
    struct settlement settlement = {thread, now, 0};

    stash_each(&thread->own, settle, &settlement);
    if (thread->other_begun)
        stash_each(&thread->other, settle, &settlement);
    return settlement.live;
}
