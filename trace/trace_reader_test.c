#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/trace_reader.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

struct counts {
    unsigned threads, nodes, modules, stacks;
    uint64_t calls, hits, waits, waited, sites, from_sites, timed;
};

static void count_thread(void *user, const struct trace_thread *thread)
{
    ((struct counts *)user)->threads++;
    assert_true(strlen(thread->name) < sizeof(thread->name));
}

static void count_nodes(void *user, uint32_t thread, uint32_t first, const struct trace_node *nodes,
                        uint32_t count)
{
    struct counts *counts = user;

    assert_int_not_equal(thread, 0);
    assert_in_range(first % TRACE_BLOCK_UNITS, 1, TRACE_BLOCK_UNITS - 1);
    counts->nodes += count;
    for (uint32_t i = 0; i < count; i++)
        counts->calls += nodes[i].calls;
}

static void count_module(void *user, const struct trace_module *module)
{
    ((struct counts *)user)->modules++;
    assert_int_equal(strlen(module->path) < module->path_size, 1);
}

static void count_site(void *user, uint32_t node, uint64_t site, uint64_t calls)
{
    struct counts *counts = user;

    assert_int_equal(node, 70);
    assert_in_range(site, 0x400100, 0x400200);
    counts->sites++;
    counts->from_sites += calls;
}

static void count_hit(void *user, uint32_t thread, const struct trace_hit *hit)
{
    struct counts *counts = user;

    (void)thread;
    counts->hits += hit->ns;
}

static void count_wait(void *user, uint32_t thread, const struct trace_wait *wait)
{
    struct counts *counts = user;

    assert_int_not_equal(thread, 0);
    counts->waits++;
    counts->waited += wait->ticks;
}

static void count_times(void *user, uint32_t thread, const struct trace_times *times)
{
    assert_int_equal(thread, 1);
    ((struct counts *)user)->timed = times->count;
}

static void count_stack(void *user, const struct trace_stack *stack,
                        const struct trace_stack_entry *entries)
{
    ((struct counts *)user)->stacks++;
    assert_int_not_equal(stack->thread, 0);
    assert_int_equal(stack->first % STACK_BLOCK_ENTRIES, 0);
    (void)entries;
}

/* Two threads of 100 and 1 contexts, two modules. */
static void build(struct trace_sample *sample)
{
    uint32_t parent;

    trace_sample_begin(sample, 77, "./program --fast");
    trace_sample_add_thread(sample, "main");
    trace_sample_add_module(sample, "/opt/program", 0x400000, 0x10000, 1, 50, 99);
    trace_sample_add_module(sample, "/lib/libc.so.6", 0x7f0000000000, 0x200000, 0, 0, 0);
    trace_sample_add_thread(sample, "worker");
    parent = trace_sample_thread(sample, 1)->root;
    for (uint32_t i = 1; i < 100; i++)
        parent = trace_sample_add_node(sample, 1, parent, 0x400100 + i, 1 + i % 50, i, 1000 - i);
}

static struct trace_stack *add_stack(struct trace_sample *sample)
{
    const uint32_t depths[] = {10, 20}, nodes[] = {68, 69};

    build(sample);
    return trace_sample_add_stack(sample, 1, depths, nodes, 2);
}

/* Contexts 69 and 70 call each other. Returns the links of the first. */
static size_t add_links(struct trace_sample *sample)
{
    size_t first = trace_sample_add_links(sample, 69, TRACE_LINKS_INLINE + 1);
    size_t second = trace_sample_add_links(sample, 70, 2);

    trace_sample_call(sample, first, 0, second, 30);
    trace_sample_call(sample, first, TRACE_LINKS_INLINE, second, 40);
    trace_sample_call(sample, second, 0, first, 50);
    trace_sample_call_node(sample, second, 1, 71, 60);
    return first;
}

/* What reading said. */
static bool read_sample(const struct trace_sample *sample, struct counts *counts,
                        struct trace_file *file, struct failure *failure)
{
    struct trace_visitor visitor = {.user = counts,
                                    .thread = count_thread,
                                    .nodes = count_nodes,
                                    .module = count_module,
                                    .site = count_site,
                                    .hit = count_hit,
                                    .wait = count_wait,
                                    .times = count_times,
                                    .stack = count_stack};
    char path[64];
    int fd = trace_sample_open(sample, path);
    bool is_read;

    memset(counts, 0, sizeof(*counts));
    failure->text[0] = 0;
    is_read = trace_file_open(file, path, failure);
    if (is_read) {
        is_read = trace_file_read(file, &visitor, failure);
        trace_file_close(file);
    }
    close(fd);
    assert_int_equal(is_read, failure->text[0] == 0);
    assert_null(strchr(failure->text, '\n'));
    return is_read;
}

