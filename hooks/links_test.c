/* Links of contexts: where they are in the trace, and what is counted where. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/links.h"
#include "hooks/session.h"
#include "trace/image_manifest.h"

#include <cmocka.h>

#define NODE_BLOCKS 8 /* the header's among them */
#define MOST_BLOCKS 64
#define MOST_NODES  (NODE_BLOCKS * TRACE_BLOCK_UNITS - 1)

struct session session;
static char trace[(NODE_BLOCKS + MOST_BLOCKS) * TRACE_BLOCK_SIZE] __attribute__((aligned(4096)));
static uint32_t block_count, block_limit, node_count;
static struct thread thread;
static struct trace_thread entry = {.ordinal = 7};
static struct trace_header header;

struct trace_block *session_block(uint32_t ordinal)
{
    struct trace_block *block;

    if (block_count == block_limit)
        return NULL;
    block = (struct trace_block *)(trace + (NODE_BLOCKS + block_count++) * TRACE_BLOCK_SIZE);
    block->thread = ordinal;
    block->used = 1;
    return block;
}

void block_commit(struct trace_block *block, enum trace_block_kind kind)
{
    assert_int_equal(block->kind, 0);
    block->kind = kind;
}

uint32_t trace_index(const void *unit)
{
    return (uint32_t)(((const char *)unit - trace) / TRACE_UNIT);
}

static int begin(void **state)
{
    (void)state;
    memset(trace, 0, sizeof(trace));
    memset(&header, 0, sizeof(header));
    thread = (struct thread){.entry = &entry, .trace = trace};
    session = (struct session){.header = &header, .trace = trace, .is_adaptive = true};
    block_count = node_count = 0;
    block_limit = MOST_BLOCKS;
    return 0;
}

/* A context, in front of the blocks. */
static struct trace_node *node_of(uint32_t function)
{
    struct trace_node *node = (struct trace_node *)(trace + TRACE_UNIT) + node_count++;

    assert_true(node_count <= MOST_NODES);
    node->function = function;
    return node;
}

static struct frame_key key_of(uint32_t links)
{
    return (struct frame_key){.key = 0xabc000 + links, .links = links};
}

static struct trace_links *make(struct trace_node *node, uint32_t count)
{
    struct frame_key key = key_of(count);

    return links_of(&thread, node, &key);
}

static const struct trace_block *block_at(uint32_t number)
{
    return (const struct trace_block *)(trace + (NODE_BLOCKS + number) * TRACE_BLOCK_SIZE);
}

/* Records in a block, found as trace_format.h says. */
static uint32_t count_records(uint32_t number)
{
    const char *at = (const char *)block_at(number) + TRACE_UNIT;
    const char *end = (const char *)block_at(number) + TRACE_BLOCK_SIZE;
    uint32_t count = 0;

    for (; (uint64_t)(end - at) >= sizeof(struct trace_links); count++) {
        const struct trace_links *links = (const struct trace_links *)at;

        if (!links->node)
            break;
        assert_true(trace_links_size(links) <= (uint64_t)(end - at));
        at += trace_links_size(links);
    }
    return count;
}

static void a_context_has_its_links_once(void **state)
{
    struct trace_node *node = node_of(3), *other = node_of(4);
    struct trace_links *links = make(node, 5);

    (void)state;
    assert_non_null(links);
    assert_ptr_equal(links, make(node, 5));
    assert_int_equal(links->key, 0xabc005);
    assert_int_equal(links->node, trace_index(node));
    assert_ptr_equal(links_node(&thread, links), node);
    assert_int_equal(links->count, 5);
    assert_int_equal(links->first, 0);
    assert_int_equal(links->chunks, 0);
    assert_int_equal(node->passed, (uint64_t)links);
    assert_ptr_not_equal(make(other, 5), links);
    assert_int_equal(block_at(0)->kind, TRACE_BLOCK_LINKS);
    assert_int_equal(block_at(0)->thread, 7);
    assert_int_equal(block_at(0)->used, TRACE_BLOCK_UNITS);
    assert_int_equal(header.base, (uint64_t)trace);
    assert_int_equal(count_records(0), 2);
}

