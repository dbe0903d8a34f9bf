#include "hooks/events.h"

#include <stddef.h>

#include "hooks/connection.h"
#include "hooks/memory.h"
#include "hooks/session.h"
#include "hooks/thread.h"

#define WORDS_SIZE    (EVENT_SEGMENT_WORDS * sizeof(uint64_t))
#define NOWHERE       (1ull << 62)
#define MOST_WORDS    4    /* that one event takes: a base, a mark, each of one or two */
#define LOSSES_A_TRY  1024 /* events without room until segments are looked for again */
#define MOST_REFUSALS 4096 /* of a refill, since one seems to be under way */

bool events_are_on(void)
{
    return session.ring != NULL;
}

static struct event_segment *segment_at(uint32_t i)
{
    return (struct event_segment *)((char *)session.ring + EVENT_RING_HEADER +
                                    (uint64_t)i * EVENT_SEGMENT_SIZE);
}

/*
 * Segments that have memory, one bit each: of the first page, and of the whole. No part is used
 * before its bit is set. Several threads may claim a segment's first page at a time: nobody uses
 * the eight bytes that this overwrites. The rest is claimed by the thread that took the segment.
 */
static uint64_t begun[EVENT_MOST_SEGMENTS / 64], claimed[EVENT_MOST_SEGMENTS / 64];
static uint32_t claimed_in_session;

static bool is_marked(const uint64_t *bits, uint32_t i)
{
    return __atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED) >> i % 64 & 1;
}

static void mark(uint64_t *bits, uint32_t i)
{
    __atomic_fetch_or(&bits[i / 64], 1ull << i % 64, __ATOMIC_RELAXED);
}