static void expect_refusal(struct trace_sample *sample, const char *words)
{
    struct counts counts;
    struct trace_file file;
    struct failure failure;

    assert_false(read_sample(sample, &counts, &file, &failure));
    if (!strstr(failure.text, words))
        fail_msg("expected \"%s\" in \"%s\"", words, failure.text);
    trace_sample_free(sample);
}

static void a_whole_trace_is_read(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;

    (void)state;
    build(&sample);
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.threads, 2);
    assert_int_equal(counts.nodes, 101);
    assert_int_equal(counts.modules, 2);
    assert_int_equal(counts.calls, 99 * 100 / 2);
    assert_int_equal(file.missing, 0);
    assert_string_equal(file.header.command, "./program --fast");
    trace_sample_free(&sample);
}

static void a_file_longer_than_used_is_read_up_to_used(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;

    (void)state;
    build(&sample);
    trace_sample_header(&sample)->used -= TRACE_BLOCK_SIZE;
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.nodes, 60 + 1);
    assert_int_equal(file.missing, 0);
    trace_sample_free(&sample);
}

static void a_file_cut_off_gives_its_whole_blocks(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;

    (void)state;
    build(&sample);
    sample.size -= 10;
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.nodes, 60 + 1);
    assert_int_equal(file.missing, 10);
    trace_sample_free(&sample);
}

static void a_file_cut_in_its_header_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    build(&sample);
    sample.size = 100;
    expect_refusal(&sample, "cut off in its header: expected at least 4096 bytes, found 100");
}

static void another_file_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    build(&sample);
    sample.bytes[0] = 'X';
    expect_refusal(&sample, "not a trace file: expected it to begin with UMBRATRC");
}

static void another_version_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    build(&sample);
    trace_sample_header(&sample)->version = TRACE_VERSION + 1;
    expect_refusal(&sample, "expected trace version 14, found 15");
}

static void an_overfull_block_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    build(&sample);
    ((struct trace_block *)(sample.bytes + 4096))->used = 65;
    expect_refusal(&sample, "block at 4096: expected up to 64 units in use, found 65");
}

static void waits_are_read(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;
    struct trace_wait *wait;

    (void)state;
    build(&sample);
    trace_sample_add_wait(&sample, 1, 69, 3, 3000)[1] =
        (struct trace_wait){.node = 70, .count = 1, .ticks = 100, .longest = 100};
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.waits, 2);
    assert_int_equal(counts.waited, 3100);
    wait = trace_sample_add_wait(&sample, 1, 71, 1, 5);
    wait->longest = 6;
    expect_refusal(&sample, "expected the longest of 5 ticks at most, found 6");
}

static void places_of_calls_are_read(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;
    size_t links;

    (void)state;
    build(&sample);
    links = add_links(&sample);
    trace_sample_header(&sample)->timing = TRACE_TIMING_NONE;
    for (int i = 0; i < 2; i++) /* once is enough */
        trace_sample_add_site(&sample, 1, 69, 0x400100, trace_sample_link(&sample, links, 0));
    trace_sample_add_site(&sample, 1, 69, 0x400110,
                          trace_sample_link(&sample, links, TRACE_LINKS_INLINE));
    trace_sample_add_site(&sample, 1, 69, 0x400120, /* it has counted nothing */
                          trace_sample_link(&sample, links, 1));
    trace_sample_add_calls(&sample, 1, 69, 0x400100, 70, 1000);
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.sites, 3);
    assert_int_equal(counts.from_sites, 30 + 40 + 1000);
    trace_sample_header(&sample)->timing = TRACE_TIMING_ADAPTIVE; /* links have none of their own */
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.from_sites, 1000);
    trace_sample_free(&sample);
}

static void hits_are_read_up_to_one_under_way(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;
    struct trace_hit *hits;

    (void)state;
    build(&sample);
    hits = trace_sample_add_hit(&sample, 1, &(struct trace_hit){1000, 0x401000, 69, 7});
    hits[1] = (struct trace_hit){1001, 0, UINT32_MAX, 50};
    hits[2] = (struct trace_hit){0, 0x401000, 69, 300};
    hits[3] = (struct trace_hit){1003, 0x401000, 69, 1000};
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.hits, 57);
    trace_sample_free(&sample);
}

static void hits_of_no_thread_are_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    build(&sample);
    trace_sample_add_hit(&sample, 0, &(struct trace_hit){1000, 0x401000, 69, 7});
    expect_refusal(&sample, "expected samples of a thread, found thread 0");
}

static void waits_of_no_thread_are_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    build(&sample);
    trace_sample_add_wait(&sample, 0, 69, 3, 3000);
    expect_refusal(&sample, "expected waits of a thread, found thread 0");
}

