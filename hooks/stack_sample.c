#include "hooks/stack_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hooks/live_calls.h"
#include "hooks/session.h"
#include "hooks/stack.h"
#include "thunkstash/linux/linux_pages.h"

#include <cmocka.h>

#define MOST_BLOCKS (2 * STACK_MOST_BLOCKS)

/* The agent's linker script reserves the range; here it is ordinary memory. */
char umbra_stash[STASH_RANGE_SIZE] __attribute__((aligned(4096)));

struct session session;
static char trace[(1 + MOST_BLOCKS) * TRACE_BLOCK_SIZE] __attribute__((aligned(4096)));
static uint32_t block_count;
uint32_t block_limit;
struct thread thread;
static struct trace_thread entry;
static struct trace_header header = {.tick = TRACE_TICK_FLAG | 1000};
static uint64_t seed;

enum call_kind call_kind;

struct call calls[MOST_CALLS];
uint32_t call_count;
static uint32_t numbers[64]; /* calls of each node so far */

struct trace_block *session_block(uint32_t ordinal)
{
    struct trace_block *block;

    if (block_count == block_limit)
        return NULL;
    block = (struct trace_block *)(trace + ++block_count * TRACE_BLOCK_SIZE);
    block->thread = ordinal;
    block->used = 1;
    return block;
}

void block_commit(struct trace_block *block, enum trace_block_kind kind)
{
    block->kind = kind;
}

uint32_t trace_index(const void *unit)
{
    return (uint32_t)(((const char *)unit - trace) / TRACE_UNIT);
}

static void no_exit(void)
{
}

int sample_prepare(void **state)
{
    void *code = pages_map_file("/proc/self/exe", 0, BLOCK_CODE_SIZE);

    (void)state;
    stash_set_exit_hook(no_exit);
    seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)seed);
    return stash_prepare(umbra_stash, code) ? 0 : 1;
}

int sample_begin(void **state)
{
    (void)state;
    memset(trace, 0, sizeof(trace));
    memset(&thread, 0, sizeof(thread));
    block_count = call_count = 0;
    block_limit = MOST_BLOCKS;
    entry.ordinal = 1;
    thread.entry = &entry;
    thread.trace = trace;
    thread.own_low = HIGH - SIZE;
    thread.own_size = SIZE;
    session.header = &header;
    session.is_adaptive = true;
    call_kind = RECORDS;
    stack_begin(&thread);
    assert_true(stash_begin(&thread.own, true, 1, (struct trace_node *)trace));
    return 0;
}

int sample_end(void **state)
{
    (void)state;
    stash_release(&thread.own);
    return 0;
}

uint32_t random_below(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % limit;
}

static void push_record(struct call *call)
{
    struct record *record = stash_push(&thread.own, NULL);

    assert_non_null(record);
    record->node = (struct trace_node *)(trace + call->node * TRACE_UNIT);
    record->body = 1;
    record->mark = call->number = ++numbers[call->node];
    record->slot = call->slot + SLOT_BIAS;
}

/* A frame's context tells all frames above it, and how large they are. */
static uint32_t context_of(uint32_t caller, uint32_t function, uint32_t bytes)
{
    static struct context {
        uint32_t caller, function, bytes;
    } contexts[1 << 20];
    const struct context wanted = {caller, function, bytes};
    uint32_t place = ((caller * 2654435761u + function) * 2654435761u + bytes) >> 12;

    while (contexts[place].function && memcmp(&contexts[place], &wanted, sizeof(wanted)) != 0)
        place = (place + 1) % (sizeof(contexts) / sizeof(*contexts));
    contexts[place] = wanted;
    return 64 + place;
}

void push(uint32_t bytes, uint32_t node)
{
    uint64_t above = call_count ? calls[call_count - 1].slot : HIGH;
    uint32_t caller = call_count ? calls[call_count - 1].node : 0;
    struct call *call = &calls[call_count++];
    bool is_frame = call_kind == FRAMES || (call_kind == ANY && random_below(2));

    *call = (struct call){.slot = above - bytes, .node = node, .is_frame = is_frame};
    if (is_frame)
        call->node = context_of(caller, node, bytes);
    else
        push_record(call);
    call->record = thread.own.top;
}

void pop(uint32_t count)
{
    for (; count; count--)
        if (!calls[--call_count].is_frame)
            stash_pop(&thread.own);
}

static struct live_call live_call_at(uint32_t count)
{
    const struct call *call = calls + count - (count > 0);

    if (!count)
        return (struct live_call){0};
    return (struct live_call){
        .slot = call->slot,
        .node = (struct trace_node *)(trace + (uint64_t)call->node * TRACE_UNIT),
        .record = call->is_frame ? NULL : call->record,
    };
}

void (*on_caller)(void);
uint32_t callers_found, step_from_caller;

/* Goes up as live_calls.c does, which is not stepped through. */
void live_call_go_up(const struct thread *with, struct live_call *call, uint64_t likely)
{
    bool was_stepping = set_stepping(false);
    uint32_t count = call_count;

    (void)with;
    assert_true(!likely || likely > call->slot);
    while (calls[count - 1].slot != call->slot)
        count--;
    *call = live_call_at(count - 1);
    if (on_caller)
        on_caller();
    set_stepping(was_stepping || ++callers_found == step_from_caller);
}

void note_innermost(void)
{
    struct live_call innermost = live_call_at(call_count);

    stack_note(&thread, innermost.slot, &innermost);
}

bool note(void)
{
    uint64_t before = thread.peak.lowest;

    note_innermost();
    return thread.peak.lowest != before;
}

void read_chain(struct stack_chain *chain)
{
    memset(chain, 0, sizeof(*chain));
    for (uint32_t i = 1; i <= block_count; i++) {
        struct trace_stack *block = (struct trace_stack *)(trace + i * TRACE_BLOCK_SIZE);
        if (block->kind == TRACE_BLOCK_STACK)
            assert_true(stack_chain_add(chain, block, (struct trace_stack_entry *)(block + 1)));
    }
    stack_chain_check(chain);
}

bool is_call(const struct trace_stack_entry *found, const struct call *call)
{
    return found->depth == (HIGH - call->slot) / STACK_DEPTH_UNIT && found->node == call->node &&
           found->number == call->number;
}

bool begins_with(const struct stack_chain *chain, const struct call *with, uint32_t count)
{
    if (chain->count > count || chain->inner != chain->count)
        return false;
    for (uint32_t i = 0; i < chain->count; i++)
        if (!is_call(stack_chain_entry(chain, i), &with[i]))
            return false;
    return true;
}

uint32_t current_copy(void)
{
    struct stack_chain chain;
    uint32_t copy;

    read_chain(&chain);
    copy = chain.copy;
    stack_chain_free(&chain);
    return copy;
}

void assert_noted(void)
{
    struct stack_chain chain;

    read_chain(&chain);
    assert_int_equal(chain.count, call_count);
    assert_int_equal(chain.peak, HIGH - calls[call_count - 1].slot);
    assert_int_equal(stack_chain_depth(&chain), chain.peak);
    assert_true(begins_with(&chain, calls, call_count));
    stack_chain_free(&chain);
}