/* All that links_at leads to lie apart from one another, in records that are as long. */
static void assert_apart(struct trace_links *links, uint32_t count)
{
    struct trace_link **places = calloc(count, sizeof(*places));

    for (uint32_t i = 0; i < count; i++) {
        places[i] = links_at(&thread, links, i);
        assert_non_null(places[i]);
        assert_int_equal(places[i]->callee, 0);
        assert_int_equal(places[i]->word, 0);
        places[i]->callee = i + 1;
        places[i]->word = -1;
        places[i]->armed = UINT32_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_ptr_equal(links_at(&thread, links, i), places[i]);
        assert_int_equal(places[i]->callee, i + 1);
    }
    free(places);
}

static void each_number_has_a_link(void **state)
{
    static const uint32_t counts[] = {1, 4, 63, 64, 65, 95, 96, 97, 128, 129, 2000};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        struct trace_links *links = make(node_of(1), counts[i]);

        assert_apart(links, counts[i]);
        assert_int_equal(links->count, counts[i] < 64 ? counts[i] : 64);
        assert_int_equal(links->chunks, counts[i] < 64 ? 0 : (counts[i] - 64 + 31) / 32);
    }
}

static void chunks_come_when_they_are_first_used(void **state)
{
    struct trace_node *node = node_of(1);
    struct trace_links *links = make(node, 130), *chunk;
    const uint64_t *chunks = (const uint64_t *)&links->links[TRACE_LINKS_INLINE];

    (void)state;
    assert_int_equal(count_records(0), 1);
    assert_int_equal(chunks[0] | chunks[1] | chunks[2], 0);
    assert_non_null(links_at(&thread, links, 97));
    assert_int_equal(count_records(0), 2);
    assert_int_equal(chunks[0] | chunks[2], 0);
    chunk = (struct trace_links *)chunks[1];
    assert_int_equal(chunk->first, 96);
    assert_int_equal(chunk->count, TRACE_LINKS_CHUNK);
    assert_int_equal(chunk->chunks, 0);
    assert_int_equal(chunk->node, trace_index(node));
    assert_int_equal(chunk->key, links->key);
    assert_ptr_equal(links_at(&thread, chunk, 97), links_at(&thread, links, 97));
    assert_ptr_equal(links_at(&thread, links, 97), &chunk->links[1]);
}

/* Whatever the sizes, records end within their block, and what is behind the last one is zero. */
static void records_stay_in_their_block(void **state)
{
    uint32_t made = 0, found = 0;

    (void)state;
    for (uint32_t i = 0; block_count < 4; i++) {
        struct trace_links *links = make(node_of(1), i * 37 % 90);

        made++;
        assert_int_equal((uint64_t)links % 16, 0);
        memset(links->links, 0xff, links->count * sizeof(*links->links));
    }
    for (uint32_t i = 0; i < block_count; i++)
        found += count_records(i);
    assert_int_equal(found, made);
}

static void a_record_may_end_where_its_block_does(void **state)
{
    uint32_t in_one = (TRACE_BLOCK_SIZE - TRACE_UNIT) / sizeof(struct trace_links);

    (void)state;
    for (uint32_t i = 0; i < in_one; i++)
        assert_non_null(make(node_of(1), 0));
    assert_int_equal(block_count, 1);
    assert_int_equal(count_records(0), in_one);
    assert_non_null(make(node_of(1), 0));
    assert_int_equal(block_count, 2);
    assert_int_equal(count_records(0), in_one);
    assert_int_equal(count_records(1), 1);
}

/* The rewriter gives no family more (frame_code_has_room). */
static void the_largest_record_fits_into_a_block(void **state)
{
    struct trace_links *links = make(node_of(1), 8192);

    (void)state;
    assert_true(trace_links_size(links) <= TRACE_BLOCK_SIZE - TRACE_UNIT);
    assert_non_null(links_at(&thread, links, 8191));
    assert_int_equal(count_records(0) + count_records(1), 2);
}

