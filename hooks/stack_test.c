/*
 * Chains of calls as a thread notes them, read back from its blocks: after each note, and, stepping
 * through some of them, after each instruction, as if the thread were killed there, or a handler
 * had left there by longjmp.
 */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "hooks/live_calls.h"
#include "hooks/session.h"
#include "hooks/stack.h"
#include "hooks/thread.h"
#include "thunkstash/linux/linux_pages.h"
#include "trace/stack_chain.h"

#include <cmocka.h>

#define MOST_BLOCKS (2 * STACK_MOST_BLOCKS)
#define HIGH        0x7ffe00000000ull
#define SIZE        (64ull << 20)
#define MOST_CALLS  200000
/* Less at random, and of notes that are left: the agent has no sanitizer, whose instructions would
   be stepped through, too. */
#ifdef __SANITIZE_ADDRESS__
#define LESS 10
#else
#define LESS 1
#endif

/* The agent's linker script reserves the range; here it is ordinary memory. */
char umbra_stash[STASH_RANGE_SIZE] __attribute__((aligned(4096)));

struct session session;
static char trace[(1 + MOST_BLOCKS) * TRACE_BLOCK_SIZE] __attribute__((aligned(4096)));
static uint32_t block_count, block_limit;
static struct thread thread;
static struct trace_thread entry;
static struct trace_header header = {.tick = TRACE_TICK_FLAG | 1000};
static uint64_t seed;

/* What calls have. */
static enum kind { RECORDS, FRAMES, ANY } kind;

/* What is live, the outermost first. */
struct call {
    uint64_t slot;
    uint32_t node, number;
    bool is_frame;
    const struct record *record; /* its own; of a frame, the newest one then */
};
static struct call calls[MOST_CALLS];
static uint32_t call_count;
static uint32_t numbers[64]; /* calls of each node so far */

/* What was live when it was noted. */
static struct call noted[MOST_CALLS];
static uint32_t noted_count;

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

static int prepare(void **state)
{
    void *code = pages_map_file("/proc/self/exe", 0, BLOCK_CODE_SIZE);

    (void)state;
    stash_set_exit_hook(no_exit);
    seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)seed);
    return stash_prepare(umbra_stash, code) ? 0 : 1;
}

static int begin(void **state)
{
    (void)state;
    memset(trace, 0, sizeof(trace));
    memset(&thread, 0, sizeof(thread));
    block_count = call_count = noted_count = 0;
    block_limit = MOST_BLOCKS;
    entry.ordinal = 1;
    thread.entry = &entry;
    thread.trace = trace;
    thread.own_low = HIGH - SIZE;
    thread.own_size = SIZE;
    session.header = &header;
    session.is_adaptive = true;
    kind = RECORDS;
    stack_begin(&thread);
    assert_true(stash_begin(&thread.own, true, 1, (struct trace_node *)trace));
    return 0;
}

static int end(void **state)
{
    (void)state;
    stash_release(&thread.own);
    return 0;
}

static uint32_t random_below(uint32_t limit)
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

/* Enters a call whose caller used that many bytes. */
static void push(uint32_t bytes, uint32_t node)
{
    uint64_t above = call_count ? calls[call_count - 1].slot : HIGH;
    uint32_t caller = call_count ? calls[call_count - 1].node : 0;
    struct call *call = &calls[call_count++];
    bool is_frame = kind == FRAMES || (kind == ANY && random_below(2));

    *call = (struct call){.slot = above - bytes, .node = node, .is_frame = is_frame};
    if (is_frame)
        call->node = context_of(caller, node, bytes);
    else
        push_record(call);
    call->record = thread.own.top;
}

static void pop(uint32_t count)
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

#define TRAP_FLAG 0x100ull

/* Whether there is a signal after each instruction from here on. Returns whether there was. */
static bool set_stepping(bool is_stepping)
{
    unsigned long long flags = __readeflags();

    __writeeflags(is_stepping ? flags | TRAP_FLAG : flags & ~TRAP_FLAG);
    return flags & TRAP_FLAG;
}

static void (*on_caller)(void);
static uint32_t callers_found, step_from_caller;

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

