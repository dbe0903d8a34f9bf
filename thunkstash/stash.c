/*
 * Rules of liveness. A record reused while its invocation lives sends a return into the wrong
 * function, so a record is reused only when its invocation is certainly over.
 *
 * On a thread's own stack frames end last in, first out. An invocation whose slot lies below the
 * stack pointer of a call that is just made is gone, and one that returns takes everything above it
 * along: the caller (hooks/slow_paths.c) takes it off the top by that rule.
 *
 * But the own stack may hold other stacks: a coroutine's, or one for signal handlers, in an array
 * of a function. Then an invocation far below the stack pointer is resumed later. Nothing tells
 * that from a longjmp when it happens. So what is taken off the top is *parked*, unless its slot
 * holds something else already: it stays where it is, with the return address that its thunk needs,
 * until it returns after all, or its slot is found to be overwritten. hooks/invocation.c says how
 * such an invocation is counted.
 *
 *      records:   a    b    c    c'   d    e
 *                 |    |    |    |    |    |
 *                live  parked | bridge live top      c was parked, too: it gives no way, its slot
 * is 0
 *                  \___________/
 *
 * Records are taken one behind the other, by the hot path without a look at anything else but that
 * the next one's slot is not 0. A parked one's is, so the hot path never takes it. The slow path
 * asks whether it is over, and takes it or goes past it, to the next one that is free. There it
 * puts a *bridge*, which repeats slot and node of the record that it leads down to, as a block's
 * sentinel does: the hot path need not know that it is none. These hold in every slow path:
 *
 *   - The chain: the top, and what stash_below leads to from each, down to the first block's
 *     sentinel. Each is of a live invocation, behind the one below it, and its slot is lower.
 *   - What lies behind the top is free, parked, or was left by a hook that never went on.
 *   - A record is parked or free only after the top has moved below it, or is about to (stash_park,
 *     stash_pop); stash_settle makes up for a slow path that was left in between.
 *
 * Parked records take no more room than the stack has words: of two with the same slot, one is
 * over. Where many lie in the way, `run` remembers how far.
 *
 * On other stacks order says nothing: coroutines are resumed in any order, by any thread. There
 * a record is freed by its own return only, or, when room runs short, since its slot no longer
 * holds its thunk's address. A stale slot may still look alive; that costs a record.
 *
 * A block's sentinel knows the stash, so a record knows its owner without a field for it. Blocks
 * are handed out by a compare-and-swap on a bitmap: no lock that a fork could leave taken.
 */
#include "thunkstash/stash.h"

#include "thunkstash/pages.h"

#define WORD_BITS  64
#define MOST_TRIES 8  /* blocks that cannot be mapped */
#define MOST_ASKED 16 /* parked records in a row that are asked about */

static uint64_t taken[STASH_BLOCKS / WORD_BITS];
/* Number + 1 of the stash's block before and behind, 0 for none; how many there are before. */
static struct block_links {
    uint32_t before, behind, ordinal, session;
} links[STASH_BLOCKS];
static bool mapped[STASH_BLOCKS];
static char *range;
static void *code; /* what the thunks are mapped from */
static void (*exit_hook)(void);

static struct record *block_records(uint32_t block)
{
    return (struct record *)(range + (uint64_t)block * BLOCK_SIZE + BLOCK_CODE_SIZE);
}

static uint32_t block_of(const struct record *record)
{
    return (uint32_t)(((uintptr_t)record - (uintptr_t)range) / BLOCK_SIZE);
}

static bool block_map(uint32_t block)
{
    if (!mapped[block])
        mapped[block] = pages_map_block(range + (uint64_t)block * BLOCK_SIZE, code);
    return mapped[block];
}

/* Number + 1 of a block that is now the caller's, 0 if none is left or none can be mapped. Where a
   block's place was lost to somebody else's memory (Windows), one of the next will do. */
static uint32_t block_take(void)
{
    uint32_t tries = 0;

    for (uint32_t word = 0; word < STASH_BLOCKS / WORD_BITS; word++) {
        uint64_t bits = __atomic_load_n(&taken[word], __ATOMIC_RELAXED), failed = 0;

        while (~(bits | failed)) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~(bits | failed));

            if (!__atomic_compare_exchange_n(&taken[word], &bits, bits | 1ull << bit, false,
                                             __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                continue;
            if (block_map(word * WORD_BITS + bit))
                return word * WORD_BITS + bit + 1;
            failed |= 1ull << bit;
            bits = __atomic_and_fetch(&taken[word], ~(1ull << bit), __ATOMIC_RELEASE);
            if (++tries == MOST_TRIES)
                return 0;
        }
    }
    return 0;
}

static void block_give_back(uint32_t block)
{
    __atomic_fetch_and(&taken[block / WORD_BITS], ~(1ull << block % WORD_BITS), __ATOMIC_RELEASE);
}

