/*
 * Rules of liveness. A record reused while its invocation lives sends a return into the wrong
 * function, so a record is reused only when its invocation is certainly over.
 *
 * On a thread's own stack frames end last in, first out. An invocation whose slot lies below the
 * stack pointer of a call that is just made is gone, however it went; one that returns takes
 * everything above it along. The caller (hooks/probes.c) pops by that rule.
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
#define MOST_TRIES 8 /* blocks that cannot be mapped */

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
    return (uint32_t)(((uint64_t)record - (uint64_t)range) / BLOCK_SIZE);
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
        .body = (uint64_t)exit_hook, .slot = SLOT_FREE, .owner = stash, .node = stash->root};
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
    return (uint64_t)range;
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
    uint64_t thunk = address - THUNK_RETURN, offset = thunk - THUNK_OFFSET - (uint64_t)range;

    if (offset >= STASH_RANGE_SIZE || offset % BLOCK_SIZE >= BLOCK_CODE_SIZE || offset % THUNK_SIZE)
        return 0;
    return (struct record *)(thunk + RECORD_DISTANCE);
}

struct record *stash_below(const struct record *record)
{
    uint32_t before = links[block_of(record)].before;

    if (!record_is_sentinel(record - 1))
        return (struct record *)record - 1;
    return before ? block_records(before - 1) + BLOCK_LAST : (struct record *)record - 1;
}

uint32_t stash_depth(const struct record *record)
{
    uint32_t block = block_of(record);

    return links[block].ordinal * BLOCK_LAST + (uint32_t)(record - block_records(block));
}

void stash_settle(struct stash *stash)
{
    struct record *top = stash->top;
    uint32_t before = links[block_of(top)].before;

    if (record_is_sentinel(top) && before)
        stash->top = block_records(before - 1) + BLOCK_LAST;
}

/* The sentinel of the block behind, made to repeat the top; null if there is no further block. */
static struct record *next_block(struct stash *stash)
{
    uint32_t behind = links[block_of(stash->top)].behind;
    struct record *sentinel;

    if (!behind) {
        behind = block_take();
        if (!behind)
            return 0;
        block_begin(behind - 1, stash);
    }
    sentinel = block_records(behind - 1);
    sentinel->slot = stash->top->slot;
    sentinel->node = stash->top->node;
    return sentinel;
}

static struct record *push_ordered(struct stash *stash)
{
    struct record *at = stash->top;

    if (at == block_records(block_of(at)) + BLOCK_LAST)
        at = next_block(stash);
    if (!at)
        return 0;
    at[1].slot = SLOT_FREE;
    at[1].mark = 0;
    stash->top = at + 1;
    return at + 1;
}

static struct record *push_unordered(struct stash *stash)
{
    struct record *record;

    if (!stash->free) {
        uint32_t block = block_take();

        if (!block)
            return 0;
        block_begin(block - 1, stash);
        block_chain_free(block - 1, stash);
    }
    record = stash->free;
    stash->free = record->below;
    record->below = 0;
    return record;
}

struct record *stash_push(struct stash *stash)
{
    return stash->ordered ? push_ordered(stash) : push_unordered(stash);
}

void stash_pop(struct stash *stash)
{
    struct record *top = stash->top;

    stash->top = stash_below(top);
    top->slot = SLOT_FREE;
    top->mark = 0;
}

void stash_free(struct stash *stash, struct record *record)
{
    record->slot = SLOT_FREE;
    record->mark = 0;
    record->below = stash->free;
    stash->free = record;
    if (stash->top == record)
        stash->top = 0;
}

void stash_each(struct stash *stash, void (*visit)(struct record *, void *), void *with)
{
    for (uint32_t block = stash->first_block; block; block = links[block - 1].behind)
        for (uint32_t i = 1; i <= BLOCK_LAST; i++)
            visit(block_records(block - 1) + i, with);
}