static void note_innermost(void)
{
    struct live_call innermost = live_call_at(call_count);

    stack_note(&thread, innermost.slot, &innermost);
}

static bool note(void)
{
    uint64_t before = thread.peak.lowest;

    note_innermost();
    return thread.peak.lowest != before;
}

static void read_chain(struct stack_chain *chain)
{
    memset(chain, 0, sizeof(*chain));
    for (uint32_t i = 1; i <= block_count; i++) {
        struct trace_stack *block = (struct trace_stack *)(trace + i * TRACE_BLOCK_SIZE);
        if (block->kind == TRACE_BLOCK_STACK)
            assert_true(stack_chain_add(chain, block, (struct trace_stack_entry *)(block + 1)));
    }
    stack_chain_check(chain);
}

static bool is_call(const struct trace_stack_entry *found, const struct call *call)
{
    return found->depth == (HIGH - call->slot) / STACK_DEPTH_UNIT && found->node == call->node &&
           found->number == call->number;
}

/* Are the first ones of count calls those of the chain? */
static bool begins_with(const struct stack_chain *chain, const struct call *with, uint32_t count)
{
    if (chain->count > count || chain->inner != chain->count)
        return false;
    for (uint32_t i = 0; i < chain->count; i++)
        if (!is_call(stack_chain_entry(chain, i), &with[i]))
            return false;
    return true;
}

/* The one that has the chain. */
static uint32_t current_copy(void)
{
    struct stack_chain chain;
    uint32_t copy;

    read_chain(&chain);
    copy = chain.copy;
    stack_chain_free(&chain);
    return copy;
}

static void assert_noted(void)
{
    struct stack_chain chain;

    read_chain(&chain);
    assert_int_equal(chain.count, call_count);
    assert_int_equal(chain.peak, HIGH - calls[call_count - 1].slot);
    assert_int_equal(stack_chain_depth(&chain), chain.peak);
    assert_true(begins_with(&chain, calls, call_count));
    stack_chain_free(&chain);
}

static void nothing_noted_is_nothing_known(void **state)
{
    struct stack_chain chain;

    (void)state;
    read_chain(&chain);
    assert_int_equal(chain.copies[0].head.kind, 0);
    assert_int_equal(chain.inner, 0);
    assert_int_equal(stack_chain_depth(&chain), 0);
}

static void the_deepest_chain_stays(void **state)
{
    struct stack_chain chain;

    (void)state;
    push(1000, 1);
    push(200, 2);
    push(64, 3);
    assert_true(note());
    assert_noted();
    pop(2);
    push(100, 4);
    push(100, 5);
    assert_false(note());
    pop(2);
    push(208, 4);
    push(64, 5);
    assert_true(note());
    assert_noted();
    read_chain(&chain);
    assert_int_equal(chain.peak, 1272);
    assert_int_equal(chain.copies[0].head.size, SIZE);
    stack_chain_free(&chain);
}

/* A function that is called again at the same place, but from elsewhere, is another call. */
static void check_another_call_at_the_same_place(enum kind of)
{
    kind = of;
    push(1000, 1);
    push(48, 2);
    push(112, 3);
    assert_true(note());
    pop(2);
    push(112, 2);
    push(48, 3);
    push(32, 4);
    assert_true(note());
    assert_noted();
}

static void another_call_at_the_same_place_is_another(void **state)
{
    (void)state;
    check_another_call_at_the_same_place(RECORDS);
}

static void so_is_another_frame(void **state)
{
    (void)state;
    check_another_call_at_the_same_place(FRAMES);
}

/* A frame that is in one copy of the chain may stand where another call is in the other one. */
static void frames_are_told_in_either_copy(void **state)
{
    (void)state;
    kind = FRAMES;
    push(1000, 1);
    push(48, 2);
    push(112, 3);
    assert_true(note());
    pop(2);
    push(112, 2);
    push(48, 3);
    for (uint32_t i = 0; i < STACK_IN_PLACE; i++)
        push(32, 4);
    assert_true(note());
    assert_int_equal(current_copy(), 1);
    assert_noted();
    pop(STACK_IN_PLACE);
    for (uint32_t i = 0; i < STACK_IN_PLACE + 1; i++)
        push(48, 5);
    assert_true(note());
    assert_int_equal(current_copy(), 0);
    assert_noted();
}

