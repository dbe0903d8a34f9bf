/* Calls that links count, as the reader of traces hands them over: main (69) calls work, a leaf and
   itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/link_sums.h"
#include "trace/trace_reader.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

struct calls {
    struct trace_sample sample;
    uint32_t main, work, leaf;
    size_t main_links, work_links;
};

static void begin(struct calls *calls, uint32_t places)
{
    struct trace_sample *sample = &calls->sample;

    trace_sample_begin(sample, 77, "./program");
    trace_sample_add_thread(sample, "main");
    calls->main =
        trace_sample_add_node(sample, 1, trace_sample_thread(sample, 1)->root, 0x10, 1, 1, 100);
    calls->work = trace_sample_add_node(sample, 1, calls->main, 0x20, 2, 3, 50);
    calls->leaf =
        trace_sample_add_node(sample, 1, calls->main, 0x30, 3 | TRACE_FUNCTION_LEAF, 2, 10);
    trace_sample_node(sample, calls->leaf)->passed = 40;
    calls->main_links = trace_sample_add_links(sample, calls->main, places);
    calls->work_links = trace_sample_add_links(sample, calls->work, 0);
}

/* What is handed over. */
struct seen {
    struct trace_node nodes[1024]; /* by index */
    uint64_t instructions[1024];
};

static void keep_nodes(void *user, uint32_t thread, uint32_t first, const struct trace_node *nodes,
                       uint32_t count)
{
    struct seen *seen = user;

    (void)thread;
    for (uint32_t i = 0; i < count; i++)
        seen->nodes[first + i] = nodes[i];
}

static void keep_instructions(void *user, uint32_t node, uint64_t count)
{
    struct seen *seen = user;

    seen->instructions[node] += count;
}

/* Frees the sample. False with failure filled in. */
static bool read_calls(struct calls *calls, struct seen *seen, struct failure *failure)
{
    const struct trace_visitor visitor = {
        .user = seen, .nodes = keep_nodes, .instructions = keep_instructions};
    struct trace_file file;
    char path[64];
    int fd = trace_sample_open(&calls->sample, path);
    bool is_read;

    memset(seen, 0, sizeof(*seen));
    assert_true(trace_file_open(&file, path, failure));
    is_read = trace_file_read(&file, &visitor, failure);
    trace_file_close(&file);
    close(fd);
    trace_sample_free(&calls->sample);
    return is_read;
}

static void expect_passed(struct calls *calls, uint64_t main, uint64_t work, uint64_t leaf)
{
    struct seen seen;
    struct failure failure;

    if (!read_calls(calls, &seen, &failure))
        fail_msg("%s", failure.text);
    assert_int_equal(seen.nodes[calls->main].passed, main);
    assert_int_equal(seen.nodes[calls->work].passed, work);
    assert_int_equal(seen.nodes[calls->leaf].passed, leaf);
    assert_int_equal(seen.nodes[calls->work].calls, 3);
}

static void expect_refusal(struct calls *calls, const char *words)
{
    struct seen seen;
    struct failure failure;

    assert_false(read_calls(calls, &seen, &failure));
    if (!strstr(failure.text, words))
        fail_msg("expected \"%s\" in \"%s\"", words, failure.text);
}

static void an_address_is_no_number_of_calls(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 2);
    expect_passed(&calls, 0, 0, 40);
}

static void calls_through_links_are_added(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 4);
    trace_sample_call(&calls.sample, calls.main_links, 0, calls.work_links, 1000);
    trace_sample_call(&calls.sample, calls.main_links, 1, calls.work_links, 500);
    trace_sample_call_node(&calls.sample, calls.main_links, 2, calls.leaf, 60);
    trace_sample_call(&calls.sample, calls.main_links, 3, calls.main_links, 7);
    trace_sample_links(&calls.sample, calls.work_links)->entered = 20;
    expect_passed(&calls, 7, 1520, 100);
}

static void links_in_chunks_are_added(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, TRACE_LINKS_INLINE + 3 * TRACE_LINKS_CHUNK + 1);
    for (uint32_t place = 0; place <= TRACE_LINKS_INLINE + 3 * TRACE_LINKS_CHUNK; place++)
        trace_sample_call(&calls.sample, calls.main_links, place, calls.work_links, 10);
    expect_passed(&calls, 0, 10 * (64 + 3 * 32 + 1), 40);
}

static void a_link_counts_modulo_2_to_32(void **state)
{
    struct calls calls;
    struct trace_link *link;

    (void)state;
    begin(&calls, 1);
    trace_sample_call(&calls.sample, calls.main_links, 0, calls.work_links, 5);
    link = trace_sample_link(&calls.sample, calls.main_links, 0);
    link->armed = 0x10; /* was armed at 2^32 - 6 with 0x16 */
    link->word = -0x0f;
    expect_passed(&calls, 0, 1, 40);
    begin(&calls, 1);
    trace_sample_call(&calls.sample, calls.main_links, 0, calls.work_links, 0x7ffffff0);
    expect_passed(&calls, 0, 0x7ffffff0, 40);
}

static void that_it_counts_jumps_is_no_call(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 1);
    trace_sample_call(&calls.sample, calls.main_links, 0, calls.work_links, 5);
    trace_sample_link(&calls.sample, calls.main_links, 0)->armed |= TRACE_LINK_JUMP;
    expect_passed(&calls, 0, 5, 40);
}