/* A thread that runs on may have counted a call that is not in its bucket yet. */
static void times_of_calls_are_read(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;
    struct trace_times *times;

    (void)state;
    build(&sample);
    trace_sample_add_times(&sample, 1, 0, 0); /* not committed */
    times = trace_sample_add_times(&sample, 1, 69, 3);
    times->buckets[5] = 2;
    times->buckets[TIME_BUCKETS - 1] = 1;
    for (times->count = 3; times->count <= 4; times->count++)
        assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.timed, 4);
    expect_refusal(&sample, "expected 5 calls in its buckets, found 3");
}

static void an_unknown_block_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    build(&sample);
    ((struct trace_block *)(sample.bytes + 4096))->kind = 11;
    expect_refusal(&sample, "block at 4096: expected a kind of 1 to 10, found 11");
}

static void a_path_without_end_is_refused(void **state)
{
    struct trace_sample sample;
    struct trace_module *module;

    (void)state;
    build(&sample);
    module = (struct trace_module *)(sample.bytes + sample.module_block + TRACE_UNIT);
    module->path_size = 4000;
    expect_refusal(&sample, "found 4000 bytes");
}

static void a_stack_is_read(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;

    (void)state;
    add_stack(&sample);
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.stacks, 1);
    trace_sample_free(&sample);
}

static void a_stack_of_no_thread_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    add_stack(&sample)->thread = 0;
    expect_refusal(&sample, "expected a thread's stack, found thread 0");
}

static void a_stack_that_begins_anywhere_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    add_stack(&sample)->first = 3;
    expect_refusal(&sample, "expected a multiple of 252 below 65536 for its first entry, found 3");
}

static void a_third_copy_of_a_stack_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    add_stack(&sample)->copy = 2;
    expect_refusal(&sample, "expected a copy of 0 to 1, found 2");
}

static void a_lowest_address_outside_the_stack_is_refused(void **state)
{
    struct trace_sample sample;

    (void)state;
    add_stack(&sample)->lowest = 0x1000;
    expect_refusal(&sample, "expected a lowest address within 8388608 bytes below "
                            "140733193388032, found 4096");
}

static void blocks_not_in_use_are_passed_over(void **state)
{
    struct trace_sample sample;
    struct counts counts;
    struct trace_file file;
    struct failure failure;

    (void)state;
    build(&sample);
    memset(sample.bytes + sample.module_block, 0, TRACE_BLOCK_SIZE);
    assert_true(read_sample(&sample, &counts, &file, &failure));
    assert_int_equal(counts.modules, 0);
    trace_sample_free(&sample);
}

/* xorshift: the same damage in each run. */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void damage_is_read_or_refused(void **state)
{
    struct trace_sample sample, damaged;
    struct counts counts;
    struct trace_file file;
    struct failure failure;
    uint32_t random = 2463534242u;

    (void)state;
    add_stack(&sample);
    add_links(&sample);
    for (int round = 0; round < 3000; round++) {
        uint8_t bytes[64 * 1024];
        assert_true(sample.size <= sizeof(bytes));
        memcpy(bytes, sample.bytes, sample.size);
        damaged = sample;
        damaged.bytes = bytes;
        for (uint32_t hit = next_random(&random) % 20; hit > 0; hit--) {
            size_t at = next_random(&random) % (sample.size / 64) * 64 + next_random(&random) % 32;
            bytes[at] = (uint8_t)next_random(&random);
        }
        if (next_random(&random) % 4 == 0)
            damaged.size = next_random(&random) % sample.size;
        read_sample(&damaged, &counts, &file, &failure);
    }
    trace_sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_trace_is_read),
        cmocka_unit_test(a_file_longer_than_used_is_read_up_to_used),
        cmocka_unit_test(a_file_cut_off_gives_its_whole_blocks),
        cmocka_unit_test(a_file_cut_in_its_header_is_refused),
        cmocka_unit_test(another_file_is_refused),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(an_overfull_block_is_refused),
        cmocka_unit_test(times_of_calls_are_read),
        cmocka_unit_test(an_unknown_block_is_refused),
        cmocka_unit_test(hits_are_read_up_to_one_under_way),
        cmocka_unit_test(hits_of_no_thread_are_refused),
        cmocka_unit_test(waits_are_read),
        cmocka_unit_test(places_of_calls_are_read),
        cmocka_unit_test(waits_of_no_thread_are_refused),
        cmocka_unit_test(a_path_without_end_is_refused),
        cmocka_unit_test(a_stack_is_read),
        cmocka_unit_test(a_stack_of_no_thread_is_refused),
        cmocka_unit_test(a_stack_that_begins_anywhere_is_refused),
        cmocka_unit_test(a_third_copy_of_a_stack_is_refused),
        cmocka_unit_test(a_lowest_address_outside_the_stack_is_refused),
        cmocka_unit_test(blocks_not_in_use_are_passed_over),
        cmocka_unit_test(damage_is_read_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