static void enter(uint32_t bytes, uint32_t node)
{
    push(bytes, node);
    if (calls[call_count - 1].slot >= thread.peak.lowest)
        return;
    note();
    assert_noted();
}

/* Up to most_at_once are entered one after the other, then some are left. */
static void random_calls(uint32_t steps, uint32_t most_at_once)
{
    push(1000, 1);
    for (uint32_t i = 0; i < steps; i++) {
        for (uint32_t count = 1 + random_below(most_at_once); count; count--)
            enter(16 + 16 * random_below(20), 1 + random_below(60));
        if (random_below(2))
            pop(random_below(call_count));
    }
}

static void random_calls_are_noted(void **state)
{
    (void)state;
    random_calls(20000 / LESS, 3);
}

static void so_are_those_of_frames_and_records(void **state)
{
    (void)state;
    kind = ANY;
    random_calls(20000 / LESS, 3);
}

/* Counts of the steps through one note. */
static volatile unsigned long steps_seen, steps_torn, most_cut, steps_of_second;

static void look(int signal)
{
    struct stack_chain chain;

    (void)signal;
    read_chain(&chain);
    steps_seen++;
    if (!begins_with(&chain, calls, call_count) && !begins_with(&chain, noted, noted_count))
        steps_torn++;
    if (chain.count < noted_count && chain.count < call_count &&
        call_count - chain.count > most_cut)
        most_cut = call_count - chain.count;
    steps_of_second += chain.copy;
    stack_chain_free(&chain);
}

static void remember_noted(void)
{
    memcpy(noted, calls, sizeof(*calls) * call_count);
    noted_count = call_count;
}

static void step_through_note(void)
{
    struct sigaction action = {.sa_handler = look};

    sigaction(SIGTRAP, &action, NULL);
    steps_seen = steps_torn = most_cut = steps_of_second = 0;
    set_stepping(true);
    note_innermost();
    set_stepping(false);
    assert_true(steps_seen > 100);
    assert_int_equal(steps_torn, 0);
    assert_noted();
    remember_noted();
}

/* Enters a call that takes the stack deeper than it has been. */
static void push_deeper(uint32_t bytes, uint32_t node)
{
    uint64_t above = call_count ? calls[call_count - 1].slot : HIGH;

    push((above > thread.peak.lowest ? (uint32_t)(above - thread.peak.lowest) : 0) + bytes, node);
}

/*
 * Each way in which a chain changes, one after the other: so many calls are left, so many entered,
 * and the last one is noted.
 */
static const struct change {
    const char *what;
    uint32_t left, entered;
    uint32_t copy; /* the one that has the chain then */
    uint32_t cut;  /* how many calls the chain has yet to get while it is cut; 0: it is not */
} changes[] = {
    {"the first call", 0, 1, 0, 0},
    {"more than are replaced in place, but none is replaced", 0, STACK_IN_PLACE + 1, 0, 0},
    {"a few", 3, 2, 0, 2},
    {"one by as many as may be in place", 1, STACK_IN_PLACE, 0, STACK_IN_PLACE},
    {"many by one", STACK_IN_PLACE + 1, 1, 0, 1},
    {"one by more: in the second copy", 1, STACK_IN_PLACE + 1, 1, 0},
    {"a few of the second copy", 3, 2, 1, 2},
    {"in the first copy again, which has other calls there", 20, STACK_IN_PLACE + 1, 0, 0},
    {"all", 76, 1, 0, 1},
};

static void change_calls(uint32_t left, uint32_t entered, uint32_t node)
{
    pop(left);
    for (uint32_t i = 1; i < entered; i++)
        push(48, node);
    push_deeper(32, node);
}

static void step_through_change(uint32_t left, uint32_t entered, uint32_t node)
{
    change_calls(left, entered, node);
    step_through_note();
}

static void check_change(const struct change *change, uint32_t node)
{
    bool is_second = current_copy() || change->copy;

    step_through_change(change->left, change->entered, node);
    if (current_copy() != change->copy || most_cut != change->cut ||
        (steps_of_second > 0) != is_second)
        fail_msg(
            "%s: copy %u has the chain, %lu calls missing at most, %lu steps of the second copy",
            change->what, current_copy(), most_cut, steps_of_second);
}

