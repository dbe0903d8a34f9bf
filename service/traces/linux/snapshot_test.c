/* Snapshots of traces with links, which nobody else writes to, and of one that an agent goes on
   with meanwhile. tests/snapshot.sh has programs. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "service/traces/snapshot.h"
#include "trace/trace_reader.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

struct seen {
    uint64_t nodes, calls, exits, passed;
    uint64_t blocks_ran;
};

static void count_blocks(void *user, const struct trace_block *head, const uint8_t *bytes)
{
    struct seen *seen = user;

    (void)head;
    for (uint32_t i = 0; i < TRACE_COVER_BYTES; i++)
        seen->blocks_ran += bytes[i];
}

static void count_nodes(void *user, uint32_t thread, uint32_t first, const struct trace_node *nodes,
                        uint32_t count)
{
    struct seen *seen = user;

    (void)thread;
    (void)first;
    for (uint32_t i = 0; i < count; i++) {
        if (!nodes[i].context)
            continue;
        assert_true(nodes[i].exits <= nodes[i].calls);
        seen->nodes++;
        seen->calls += nodes[i].calls;
        seen->exits += nodes[i].exits;
        seen->passed += nodes[i].passed;
    }
}

/* What readers see of a snapshot of the trace that file is. */
static struct seen snapshot_of(int file)
{
    struct seen seen = {0};
    const struct trace_visitor visitor = {
        .user = &seen, .nodes = count_nodes, .cover = count_blocks};
    struct trace_file copy;
    struct failure failure;
    char folder[] = "/tmp/umbra-snapshot-XXXXXX", path[64];
    int directory;

    assert_non_null(mkdtemp(folder));
    directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!snapshot_copy(file, "trace", directory, "copy", &failure))
        fail_msg("%s", failure.text);
    snprintf(path, sizeof(path), "%s/copy", folder);
    if (!trace_file_open(&copy, path, &failure) || !trace_file_read(&copy, &visitor, &failure))
        fail_msg("%s", failure.text);
    trace_file_close(&copy);
    unlink(path);
    close(directory);
    rmdir(folder);
    return seen;
}

static struct seen snapshot_of_sample(struct trace_sample *sample)
{
    char path[64];
    int file = trace_sample_open(sample, path);
    struct seen seen = snapshot_of(file);

    close(file);
    trace_sample_free(sample);
    return seen;
}

/* main, and what it calls through links 20 times; returns the links of main. */
static size_t begin(struct trace_sample *sample, uint32_t places, size_t *callee)
{
    uint32_t main, work;
    size_t links;

    trace_sample_begin(sample, 77, "./program");
    trace_sample_header(sample)->capacity = 1 << 24;
    trace_sample_add_thread(sample, "main");
    main = trace_sample_add_node(sample, 1, trace_sample_thread(sample, 1)->root, 0x10, 1, 1, 9);
    work = trace_sample_add_node(sample, 1, main, 0x20, 2, 3, 5);
    links = trace_sample_add_links(sample, main, places);
    *callee = trace_sample_add_links(sample, work, 0);
    trace_sample_call(sample, links, 0, *callee, 20);
    return links;
}

static void links_are_copied(void **state)
{
    struct trace_sample sample;
    struct seen seen;
    size_t links, callee;

    (void)state;
    links = begin(&sample, TRACE_LINKS_INLINE + 1, &callee);
    trace_sample_call(&sample, links, TRACE_LINKS_INLINE, callee, 30);
    trace_sample_links(&sample, callee)->entered = 100;
    seen = snapshot_of_sample(&sample);
    assert_int_equal(seen.nodes, 3);
    assert_int_equal(seen.calls, 1 + 3);
    assert_int_equal(seen.passed, 20 + 30 + 100);
}