static void block_begin(uint32_t block, struct stash *stash)
{
    struct record *records = block_records(block);

    for (uint32_t i = 1; i <= BLOCK_LAST; i++)
        records[i] = (struct record){.slot = SLOT_FREE, .node = stash->root};
    records[0] = (struct record){
        .body = (uintptr_t)exit_hook, .slot = SLOT_FREE, .owner = stash, .node = stash->root};
    records[BLOCK_LAST + 1].slot = 0;
    links[block] = (struct block_links){.before = stash->last_block, .session = stash->session};
    if (stash->last_block) {
        links[block].ordinal = links[stash->last_block - 1].ordinal + 1;
        links[stash->last_block - 1].behind = block + 1;
    } else {
        stash->first_block = block + 1;
    }
    stash->last_block = block + 1;
}

/* Not ordered: chains the records of a new block. */
static void block_chain_free(uint32_t block, struct stash *stash)
{
    struct record *records = block_records(block);

    for (uint32_t i = BLOCK_LAST; i > 0; i--) {
        records[i].below = stash->free;
        stash->free = &records[i];
    }
}

bool stash_prepare(char *reserved, void *thunks)
{
    range = reserved;
    code = thunks;
    return range && code;
}

uint64_t stash_range(void)
{
    return (uintptr_t)range;
}

void stash_set_exit_hook(void (*hook)(void))
{
    exit_hook = hook;
}

bool stash_begin(struct stash *stash, bool ordered, uint32_t session, struct trace_node *root)
{
    uint32_t block = code ? block_take() : 0;

    *stash = (struct stash){.ordered = ordered, .session = session, .root = root};
    if (!block)
        return false;
    block_begin(block - 1, stash);
    if (ordered)
        stash->top = block_records(block - 1);
    else
        block_chain_free(block - 1, stash);
    return true;
}

void stash_release(struct stash *stash)
{
    for (uint32_t block = stash->first_block, behind; block; block = behind) {
        behind = links[block - 1].behind;
        block_give_back(block - 1);
    }
    *stash = (struct stash){0};
}

bool record_is_sentinel(const struct record *record)
{
    return block_records(block_of(record)) == record;
}

struct stash *record_owner(const struct record *record)
{
    return block_records(block_of(record))->owner;
}

uint32_t record_session(const struct record *record)
{
    return links[block_of(record)].session;
}

struct record *record_of_return(uint64_t address)
{
    uint64_t thunk = address - THUNK_RETURN, offset = thunk - THUNK_OFFSET - (uintptr_t)range;

    if (offset >= STASH_RANGE_SIZE || offset % BLOCK_SIZE >= BLOCK_CODE_SIZE || offset % THUNK_SIZE)
        return NULL;
    return (struct record *)(uintptr_t)(thunk + RECORD_DISTANCE);
}

/* No thunk goes through a bridge. */
static bool is_bridge(const struct record *record)
{
    return record_is_live(record) && !record->body;
}

/* The one below, be it a bridge. */
static struct record *next_below(const struct record *record)
{
    uint32_t before = links[block_of(record)].before;

    if (is_bridge(record))
        return record->below;
    if (!record_is_sentinel(record - 1))
        return (struct record *)record - 1;
    return before ? block_records(before - 1) + BLOCK_LAST : (struct record *)record - 1;
}

struct record *stash_below(const struct record *record)
{
    struct record *below = next_below(record);

    while (is_bridge(below))
        below = below->below;
    return below;
}

/* How many records lie up to this one, used or not. */
static uint32_t position(const struct record *record)
{
    uint32_t block = block_of(record);

    return links[block].ordinal * BLOCK_LAST + (uint32_t)(record - block_records(block));
}

/* A slow path that was left by longjmp may have left any bridge as the youngest one. */
uint32_t stash_depth(const struct stash *stash)
{
    const struct record *record = stash->top, *bridge = stash->bridge;
    uint32_t depth = 0;

    if (!bridge)
        return position(record);
    if (is_bridge(bridge) && position(bridge) < position(record))
        return (uint32_t)bridge->weight + position(record) - position(bridge);
    for (; !record_is_sentinel(record); record = stash_below(record))
        depth++;
    return depth;
}

void stash_settle(struct stash *stash)
{
    struct record *top = stash->top;
    uint32_t before = links[block_of(top)].before;

    if (record_is_sentinel(top) && before)
        top = block_records(before - 1) + BLOCK_LAST;
    while (is_bridge(top) || record_is_parked(top)) {
        struct record *below = next_below(top);

        if (is_bridge(top)) {
            stash->bridge = (struct record *)(uintptr_t)top->ret;
            top->slot = SLOT_FREE;
        }
        top = below;
    }
    stash->top = top;
}

/* The sentinel of the block behind `last`, made to repeat the top; null if there is no room. */
static struct record *next_block(struct stash *stash, const struct record *last)
{
    uint32_t behind = links[block_of(last)].behind;
    struct record *sentinel;