static void a_full_trace_has_no_links(void **state)
{
    struct trace_node *node = node_of(1);
    struct frame_key key = key_of(200);
    struct trace_links *links;

    (void)state;
    block_limit = 0;
    assert_null(links_of(&thread, node, &key));
    assert_int_equal(node->passed, 0);
    assert_int_equal(header.base, 0);
    assert_null(links_of_leaf(&thread, node, &key));
    assert_int_equal(links_calls(node), 0);
    block_limit = 1;
    links = links_of(&thread, node, &key);
    while (make(node_of(1), 0)) /* to the last byte */
        continue;
    assert_null(links_at(&thread, links, 64));
    assert_non_null(links_at(&thread, links, 63));
    block_limit = 2;
    assert_non_null(links_at(&thread, links, 64));
}

static void a_leaf_has_a_record_for_links_of_pointers(void **state)
{
    struct trace_node *node = node_of(5 | TRACE_FUNCTION_LEAF);
    struct frame_key key = {.key = 9, .index = STUB_LEAF | 5};
    struct trace_links *links = links_of_leaf(&thread, node, &key);

    (void)state;
    assert_ptr_equal(links_node(&thread, links), node);
    assert_int_equal(node->passed, 0);
    assert_int_equal(links->count, 0);
    assert_int_equal(links->key, 9);
    assert_ptr_not_equal(links_of_leaf(&thread, node, &key), links);
}

static void calls_without_a_record_are_counted(void **state)
{
    struct trace_node *node = node_of(1), *leaf = node_of(2 | TRACE_FUNCTION_LEAF);
    struct trace_links *links = make(node, 3);

    (void)state;
    node->calls = 100;
    assert_int_equal(links_calls(node), 100);
    links_count(node);
    links_count(node);
    assert_int_equal(links_calls(node), 102);
    assert_int_equal(links->entered, 2);
    assert_int_equal(node->passed, (uint64_t)links);
    leaf->calls = 7;
    links_count(leaf);
    assert_int_equal(leaf->passed, 1);
    assert_int_equal(links_calls(leaf), 8);
    assert_int_equal(trace_node_passed(&header, node), 0);
    assert_int_equal(trace_node_passed(&header, leaf), 1);
}

/* Until the first links, and with hooks in prologues alone, `passed` is a number. */
static void without_links_passed_calls_are_a_number(void **state)
{
    struct trace_node *node = node_of(1);

    (void)state;
    node->calls = 3;
    node->passed = 4;
    assert_int_equal(links_calls(node), 7);
    assert_int_equal(trace_node_passed(&header, node), 4);
}

static uint64_t through(const struct trace_link *link)
{
    return (uint32_t)link->word + link->armed;
}

/* Counts a call as copies do. False: it is the slow path's. */
static bool pass(struct trace_link *link)
{
    if (++link->word < 0)
        return true;
    link->word--;
    return false;
}

/* What is counted is counted once, wherever it is: here the slow path counts its call. */
static void assert_counts(struct trace_node *node, uint32_t first, uint32_t fast)
{
    struct trace_links *links = make(node_of(1), 1);
    struct trace_link *link = links_at(&thread, links, 0);
    uint64_t before = links_calls(node);

    node->next = (uint32_t)before + first;
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t passed = 0;

        assert_false(pass(link));
        link_hand_on(link, node);
        assert_int_equal(through(link), 0);
        links_count(node);
        link_arm(link, node);
        assert_int_equal(through(link), 0);
        while (pass(link)) {
            passed++;
            assert_int_equal(through(link), passed);
        }
        assert_int_equal(passed, fast);
        assert_int_equal(through(link), fast);
        node->next += fast + 1;
    }
    link_hand_on(link, node);
    assert_int_equal(links_calls(node), before + 3 * (1 + fast));
}

static void a_link_takes_the_slow_path_when_a_turn_comes(void **state)
{
    struct trace_node *node = node_of(1), *leaf = node_of(2 | TRACE_FUNCTION_LEAF);

    (void)state;
    make(node, 0);
    assert_counts(node, 11, 9);
    assert_counts(leaf, 11, 9);
    assert_counts(leaf, 2, 0);
    assert_counts(node, 3, 1);
    node->calls += 0xfffffff0; /* numbers are modulo 2^32 */
    assert_counts(node, 11, 9);
}