static void no_chain_is_torn_at_any_instruction(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
        check_change(&changes[i], 1 + i);
}

static void nor_is_one_in_more_than_a_block(void **state)
{
    (void)state;
    while (call_count < STACK_BLOCK_ENTRIES - 1) {
        push(32, 1);
        note();
    }
    remember_noted();
    step_through_change(0, 3, 2);
    step_through_change(5, 4, 3);
}

static void nor_is_one_of_random_frames_and_records(void **state)
{
    (void)state;
    kind = ANY;
    for (int i = 0; i < (LESS > 1 ? 1 : 6); i++) {
        pop(random_below(call_count + 1));
        for (uint32_t count = random_below(STACK_IN_PLACE + 8); count; count--)
            push(16 + 16 * random_below(20), 1 + random_below(60));
        push_deeper(16 + 16 * random_below(20), 1 + random_below(60));
        step_through_note();
    }
}

static sigjmp_buf where_left;
static unsigned long steps_left;

static void leave(int signal)
{
    (void)signal;
    steps_seen++;
    if (!steps_left--)
        siglongjmp(where_left, 1);
}

/* Whether a handler has left it by longjmp, so many steps after so many callers were found. */
static bool is_note_left(uint32_t callers, unsigned long steps)
{
    volatile bool is_left = true;

    callers_found = 0;
    step_from_caller = callers;
    steps_seen = 0;
    steps_left = steps;
    if (!sigsetjmp(where_left, 1)) {
        note_innermost();
        set_stepping(false);
        is_left = false;
    }
    step_from_caller = 0; /* none */
    return is_left;
}

static void look_now(void)
{
    look(0);
}

/* A note is left, and then the next one is made. */
struct departure {
    uint32_t noted; /* calls before it */
    uint32_t left, entered;
    uint32_t left_then, entered_then;
    unsigned long steps; /* how many of its last ones it is left at */
};

static bool check_departure(const struct departure *departure, uint32_t callers,
                            unsigned long steps)
{
    struct stack_chain chain;
    uint32_t found;
    bool is_left;

    for (uint32_t i = 0; i < departure->noted; i++)
        push(32, 1);
    if (call_count)
        note_innermost();
    remember_noted();
    change_calls(departure->left, departure->entered, 2);
    is_left = is_note_left(callers, steps);
    found = callers_found;
    read_chain(&chain);
    if (chain.count == call_count && begins_with(&chain, calls, call_count))
        remember_noted();
    stack_chain_free(&chain);

    change_calls(departure->left_then, departure->entered_then, 3);
    steps_torn = 0;
    on_caller = look_now;
    note_innermost();
    on_caller = NULL;
    assert_int_equal(steps_torn, 0);
    assert_noted();
    callers_found = found;
    return is_left;
}

static void check_departures(void **state, const struct departure *departure)
{
    struct sigaction action = {.sa_handler = leave};
    unsigned long steps;
    uint32_t callers;

    sigaction(SIGTRAP, &action, NULL);
    assert_false(check_departure(departure, 0, 0));
    callers = callers_found;
    end(state);
    begin(state);
    assert_false(check_departure(departure, callers, ULONG_MAX));
    steps = steps_seen;
    assert_true(steps > 40);
    steps -= steps < departure->steps / LESS ? steps : departure->steps / LESS;
    do {
        end(state);
        begin(state);
    } while (check_departure(departure, callers, steps++));
}

static void the_first_note_may_be_left(void **state)
{
    check_departures(state, &(struct departure){0, 0, 1, 0, 1, 240});
}

/* The next one replaces what this one may have cut off already, or not. */
static void so_may_one_in_place(void **state)
{
    check_departures(state, &(struct departure){3, 2, 1, 1, 2, 270});
}

/* The next one is in the first copy or in the second one, whichever has the chain. */
static void so_may_one_in_the_other_copy(void **state)
{
    check_departures(state,
                     &(struct departure){3, 1, STACK_IN_PLACE + 1, STACK_IN_PLACE + 1, 2, 40});
}