/* Words of a site that calls by a pointer: targets, and where to go on. */
static void what_leads_nowhere_says_nothing(void **state)
{
    static const uint64_t nowhere[] = {
        0x401000,                         /* code */
        0,                                /* not called yet */
        TRACE_SAMPLE_BASE,                /* the header */
        TRACE_SAMPLE_BASE | 1,            /* the header, as a node */
        TRACE_SAMPLE_BASE + 4096 + 64,    /* a thread's record */
        TRACE_SAMPLE_BASE + (1ull << 30), /* behind the end */
        TRACE_SAMPLE_BASE + 4096 + 64 * 5 + 8 + 1,
        UINT64_MAX,
    };
    struct calls calls;

    (void)state;
    begin(&calls, 10);
    for (uint32_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
        *trace_sample_link(&calls.sample, calls.main_links, i) =
            (struct trace_link){nowhere[i], 3, 4};
    /* in a record, and where none has begun yet */
    trace_sample_call(&calls.sample, calls.main_links, 8, calls.main_links + 32, 9);
    trace_sample_call(&calls.sample, calls.main_links, 9, calls.sample.links_end, 9);
    expect_passed(&calls, 0, 0, 40);
}

static void a_record_that_is_not_committed_ends_its_block(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 1);
    trace_sample_call(&calls.sample, calls.main_links, 0, calls.work_links, 1000);
    trace_sample_links(&calls.sample, calls.work_links)->node = 0;
    expect_passed(&calls, 0, 0, 40);
}

/* A file that is cut, or a snapshot without the node, has such links. */
static void links_of_nodes_that_are_not_there_are_passed_over(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 1);
    trace_sample_call_node(&calls.sample, calls.main_links, 0, calls.leaf + 1, 1000);
    trace_sample_links(&calls.sample, calls.work_links)->node = 1000001;
    expect_passed(&calls, 0, 0, 40);
}

static void a_trace_without_a_base_has_no_links(void **state)
{
    struct calls calls;
    struct trace_links *links;

    (void)state;
    begin(&calls, 1);
    trace_sample_header(&calls.sample)->base = 0;
    links = trace_sample_links(&calls.sample, calls.main_links);
    links->entered = 10;
    expect_passed(&calls, TRACE_SAMPLE_BASE + calls.main_links,
                  TRACE_SAMPLE_BASE + calls.work_links, 40);
}

/* What it calls is another's, and its `entered` is no number of calls. */
static void a_frame_without_a_context_was_not_called(void **state)
{
    struct calls calls;
    struct trace_links *adopted;

    (void)state;
    begin(&calls, 1);
    adopted =
        trace_sample_links(&calls.sample, trace_sample_add_links(&calls.sample, calls.main, 0));
    adopted->flags = TRACE_LINKS_ADOPTED;
    adopted->entered = 0x7fff12345670;
    expect_passed(&calls, 0, 0, 40);
}

static void instructions_of_all_records_are_added(void **state)
{
    struct calls calls;
    struct seen seen;
    struct failure failure;
    struct trace_links *main;

    (void)state;
    begin(&calls, TRACE_LINKS_INLINE + 1);
    main = trace_sample_links(&calls.sample, calls.main_links);
    main->instructions = 1000;
    ((struct trace_links *)((char *)main + trace_links_size(main)))->instructions = 30;
    trace_sample_links(&calls.sample, calls.work_links)->instructions = (uint64_t)-3;
    trace_sample_links(&calls.sample, trace_sample_add_links(&calls.sample, calls.work, 0))
        ->instructions = 8;
    assert_true(read_calls(&calls, &seen, &failure));
    assert_int_equal(seen.instructions[calls.main], 1030);
    assert_int_equal(seen.instructions[calls.work], 5);
    assert_int_equal(seen.instructions[calls.leaf], 0);
}

static void a_record_of_no_node_is_refused(void **state)
{
    static const uint32_t nodes[] = {1, 63, 64, 128, 1u << 31};
    struct calls calls;

    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        begin(&calls, 1);
        trace_sample_links(&calls.sample, calls.main_links)->node = nodes[i];
        expect_refusal(&calls,
                       "links record at 8256: expected the index of a node within 67108864");
    }
}

static void a_record_of_too_many_links_is_refused(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 1);
    trace_sample_links(&calls.sample, calls.main_links)->count = 65;
    expect_refusal(&calls, "links record at 8256: expected up to 64 links, found 65");
}

static void a_record_that_leaves_its_block_is_refused(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 1);
    trace_sample_links(&calls.sample, calls.main_links)->chunks = 65535;
    expect_refusal(&calls,
                   "links record at 8256: expected it to end within its block of 4032 bytes "
                   "more, found 524336 bytes");
}

static void a_chunk_among_the_first_links_is_refused(void **state)
{
    struct calls calls;

    (void)state;
    begin(&calls, 1);
    trace_sample_links(&calls.sample, calls.main_links)->first = 3;
    expect_refusal(&calls,
                   "expected the first link or one behind 64, without chunks, found 3 with 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_no_number_of_calls),
        cmocka_unit_test(calls_through_links_are_added),
        cmocka_unit_test(links_in_chunks_are_added),
        cmocka_unit_test(a_link_counts_modulo_2_to_32),
        cmocka_unit_test(that_it_counts_jumps_is_no_call),
        cmocka_unit_test(what_leads_nowhere_says_nothing),
        cmocka_unit_test(a_record_that_is_not_committed_ends_its_block),
        cmocka_unit_test(links_of_nodes_that_are_not_there_are_passed_over),
        cmocka_unit_test(a_trace_without_a_base_has_no_links),
        cmocka_unit_test(a_frame_without_a_context_was_not_called),
        cmocka_unit_test(instructions_of_all_records_are_added),
        cmocka_unit_test(a_record_of_no_node_is_refused),
        cmocka_unit_test(a_record_of_too_many_links_is_refused),
        cmocka_unit_test(a_record_that_leaves_its_block_is_refused),
        cmocka_unit_test(a_chunk_among_the_first_links_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