static void a_turn_that_is_past_comes_at_once(void **state)
{
    struct trace_node *node = node_of(1);
    struct trace_link link = {0};

    (void)state;
    make(node, 0);
    node->calls = 50;
    node->next = 50;
    link_arm(&link, node);
    assert_int_equal(link.word, -1);
    assert_int_equal(link.armed, 1);
    assert_false(pass(&link));
    assert_int_equal(through(&link), 0);
}

static void what_is_counted_alone_is_handed_on_before_it_runs_over(void **state)
{
    struct trace_node *node = node_of(1);
    struct trace_link link = {0};
    uint64_t calls = 50;

    (void)state;
    session.counts_only = true;
    make(node, 0);
    node->calls = calls;
    link_arm(&link, node);
    assert_int_equal(link.armed, 0x7fffffff);
    for (unsigned i = 0; i < 6; i++) {
        link.word = -1;
        assert_false(pass(&link));
        calls += link.armed - 1;
        link_hand_on(&link, node);
        assert_int_equal(links_calls(node), calls);
        link_arm(&link, node);
        assert_true(link.armed && link.armed <= 0x7fffffff);
        assert_int_equal(link.word, -(int64_t)link.armed);
    }
}

#define TRAP_FLAG  0x100
#define MOST_STEPS 2000

static int steps_left;
static sigjmp_buf left;

static const struct trace_site *sites(void)
{
    return (const struct trace_site *)(thread.sites.block + 1);
}

/* Here contexts are shared by call sites. */
static void a_link_keeps_what_it_has_counted(void **state)
{
    struct trace_node *node = node_of(5), *callee = node_of(6);
    struct trace_links *links = make(node, 4), *others;
    struct trace_link *link = links_at(&thread, links, 2);

    (void)state;
    session.counts_only = true;
    others = make(callee, 1);
    link_note_site(&thread, links, link, 0x401000);
    assert_int_equal(sites()[0].site, 0x401000);
    assert_int_equal(sites()[0].node, trace_index(node));
    assert_int_equal(sites()[0].link, ((char *)link - trace) / sizeof(*link));
    link->callee = (uint64_t)others;
    assert_int_equal(link_go_on(&thread, links, link, callee, 0x401000), 0);
    link->word += 10;
    link_is_jump(links, link);
    assert_int_equal(link_go_on(&thread, links, link, callee, 0x401000), 10);
    assert_true(link->armed & TRACE_LINK_JUMP);
    link->word += 7;
    assert_int_equal(link_calls(link), 17);
    assert_int_equal(others->entered, 0);
    link->word = -1; /* the next call comes here: 2^30 have been made since */
    assert_int_equal(link_go_on(&thread, links, link, callee, 0x401000), (1u << 30) - 1);
    assert_int_equal(link_calls(link), 0);
    assert_int_equal(others->entered, 10 + (1u << 30) - 1);
    assert_int_equal(sites()[1].link, TRACE_SITE_HANDED_ON);
    assert_int_equal(sites()[1].calls, others->entered);
    assert_int_equal(sites()[1].callee, trace_index(callee));
    link->word += 3;
    link_hand_on_from(&thread, links, link, callee, 0x401008);
    assert_int_equal(link_calls(link), 0);
    assert_int_equal(sites()[2].site, 0x401008);
    assert_int_equal(sites()[2].calls, 3);
    link_hand_on_from(&thread, links, link, callee, 0x401008); /* nothing */
    assert_int_equal(thread.sites.count, 3);
}

