#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/events/time_line.h"
#include "grinder/profile/tree_load.h"
#include "grinder/test_traces/ground_sample.h"
#include "trace/event_chunk.h"

#include <cmocka.h>

enum { MAIN = 1, PARSE, READ };

#define START 1000 /* trace_sample_begin's start_ticks; a tick is a nanosecond */

struct recording {
    char folder[64], trace[96], events[96];
    struct trace_sample sample;
    uint32_t nodes[4]; /* by function: MAIN calls PARSE, that READ */
    struct event_segment segment;
    uint64_t words[EVENT_SEGMENT_WORDS];
    size_t count;
    FILE *file;
    char said[4096]; /* what was handed out, a word a call */
    struct time_line_facts facts[2];
};

static struct recording recording;

static int begin(void **state)
{
    struct event_file_header header = {
        .magic = EVENT_FILE_MAGIC, .version = EVENT_VERSION, .pid = 42};
    uint32_t node;

    (void)state;
    memset(&recording, 0, sizeof(recording));
    strcpy(recording.folder, "/tmp/umbra-lines-XXXXXX");
    assert_non_null(mkdtemp(recording.folder));
    snprintf(recording.trace, sizeof(recording.trace), "%s/a.bin", recording.folder);
    snprintf(recording.events, sizeof(recording.events), "%s/a.events", recording.folder);
    trace_sample_begin(&recording.sample, 42, "sample");
    trace_sample_add_thread(&recording.sample, "main");
    node = trace_sample_thread(&recording.sample, 1)->root;
    for (uint32_t i = MAIN; i <= READ; i++)
        recording.nodes[i] = node = trace_sample_add_node(&recording.sample, 1, node, 0, i, 1, 100);
    header.created_ns = trace_sample_header(&recording.sample)->created_ns;
    recording.file = fopen(recording.events, "w");
    assert_non_null(recording.file);
    fwrite(&header, sizeof(header), 1, recording.file);
    recording.segment = (struct event_segment){.thread = 1, .base = START};
    return 0;
}

static int end(void **state)
{
    (void)state;
    trace_sample_free(&recording.sample);
    unlink(recording.trace);
    unlink(recording.events);
    return rmdir(recording.folder);
}

/* What happened at ns since the start. */
static void word(uint32_t function, uint64_t flags, uint32_t ns)
{
    recording.words[recording.count++] =
        (uint64_t)recording.nodes[function] << EVENT_NODE_SHIFT | flags | ns;
}

static void entry(uint32_t function, uint32_t ns)
{
    word(function, 0, ns);
}

static void ended(uint32_t function, uint32_t ns)
{
    word(function, EVENT_END, ns);
}

/* Writes the events so far; those that come next have lost that many before them. */
static void finish_segment(uint64_t dropped)
{
    struct event_packer *packer = event_packer_new();
    const struct event_chunk *chunk;

    recording.segment.sequence++;
    chunk = event_pack(packer, &recording.segment, recording.words);
    fwrite(chunk, chunk->size, 1, recording.file);
    event_packer_free(packer);
    memset(recording.words, 0, sizeof(recording.words));
    recording.count = 0;
    recording.segment.dropped = dropped;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    size_t size = strlen(recording.said);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(recording.said + size, sizeof(recording.said) - size, format, arguments);
    va_end(arguments);
}

static const struct images *images;

static void see_begin(void *user, size_t thread, const struct tree_node *call, uint64_t ns)
{
    (void)user;
    (void)thread;
    say(" %u@%u", images->functions[call->function].index, (unsigned)ns);
}

static void see_end(void *user, size_t thread, uint64_t ns, enum time_line_end how)
{
    static const char *const words[] = {"ended", "closed", "open"};

    (void)user;
    (void)thread;
    say(" %s@%u", words[how], (unsigned)ns);
}

static void see_gap(void *user, size_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t dropped)
{
    (void)user;
    (void)thread;
    say(" lost%u@%u-%u", (unsigned)dropped, (unsigned)from_ns, (unsigned)to_ns);
}

static void write_trace(void)
{
    FILE *file = fopen(recording.trace, "w");

    assert_non_null(file);
    fwrite(recording.sample.bytes, recording.sample.size, 1, file);
    fclose(file);
    fclose(recording.file);
}