/* The service looks at no segment from there on. */
static void note_touched(uint32_t count)
{
    uint32_t touched = __atomic_load_n(&session.ring->touched, __ATOMIC_RELAXED);

    while (touched < count &&
           !__atomic_compare_exchange_n(&session.ring->touched, &touched, count, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static bool claim_first_page(uint32_t i)
{
    if (claimed_in_session != session.number) { /* after a fork: another ring */
        memset(begun, 0, sizeof(begun));
        memset(claimed, 0, sizeof(claimed));
        claimed_in_session = session.number;
    }
    if (is_marked(begun, i))
        return true;
    if (!connection_claim(segment_at(i), TRACE_BLOCK_SIZE,
                          offsetof(struct event_segment, reserved)))
        return false;
    mark(begun, i);
    note_touched(i + 1);
    return true;
}

static bool claim_rest(uint32_t i)
{
    if (is_marked(claimed, i))
        return true;
    if (!connection_claim((char *)segment_at(i) + TRACE_BLOCK_SIZE,
                          EVENT_SEGMENT_SIZE - TRACE_BLOCK_SIZE, 0))
        return false;
    mark(claimed, i);
    return true;
}

/* The first one that is free: those that were used last are in the caches. */
static struct event_segment *take_segment(void)
{
    if (__atomic_load_n(&session.ring->stopped, __ATOMIC_RELAXED))
        return NULL;
    for (uint32_t i = 0; i < session.ring_segments; i++) {
        struct event_segment *segment = segment_at(i);
        uint32_t is = EVENT_SEGMENT_FREE;

        if (!claim_first_page(i))
            return NULL;
        if (!__atomic_compare_exchange_n(&segment->state, &is, EVENT_SEGMENT_TAKEN, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        if (claim_rest(i))
            return segment;
        __atomic_store_n(&segment->state, EVENT_SEGMENT_FREE, __ATOMIC_RELEASE);
        return NULL;
    }
    return NULL;
}

/*
 * A handler may interrupt this, a refill, or a hook that has just taken its place and not yet
 * compared it with `end`. So `end` is 0 whenever `next` and `base` are not what they should be, and
 * a place that was taken while there was no segment is above any `end`.
 */
static void hand_over(struct event_place *place)
{
    __atomic_store_n(&place->end, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&place->next, NOWHERE, __ATOMIC_SEQ_CST);
    if (place->segment)
        __atomic_store_n(&place->segment->state, EVENT_SEGMENT_FULL, __ATOMIC_RELEASE);
    place->segment = NULL;
}

static struct event_segment *fresh_segment(struct thread *thread)
{
    struct event_place *place = &thread->events;
    struct event_segment *segment = take_segment();

    if (!segment)
        return NULL;
    memset(segment + 1, 0, WORDS_SIZE);
    segment->thread = thread->entry->ordinal;
    segment->sequence = __atomic_add_fetch(&session.ring->sequence, 1, __ATOMIC_RELAXED);
    segment->base = ticks_now();
    segment->dropped = place->dropped;
    place->dropped = 0;
    __atomic_store_n(&segment->state, EVENT_SEGMENT_FILLING, __ATOMIC_RELEASE);
    return segment;
}

/*
 * May a refill begin now? A handler that interrupts one is refused, and its events are lost. If the
 * handler left by longjmp, the interrupted refill's mark stays behind. That refill is over when a
 * frame at or above it comes here, and is taken to be over after many refusals.
 */
static bool claim_refill(struct event_place *place, uint64_t here)
{
    if (place->busy && here < place->busy && ++place->refused < MOST_REFUSALS)
        return false;
    place->refused = 0;
    place->busy = here;
    return true;
}

/* A fresh segment, whose base is now. False: there is none to be had. */
static bool refill(struct thread *thread, uint64_t time)
{
    struct event_place *place = &thread->events;
    struct event_segment *segment;
    uint32_t generation;

    if (place->wait && place->wait--)
        return false;
    if (!claim_refill(place, (uintptr_t)__builtin_frame_address(0)))
        return false;
    generation = ++place->generation;
    hand_over(place);
    segment = fresh_segment(thread);
    if (!segment) {
        place->wait = LOSSES_A_TRY;
    } else if (*(volatile uint32_t *)&place->generation != generation) {
        __atomic_store_n(&segment->state, EVENT_SEGMENT_FULL, __ATOMIC_RELEASE);
    } else {
        place->segment = segment;
        place->base = time;
        __atomic_store_n(&place->next, (uintptr_t)(segment + 1), __ATOMIC_SEQ_CST);
        __atomic_store_n(&place->end, (uintptr_t)(segment + 1) + WORDS_SIZE, __ATOMIC_SEQ_CST);
    }
    __atomic_store_n(&place->busy, 0, __ATOMIC_RELEASE);
    return segment != NULL;
}

static bool has_room(const struct event_place *place, uint32_t words)
{
    return place->next + words * sizeof(uint64_t) <= place->end;
}

static void put(struct event_place *place, uint64_t word)
{
    uint64_t at = __atomic_fetch_add(&place->next, sizeof(word), __ATOMIC_RELAXED);

    if (at < place->end)
        __atomic_store_n((uint64_t *)(uintptr_t)at, word, __ATOMIC_RELAXED);
    else
        place->dropped++;
}

static void write_event(struct thread *thread, const struct trace_node *node, uint64_t time,
                        uint64_t flags, bool is_unwound)
{
    struct event_place *place = &thread->events;
    uint64_t index = trace_index(node);

    if (!has_room(place, MOST_WORDS) && !refill(thread, time)) {
        place->dropped++;
        return;
    }
    if ((time - place->base) >> 32) {
        put(place, EVENT_END | EVENT_BASE);
        put(place, ticks_now());
        place->base = time;
    }
    if (is_unwound)
        put(place, EVENT_END | EVENT_UNWOUND);
    put(place, index << EVENT_NODE_SHIFT | flags | (time - place->base));
}

void event_entry(struct thread *thread, const struct trace_node *node, uint64_t time)
{
    if (events_are_on())
        write_event(thread, node, time, 0, false);
}

void event_end(struct thread *thread, const struct trace_node *node, uint64_t time, bool returned)
{
    if (events_are_on())
        write_event(thread, node, time, EVENT_END, !returned);
}

/* The thread's time stands still meanwhile. */
static void write_slowly(struct thread *thread, const struct trace_node *node, uint64_t time,
                         uint64_t flags)
{
    uint64_t began = ticks_now();

    if (events_are_on())
        write_event(thread, node, time, flags, false);
    thread->stopped += ticks_now() - began;
}

void umbra_slow_event_entry(struct thread *thread, const struct trace_node *node, uint64_t time)
{
    write_slowly(thread, node, time, 0);
}

void umbra_slow_event_end(struct thread *thread, const struct trace_node *node, uint64_t time)
{
    write_slowly(thread, node, time, EVENT_END);
}

void events_begin(struct thread *thread)
{
    thread->events.next = NOWHERE;
}

void events_finish(struct thread *thread)
{
    if (!events_are_on())
        return;
    hand_over(&thread->events);
    __atomic_fetch_add(&session.ring->dropped, thread->events.dropped, __ATOMIC_RELAXED);
    thread->events.dropped = 0;
}