/* Then the place is lost, and the number is not. */
static void a_full_trace_has_no_places(void **state)
{
    struct trace_node *node = node_of(5), *callee = node_of(6);
    struct trace_links *links = make(node, 4), *others = make(callee, 1);
    struct trace_link *link = links_at(&thread, links, 0);

    (void)state;
    session.counts_only = true;
    block_limit = block_count;
    link_note_site(&thread, links, link, 0x401000);
    link_go_on(&thread, links, link, callee, 0x401000);
    link->word += 9;
    link_hand_on_from(&thread, links, link, callee, 0x401000);
    assert_int_equal(others->entered, 9);
    assert_int_equal(thread.sites.count, 0);
}

static void on_step(int number)
{
    (void)number;
    if (!steps_left--)
        siglongjmp(left, 1);
}

static void set_trap_flag(void)
{
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "memory", "cc");
}

static void clear_trap_flag(void)
{
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG) : "memory", "cc");
}

/* Whether a handler has left the making of a record of `count` links after some instructions. */
static bool is_left_after(int steps, struct trace_node *node, uint32_t count)
{
    steps_left = steps;
    if (sigsetjmp(left, 1))
        return true;
    set_trap_flag();
    make(node, count);
    clear_trap_flag();
    return false;
}

static uint32_t number_of_block(const struct trace_links *links)
{
    return (uint32_t)(((const char *)links - trace) / TRACE_BLOCK_SIZE) - NODE_BLOCKS;
}

/* Readers find it in that block. */
static bool is_of(const struct trace_links *links, uint32_t number)
{
    const char *at = (const char *)block_at(number) + TRACE_UNIT;

    while (((const struct trace_links *)at)->node && at != (const char *)links)
        at += trace_links_size((const struct trace_links *)at);
    return at == (const char *)links;
}

static void a_handler_may_leave_anywhere(void **state)
{
    struct sigaction action = {.sa_handler = on_step}, before;
    struct trace_links *links;
    bool is_left = true;
    int steps;

    (void)state;
    sigaction(SIGTRAP, &action, &before);
    for (steps = 0; is_left && steps < MOST_STEPS; steps++) {
        begin(state);
        make(node_of(1), 60);
        make(node_of(2), 60);
        make(node_of(3), 60);
        make(node_of(4), 10);
        is_left = is_left_after(steps, node_of(5), steps % 2 ? 60 : 5); /* 60: in a fresh block */
        links = make(node_of(6), 7);
        assert_int_equal(links->node, trace_index(trace + 6 * TRACE_UNIT));
        assert_int_equal(links->count, 7);
        assert_int_equal(links->first, 0);
        assert_true(is_of(links, number_of_block(links)));
        assert_true((char *)links < trace + (NODE_BLOCKS + block_count) * TRACE_BLOCK_SIZE);
        for (uint32_t i = 0; i < links->count; i++)
            assert_int_equal(links->links[i].callee, 0);
    }
    sigaction(SIGTRAP, &before, NULL);
    assert_in_range(steps, 20, MOST_STEPS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_context_has_its_links_once, begin),
        cmocka_unit_test_setup(each_number_has_a_link, begin),
        cmocka_unit_test_setup(chunks_come_when_they_are_first_used, begin),
        cmocka_unit_test_setup(records_stay_in_their_block, begin),
        cmocka_unit_test_setup(a_record_may_end_where_its_block_does, begin),
        cmocka_unit_test_setup(the_largest_record_fits_into_a_block, begin),
        cmocka_unit_test_setup(a_full_trace_has_no_links, begin),
        cmocka_unit_test_setup(a_leaf_has_a_record_for_links_of_pointers, begin),
        cmocka_unit_test_setup(calls_without_a_record_are_counted, begin),
        cmocka_unit_test_setup(without_links_passed_calls_are_a_number, begin),
        cmocka_unit_test_setup(a_link_takes_the_slow_path_when_a_turn_comes, begin),
        cmocka_unit_test_setup(a_turn_that_is_past_comes_at_once, begin),
        cmocka_unit_test_setup(what_is_counted_alone_is_handed_on_before_it_runs_over, begin),
        cmocka_unit_test_setup(a_link_keeps_what_it_has_counted, begin),
        cmocka_unit_test_setup(a_full_trace_has_no_places, begin),
        cmocka_unit_test_setup(a_handler_may_leave_anywhere, begin),
    };

    return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