/* What is handed out between from and to. */
static void line_is(uint64_t from, uint64_t to, const char *expected)
{
    const struct time_line_visitor visitor = {NULL, see_begin, see_end, see_gap};
    const struct time_line_range range = {from, to, 0};
    struct profile profile = {.keeps_nodes = true};
    struct images all;
    struct event_totals totals;
    struct failure failure;
    struct tree tree;

    finish_segment(0);
    write_trace();
    images_begin(&all);
    images = &all;
    assert_true(tree_load_path(&tree, recording.trace, &all, &failure));
    profile_add(&profile, &tree, &all);
    assert_true(time_line_walk(&profile, 0, &range, &visitor, recording.facts, &totals, &failure));
    assert_string_equal(recording.said, expected);
    assert_true(recording.facts[0].entries ==
                recording.facts[0].ended + recording.facts[0].closed + recording.facts[0].open);
    tree_free(&tree);
    profile_free(&profile);
    images_free(&all);
}

static void calls_nest(void **state)
{
    (void)state;
    entry(MAIN, 10);
    entry(PARSE, 20);
    ended(PARSE, 30);
    ended(MAIN, 40);
    line_is(0, UINT64_MAX, " 1@10 2@20 ended@30 ended@40");
    assert_int_equal(recording.facts[0].ns, 30);
    assert_int_equal(recording.facts[0].calls, 2);
}

static void an_end_closes_what_is_above(void **state)
{
    (void)state;
    entry(MAIN, 10);
    entry(PARSE, 20);
    entry(READ, 30);
    ended(PARSE, 40);
    ended(READ, 50);
    ended(MAIN, 60);
    line_is(0, UINT64_MAX, " 1@10 2@20 3@30 closed@40 ended@40 ended@60");
    assert_int_equal(recording.facts[0].closed, 1);
    assert_int_equal(recording.facts[0].orphans, 1);
}

static void what_is_open_ends_with_the_thread(void **state)
{
    (void)state;
    ended(READ, 5);
    entry(MAIN, 10);
    entry(PARSE, 20);
    line_is(0, UINT64_MAX, " 1@10 2@20 open@20 open@20");
    assert_int_equal(recording.facts[0].open, 2);
    assert_int_equal(recording.facts[0].orphans, 1);
}

static void time_does_not_go_back(void **state)
{
    (void)state;
    entry(MAIN, 20);
    entry(PARSE, 15);
    ended(PARSE, 18);
    ended(MAIN, 30);
    line_is(0, UINT64_MAX, " 1@20 2@20 ended@20 ended@30");
}

/* parse and read ended in the gap: the next entry is below main. */
static void behind_a_gap_callers_are_looked_up(void **state)
{
    (void)state;
    entry(MAIN, 10);
    entry(PARSE, 20);
    entry(READ, 30);
    finish_segment(7);
    entry(PARSE, 50);
    ended(PARSE, 60);
    ended(MAIN, 70);
    line_is(0, UINT64_MAX,
            " 1@10 2@20 3@30 lost7@30-50 closed@50 closed@50 2@50 ended@60 ended@70");
    assert_int_equal(recording.facts[0].dropped, 7);
    assert_int_equal(recording.facts[0].gaps, 1);
}

static void calls_are_cut_to_the_range(void **state)
{
    (void)state;
    entry(MAIN, 10);
    entry(PARSE, 20);
    ended(PARSE, 30);
    entry(PARSE, 40);
    entry(READ, 50);
    ended(READ, 60);
    ended(PARSE, 70);
    ended(MAIN, 80);
    line_is(25, 55, " 1@25 2@25 ended@30 2@40 3@50 open@55 open@55 open@55");
    assert_int_equal(recording.facts[0].ns, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_nest, begin, end),
        cmocka_unit_test_setup_teardown(an_end_closes_what_is_above, begin, end),
        cmocka_unit_test_setup_teardown(what_is_open_ends_with_the_thread, begin, end),
        cmocka_unit_test_setup_teardown(time_does_not_go_back, begin, end),
        cmocka_unit_test_setup_teardown(behind_a_gap_callers_are_looked_up, begin, end),
        cmocka_unit_test_setup_teardown(calls_are_cut_to_the_range, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