static void check_a_long_chain(enum kind of)
{
    struct stack_chain chain;

    kind = of;
    for (uint32_t i = 0; i < 150000; i++) {
        push(32, 1 + i % 50);
        assert_true(note());
    }
    assert_int_equal(thread.peak.copies[0].block_count, STACK_MOST_BLOCKS);
    read_chain(&chain);
    assert_int_equal(chain.count, 150000);
    assert_int_equal(chain.outer, STACK_OUTER);
    assert_int_equal(chain.inner, STACK_INNER - 1); /* nothing vouches for the ring's first */
    for (uint32_t i = 0; i < chain.outer; i++)
        assert_true(is_call(stack_chain_entry(&chain, i), &calls[i]));
    for (uint32_t i = chain.count - chain.inner; i < chain.count; i++)
        assert_true(is_call(stack_chain_entry(&chain, i), &calls[i]));
    stack_chain_free(&chain);

    pop(149000);
    push(149001 * 32, 60);
    assert_true(note());
    assert_noted();
}

static void of_a_long_chain_both_ends_are_kept(void **state)
{
    (void)state;
    check_a_long_chain(RECORDS);
}

static void so_are_those_of_frames(void **state)
{
    (void)state;
    check_a_long_chain(FRAMES);
}

static void a_full_trace_still_has_the_peak(void **state)
{
    struct stack_chain chain;

    (void)state;
    block_limit = 1;
    for (uint32_t i = 0; i < STACK_BLOCK_ENTRIES + 100; i++) {
        push(32, 1);
        assert_true(note());
    }
    read_chain(&chain);
    assert_int_equal(chain.peak, (STACK_BLOCK_ENTRIES + 100) * 32);
    assert_int_equal(stack_chain_depth(&chain), STACK_BLOCK_ENTRIES * 32);
    assert_int_equal(chain.inner, STACK_BLOCK_ENTRIES);
    stack_chain_free(&chain);
}

static void a_chain_that_changed_under_the_copy_is_known_from_the_inner_end(void **state)
{
    struct stack_chain chain;

    (void)state;
    for (uint32_t i = 1; i <= 10; i++)
        push(32, i);
    note();
    read_chain(&chain);
    chain.copies[0].entries[6].node = 77;
    stack_chain_check(&chain);
    assert_int_equal(chain.count, 10);
    assert_int_equal(chain.inner, 3);
    assert_int_equal(chain.outer, 0);
    chain.copies[0].entries[9].node = 77;
    stack_chain_check(&chain);
    assert_int_equal(chain.inner, 0);
    assert_int_equal(chain.peak, 320);
    stack_chain_free(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_noted_is_nothing_known, begin, end),
        cmocka_unit_test_setup_teardown(the_deepest_chain_stays, begin, end),
        cmocka_unit_test_setup_teardown(another_call_at_the_same_place_is_another, begin, end),
        cmocka_unit_test_setup_teardown(so_is_another_frame, begin, end),
        cmocka_unit_test_setup_teardown(frames_are_told_in_either_copy, begin, end),
        cmocka_unit_test_setup_teardown(random_calls_are_noted, begin, end),
        cmocka_unit_test_setup_teardown(so_are_those_of_frames_and_records, begin, end),
        cmocka_unit_test_setup_teardown(no_chain_is_torn_at_any_instruction, begin, end),
        cmocka_unit_test_setup_teardown(nor_is_one_in_more_than_a_block, begin, end),
        cmocka_unit_test_setup_teardown(nor_is_one_of_random_frames_and_records, begin, end),
        cmocka_unit_test_setup_teardown(the_first_note_may_be_left, begin, end),
        cmocka_unit_test_setup_teardown(so_may_one_in_place, begin, end),
        cmocka_unit_test_setup_teardown(so_may_one_in_the_other_copy, begin, end),
        cmocka_unit_test_setup_teardown(of_a_long_chain_both_ends_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(so_are_those_of_frames, begin, end),
        cmocka_unit_test_setup_teardown(a_full_trace_still_has_the_peak, begin, end),
        cmocka_unit_test_setup_teardown(
            a_chain_that_changed_under_the_copy_is_known_from_the_inner_end, begin, end),
    };

    return cmocka_run_group_tests_name("stack", tests, prepare, NULL);
}
