#include "hooks/session.h"

#include <stddef.h>

#include "hooks/connection.h"
#include "hooks/guard.h"
#include "hooks/hook_word.h"
#include "hooks/memory.h"
#include "hooks/system.h"
#include "hooks/ticks.h"
#include "thunkstash/pages.h"
#include "thunkstash/stash.h"

#define MOST_WITHOUT_MEMORY 64
#define BLOCKS_AHEAD        64

extern void umbra_record_exact(void) __attribute__((visibility("hidden")));
extern void umbra_record_adaptive(void) __attribute__((visibility("hidden")));
extern void umbra_record_events(void) __attribute__((visibility("hidden")));
extern void umbra_exit_exact(void) __attribute__((visibility("hidden")));
extern void umbra_exit_adaptive(void) __attribute__((visibility("hidden")));
extern void umbra_exit_events(void) __attribute__((visibility("hidden")));

struct session session;
static const uint32_t always = 1;
const uint32_t *session_paused = &always;
static char *const *environment;

void session_choose_exit_hook(void)
{
    stash_set_exit_hook(session.has_events    ? umbra_exit_events
                        : session.is_adaptive ? umbra_exit_adaptive
                                              : umbra_exit_exact);
}

void *session_entry_hook(void)
{
    return (void *)(session.has_events    ? umbra_record_events
                    : session.is_adaptive ? umbra_record_adaptive
                                          : umbra_record_exact);
}

static void leave_ring(void)
{
    if (session.ring)
        pages_give_back(session.ring, session.ring_size);
    session.ring = NULL;
}

/* A child goes on as its parent: the hooks are bound. */
static void begin_timing(bool is_fork)
{
    struct trace_header *header = session.header;

    if (!is_fork) {
        session.has_events = session.ring != NULL;
        session.is_sampled = header->timing == TRACE_TIMING_SAMPLES && !session.has_events;
        session.counts_only =
            session.is_sampled || (header->timing == TRACE_TIMING_NONE && !session.has_events);
        session.is_adaptive =
            session.counts_only || (header->timing == TRACE_TIMING_ADAPTIVE && !session.has_events);
    } else if (!session.has_events) {
        leave_ring();
    }
    header->timing = session.is_sampled    ? TRACE_TIMING_SAMPLES
                     : session.counts_only ? TRACE_TIMING_NONE
                     : session.is_adaptive ? TRACE_TIMING_ADAPTIVE
                                           : TRACE_TIMING_EXACT;
    header->tick = session.counts_only ? TICK_THAT_STANDS : header->tick | TRACE_TICK_FLAG;
    session_choose_exit_hook();
}

void session_leave(enum session_state state)
{
    session_paused = &always;
    session.state = state;
}

/*
 * Places that were handed out but had no memory. Later calls try them again, so that the trace does
 * not fill up with holes while memory is short. If more threads come at a time than there are
 * entries, holes remain; readers pass over them.
 */
static uint64_t without_memory[MOST_WITHOUT_MEMORY];

static uint64_t ahead[BLOCKS_AHEAD]; /* places that are usable, and not handed out; or 0 */

/* They are of the trace before. */
static void forget_places(void)
{
    for (uint32_t i = 0; i < MOST_WITHOUT_MEMORY; i++)
        __atomic_store_n(&without_memory[i], 0, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < BLOCKS_AHEAD; i++)
        __atomic_store_n(&ahead[i], 0, __ATOMIC_RELAXED);
}

/* What the service knows of them already: all 0 where it knows nothing. */
static struct probe_costs given_costs(const struct trace_header *header)
{
    return (struct probe_costs){.inner = header->probe_inner,
                                .timed = header->probe_timed,
                                .untimed = header->probe_untimed,
                                .passed = header->probe_passed};
}

bool session_begin(char *const *env, uint32_t fork_of_pid)
{
    struct protocol_welcome welcome;
    struct connection_maps maps;

    environment = env;
    session.number++;
    session.pid = system_process_id();
    session_leave(SESSION_OFF);
    maps = connection_open(env, fork_of_pid, &welcome);
    session.trace = maps.trace;
    session.ring = maps.ring;
    session.header = (struct trace_header *)session.trace;
    if (!session.trace)
        return false;
    session.page = hook_word_place(maps.page);
    session.capacity = welcome.capacity;
    session.ring_size = welcome.ring_size;
    session.ring_segments =
        session.ring ? (uint32_t)((welcome.ring_size - EVENT_RING_HEADER) / EVENT_SEGMENT_SIZE) : 0;
    session.node_limit = welcome.node_limit;
    session.header->capacity = session.capacity;
    session.header->used = TRACE_HEADER_SIZE;
    forget_places();
    if (!fork_of_pid)
        session.costs = given_costs(session.header);
    session.header->thunks = stash_range();
    session.header->thunks_size = STASH_RANGE_SIZE;
    begin_timing(fork_of_pid != 0);
    hook_words_begin(session_entry_hook());
    session.header->start_ticks = ticks_now();
    __atomic_store_n(&session.header->state, TRACE_RUNNING, __ATOMIC_RELEASE);
    session_paused = &session.page->paused;
    session.state = SESSION_RUNNING;
    return true;
}