/* It began to be written, with what is no size. */
static void a_record_that_is_not_committed_is_not_copied(void **state)
{
    struct trace_sample sample;
    struct seen seen;
    size_t callee;

    (void)state;
    begin(&sample, 1, &callee);
    *trace_sample_links(&sample, sample.links_end) =
        (struct trace_links){.count = 65535, .chunks = 65535, .entered = 1000};
    seen = snapshot_of_sample(&sample);
    assert_int_equal(seen.passed, 20);
}

/* Such as one that was committed after the nodes had been copied. */
static void links_of_a_node_that_is_not_copied_count_nothing(void **state)
{
    struct trace_sample sample;
    struct seen seen;
    uint32_t late;
    size_t links, callee, late_links;

    (void)state;
    links = begin(&sample, 3, &callee);
    late =
        trace_sample_add_node(&sample, 1, trace_sample_links(&sample, links)->node, 0x30, 3, 1, 1);
    late_links = trace_sample_add_links(&sample, late, 1);
    trace_sample_call(&sample, links, 1, late_links, 400);
    trace_sample_call_node(&sample, links, 2, late, 500);
    trace_sample_call(&sample, late_links, 0, callee, 7);
    trace_sample_node(&sample, late)->context = 0;
    seen = snapshot_of_sample(&sample);
    assert_int_equal(seen.nodes, 3);
    assert_int_equal(seen.passed, 20 + 7);
}

#define CONTEXTS 20000u

/* A trace in shared memory, with an agent that makes one context after another, each called from
   the one before it through a link, a hundred times. */
struct agent {
    unsigned char *trace;
    atomic_bool has_ended;
    uint64_t calls; /* through links */
};

static unsigned char *take_block(struct agent *agent, uint32_t kind)
{
    struct trace_header *header = (struct trace_header *)agent->trace;
    struct trace_block *block = (struct trace_block *)(agent->trace + header->used);

    block->thread = 1;
    block->used = TRACE_BLOCK_UNITS;
    __atomic_store_n(&header->used, header->used + TRACE_BLOCK_SIZE, __ATOMIC_RELEASE);
    __atomic_store_n(&block->kind, kind, __ATOMIC_RELEASE);
    return (unsigned char *)(block + 1);
}

static void add_context(struct agent *agent, struct trace_node *node, uint32_t parent,
                        struct trace_links *links)
{
    uint32_t index = (uint32_t)(((unsigned char *)node - agent->trace) / TRACE_UNIT);

    *node = (struct trace_node){.site = 0x10, .parent = parent, .function = 1};
    __atomic_store_n(&node->context, index, __ATOMIC_RELEASE);
    __atomic_store_n(&node->calls, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&node->exits, 1, __ATOMIC_RELEASE);
    links->count = 1;
    __atomic_store_n(&links->node, index, __ATOMIC_RELEASE);
    __atomic_store_n(&node->passed, TRACE_SAMPLE_BASE + ((unsigned char *)links - agent->trace),
                     __ATOMIC_RELEASE);
}

static void call_often(struct agent *agent, struct trace_link *link, uint64_t callee)
{
    link->callee = callee;
    for (int32_t i = 1; i <= 100; i++, agent->calls++)
        __atomic_store_n(&link->word, i, __ATOMIC_RELEASE);
}

static void *run_agent(void *argument)
{
    uint32_t record = sizeof(struct trace_links) + sizeof(struct trace_link);
    struct agent *agent = argument;
    struct trace_node *nodes = NULL;
    struct trace_links *links, *before = NULL;
    unsigned char *next = NULL, *end = NULL;
    uint32_t parent = 0, room = 0;

    for (uint32_t i = 0; i < CONTEXTS; i++) {
        if (!room) {
            nodes = (struct trace_node *)take_block(agent, TRACE_BLOCK_NODES);
            room = TRACE_BLOCK_UNITS - 1;
        }
        if ((size_t)(end - next) < record) {
            next = take_block(agent, TRACE_BLOCK_LINKS);
            end = next + TRACE_BLOCK_SIZE - TRACE_UNIT;
        }
        links = (struct trace_links *)next;
        next += record;
        add_context(agent, nodes, parent, links);
        parent = nodes->context;
        if (before)
            call_often(agent, &before->links[0],
                       TRACE_SAMPLE_BASE + (uint64_t)((unsigned char *)links - agent->trace));
        before = links;
        nodes++;
        room--;
    }
    agent->has_ended = true;
    return NULL;
}