    if (!behind) {
        behind = block_take();
        if (!behind)
            return NULL;
        block_begin(behind - 1, stash);
    }
    sentinel = block_records(behind - 1);
    sentinel->slot = stash->top->slot;
    sentinel->node = stash->top->node;
    return sentinel;
}

/* The next record in line; null if there is no room. */
static struct record *behind(struct stash *stash, struct record *record)
{
    if (record == block_records(block_of(record)) + BLOCK_LAST)
        record = next_block(stash, record);
    return record ? record + 1 : NULL;
}

static bool is_in_run(const struct stash *stash, const struct record *record)
{
    return stash->run.end && position(record) >= stash->run.first &&
           position(record) < position(stash->run.end);
}

/* What is behind a record that is parked and not over: the first that is neither. Null: no room. */
static struct record *behind_parked(struct stash *stash, struct record *record,
                                    const struct reclaim *reclaim)
{
    uint64_t first = position(record);
    uint32_t asked = 0;

    while (record && record_is_parked(record)) {
        if (is_in_run(stash, record)) {
            first = first < stash->run.first ? first : stash->run.first;
            record = stash->run.end;
        } else if (asked++ < MOST_ASKED && reclaim->is_over(record, reclaim->with)) {
            break;
        } else {
            record = behind(stash, record);
        }
    }
    stash->run.first = first;
    stash->run.end = record;
    return record;
}

/* Makes this record, which is behind parked ones, lead down to the top, and the top. Half of it is
   no bridge, nor a parked record. */
static void put_bridge(struct stash *stash, struct record *at)
{
    const struct record *top = stash->top;

    __atomic_store_n(&at->slot, SLOT_FREE, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    at->ret = (uintptr_t)stash->bridge;
    at->body = 0;
    at->node = top->node;
    at->weight = stash_depth(stash);
    at->mark = 0;
    at->below = stash->top;
    stash->bridge = at;
    __atomic_store_n(&at->slot, top->slot, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stash->top = at;
}

static struct record *push_ordered(struct stash *stash, const struct reclaim *reclaim)
{
    struct record *next;

    while ((next = behind(stash, stash->top)) && record_is_parked(next) &&
           !reclaim->is_over(next, reclaim->with)) {
        next = behind_parked(stash, next, reclaim);
        if (!next)
            return NULL;
        put_bridge(stash, next);
    }
    if (!next)
        return NULL;
    __atomic_store_n(&next->slot, SLOT_FREE, __ATOMIC_RELEASE);
    next->mark = 0;
    stash->top = next;
    return next;
}

static struct record *push_unordered(struct stash *stash)
{
    struct record *record;

    if (!stash->free) {
        uint32_t block = block_take();

        if (!block)
            return NULL;
        block_begin(block - 1, stash);
        block_chain_free(block - 1, stash);
    }
    record = stash->free;
    stash->free = record->below;
    record->below = NULL;
    return record;
}

struct record *stash_push(struct stash *stash, const struct reclaim *reclaim)
{
    return stash->ordered ? push_ordered(stash, reclaim) : push_unordered(stash);
}

void stash_pop(struct stash *stash)
{
    struct record *top = stash->top;

    stash->top = next_below(top);
    top->slot = SLOT_FREE;
    top->mark = 0;
    stash_settle(stash);
}

void stash_park(struct stash *stash)
{
    struct record *top = stash->top;

    top->parked = record_slot(top);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    top->slot = SLOT_PARKED;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stash_settle(stash);
}

void stash_lose_order(struct stash *stash)
{
    struct record *record, *below;

    stash_settle(stash);
    for (record = stash->top; !record_is_sentinel(record); record = below) {
        below = stash_below(record);
        record->below = record_is_sentinel(below) ? NULL : below;
    }
    stash->ordered = false;
    stash->top = NULL;
    stash->bridge = NULL;
}

void stash_free(struct stash *stash, struct record *record)
{
    __atomic_store_n(&record->slot, SLOT_FREE, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    record->mark = 0;
    record->below = stash->free;
    stash->free = record;
    if (stash->top == record)
        stash->top = NULL;
}

void stash_each(struct stash *stash, void (*visit)(struct record *, void *), void *with)
{
    for (uint32_t block = stash->first_block; block; block = links[block - 1].behind)
        for (uint32_t i = 1; i <= BLOCK_LAST; i++)
            if (!is_bridge(block_records(block - 1) + i))
                visit(block_records(block - 1) + i, with);
}

void stash_change_exit_hook(struct stash *stash, void (*hook)(void))
{
    for (uint32_t block = stash->first_block; block; block = links[block - 1].behind)
        __atomic_store_n(&block_records(block - 1)->body, (uintptr_t)hook, __ATOMIC_RELEASE);
}