void session_set_costs(const struct probe_costs *costs)
{
    session.costs = *costs;
    session.header->probe_inner = costs->inner;
    session.header->probe_untimed = costs->untimed;
    session.header->probe_passed = costs->passed;
    __atomic_store_n(&session.header->probe_timed, costs->timed, __ATOMIC_RELEASE);
}

/* Records of calls made before the fork still point into the parent's trace; no path touches the
   node of a record of another session. */
void session_begin_in_child(void)
{
    uint32_t parent = session.pid;
    struct probe_costs costs = session.costs;

    session_leave(SESSION_OFF);
    connection_forget(session.trace, session.capacity);
    connection_forget(session.ring, session.ring_size);
    if (session_begin(environment, parent))
        session_set_costs(&costs);
}

void session_end(void)
{
    session.header->end_ticks = ticks_now();
    __atomic_store_n(&session.header->state, TRACE_ENDED, __ATOMIC_RELEASE);
}

static void note_without_memory(uint64_t at)
{
    for (uint32_t i = 0; i < MOST_WITHOUT_MEMORY; i++) {
        uint64_t none = 0;

        if (__atomic_compare_exchange_n(&without_memory[i], &none, at, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

/* Where blocks other than those of cover end at most. */
static uint64_t end_of_blocks(void)
{
    return session.capacity - __atomic_load_n(&session.header->cover, __ATOMIC_SEQ_CST);
}

/* A place for a block: its byte in the trace. 0: the trace is full. Either this one sees a block of
   cover that is taken meanwhile, or session_cover_blocks sees what is taken here. */
static uint64_t take_place(void)
{
    uint64_t at, end;

    for (uint32_t i = 0; i < MOST_WITHOUT_MEMORY; i++) {
        if (!__atomic_load_n(&without_memory[i], __ATOMIC_RELAXED))
            continue;
        at = __atomic_exchange_n(&without_memory[i], 0, __ATOMIC_RELAXED);
        if (at)
            return at;
    }
    at = __atomic_load_n(&session.header->used, __ATOMIC_RELAXED);
    do {
        if (at + TRACE_BLOCK_SIZE > end_of_blocks())
            return 0;
    } while (!__atomic_compare_exchange_n(&session.header->used, &at, at + TRACE_BLOCK_SIZE, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    end = at + TRACE_BLOCK_SIZE;
    if (end <= end_of_blocks())
        return at;
    __atomic_compare_exchange_n(&session.header->used, &end, at, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
    return 0;
}

static bool is_usable(uint64_t at)
{
    return connection_claim(session.trace + at, TRACE_BLOCK_SIZE,
                            offsetof(struct trace_block, reserved));
}

void session_get_ready(void)
{
    if (session.state != SESSION_RUNNING || guard_forked())
        return;
    for (uint32_t i = 0; i < BLOCKS_AHEAD; i++) {
        uint64_t at = __atomic_load_n(&ahead[i], __ATOMIC_RELAXED) ? 0 : take_place();

        if (at && is_usable(at))
            __atomic_store_n(&ahead[i], at, __ATOMIC_RELEASE);
    }
}

static uint64_t take_place_ahead(void)
{
    for (uint32_t i = 0; i < BLOCKS_AHEAD; i++) {
        uint64_t at = __atomic_exchange_n(&ahead[i], 0, __ATOMIC_ACQUIRE);

        if (at)
            return at;
    }
    return 0;
}

struct trace_block *session_block(uint32_t thread)
{
    uint64_t at = take_place();
    struct trace_block *block;

    if (at && !is_usable(at)) {
        note_without_memory(at);
        at = take_place_ahead();
    }
    if (!at)
        return NULL;
    block = (struct trace_block *)(session.trace + at);
    block->thread = thread;
    block->used = 1;
    return block;
}

/* Whether all of them have memory. */
static bool claim_apart(struct trace_block *blocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *block = (char *)blocks + (uint64_t)i * TRACE_BLOCK_SIZE;

        if (!connection_claim_apart(block, TRACE_BLOCK_SIZE,
                                    offsetof(struct trace_block, reserved)))
            return false;
        ((struct trace_block *)block)->used = TRACE_BLOCK_UNITS;
    }
    return true;
}

struct trace_block *session_cover_blocks(uint32_t count)
{
    uint64_t size = (uint64_t)count * TRACE_BLOCK_SIZE;
    uint64_t cover = __atomic_add_fetch(&session.header->cover, size, __ATOMIC_SEQ_CST);
    struct trace_block *blocks = (struct trace_block *)(session.trace + session.capacity - cover);

    if (cover > session.capacity ||
        session.capacity - cover < __atomic_load_n(&session.header->used, __ATOMIC_SEQ_CST) ||
        !claim_apart(blocks, count)) {
        __atomic_sub_fetch(&session.header->cover, size, __ATOMIC_SEQ_CST);
        return NULL;
    }
    return blocks;
}

void block_commit(struct trace_block *block, enum trace_block_kind kind)
{
    __atomic_store_n(&block->kind, kind, __ATOMIC_RELEASE);
}

uint32_t trace_index(const void *unit)
{
    return (uint32_t)(((const char *)unit - session.trace) / TRACE_UNIT);
}