static void a_trace_that_is_written_to_is_whole(void **state)
{
    struct trace_sample sample;
    struct agent agent = {0};
    struct seen seen, before = {0};
    pthread_t thread;
    char path[64];
    int file;

    (void)state;
    trace_sample_begin(&sample, 77, "./program");
    trace_sample_header(&sample)->capacity = 1 << 23;
    trace_sample_header(&sample)->base = TRACE_SAMPLE_BASE;
    file = trace_sample_open(&sample, path);
    assert_int_equal(ftruncate(file, 1 << 23), 0);
    agent.trace = mmap(NULL, 1 << 23, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(agent.trace, MAP_FAILED);
    assert_int_equal(pthread_create(&thread, NULL, run_agent, &agent), 0);
    for (int i = 0; i < 20 || !agent.has_ended; i++) {
        seen = snapshot_of(file);
        assert_true(seen.nodes >= before.nodes && seen.passed >= before.passed);
        assert_true(seen.passed <= 100 * seen.nodes);
        before = seen;
    }
    pthread_join(thread, NULL);
    seen = snapshot_of(file);
    assert_int_equal(seen.nodes, CONTEXTS);
    assert_int_equal(seen.passed, agent.calls);
    munmap(agent.trace, 1 << 23);
    close(file);
    trace_sample_free(&sample);
}

static void cover_is_copied_from_the_end_of_the_memory(void **state)
{
    struct trace_block cover = {
        .kind = TRACE_BLOCK_COVER, .used = TRACE_BLOCK_UNITS, .function = 1};
    struct trace_sample sample;
    char path[64];
    int file;

    (void)state;
    trace_sample_begin(&sample, 77, "./program");
    trace_sample_header(&sample)->capacity = 1 << 20;
    trace_sample_header(&sample)->cover = 2 * TRACE_BLOCK_SIZE;
    file = trace_sample_open(&sample, path);
    assert_int_equal(ftruncate(file, 1 << 20), 0);
    for (off_t at = (1 << 20) - 2 * TRACE_BLOCK_SIZE; at < 1 << 20; at += TRACE_BLOCK_SIZE) {
        assert_int_equal(pwrite(file, &cover, sizeof(cover), at), sizeof(cover));
        assert_int_equal(pwrite(file, "\1\1", 2, at + TRACE_UNIT), 2);
    }
    assert_int_equal(snapshot_of(file).blocks_ran, 4);
    close(file);
    trace_sample_free(&sample);
}

static void cover_out_of_bounds_is_not_copied(void **state)
{
    const uint64_t covers[] = {100, 1 << 20, UINT64_MAX - TRACE_BLOCK_SIZE + 1};

    (void)state;
    for (size_t i = 0; i < sizeof(covers) / sizeof(*covers); i++) {
        struct trace_sample sample;
        char path[64];
        int file;

        trace_sample_begin(&sample, 77, "./program");
        trace_sample_header(&sample)->capacity = 1 << 20;
        trace_sample_header(&sample)->cover = covers[i];
        file = trace_sample_open(&sample, path);
        assert_int_equal(ftruncate(file, 1 << 20), 0);
        assert_int_equal(snapshot_of(file).blocks_ran, 0);
        close(file);
        trace_sample_free(&sample);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cover_is_copied_from_the_end_of_the_memory),
        cmocka_unit_test(cover_out_of_bounds_is_not_copied),
        cmocka_unit_test(links_are_copied),
        cmocka_unit_test(a_record_that_is_not_committed_is_not_copied),
        cmocka_unit_test(links_of_a_node_that_is_not_copied_count_nothing),
        cmocka_unit_test(a_trace_that_is_written_to_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
