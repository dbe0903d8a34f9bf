/* A trace that grows between looks, as an agent would write it: root - main - phase - leaf. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "service/slices/slice_sampler.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

enum { MAIN = 1, PHASE, LEAF, OTHER };

#define START 1000

struct fixture {
    struct trace_sample sample;
    struct slice_sampler sampler;
    uint32_t main, phase, leaf, other;
    char path[64];
    int file;
};

/* What the file is after the agent wrote what the sample has now. */
static void publish(struct fixture *fixture)
{
    int file = trace_sample_open(&fixture->sample, fixture->path);

    assert_true(file >= 0);
    if (fixture->file >= 0)
        close(fixture->file);
    fixture->file = fixture->sampler.file = file;
}

static uint32_t begun(struct fixture *fixture, uint32_t parent, uint32_t function)
{
    uint32_t node =
        trace_sample_add_node(&fixture->sample, 1, parent, 0x1000 + function, function, 1, 0);

    trace_sample_node(&fixture->sample, node)->exits = 0;
    return node;
}

static void ends(struct fixture *fixture, uint32_t index, uint64_t ticks)
{
    struct trace_node *node = trace_sample_node(&fixture->sample, index);

    node->exits++;
    node->ticks += ticks;
}

static void begin(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->file = -1;
    trace_sample_begin(&fixture->sample, 42, "x");
    trace_sample_header(&fixture->sample)->start_ticks = START;
    trace_sample_add_thread(&fixture->sample, "x");
    fixture->main = begun(fixture, trace_sample_thread(&fixture->sample, 1)->root, MAIN);
    fixture->phase = begun(fixture, fixture->main, PHASE);
    assert_true(slice_sampler_open(&fixture->sampler, -1));
    publish(fixture);
}

static void end(struct fixture *fixture)
{
    slice_sampler_close(&fixture->sampler);
    trace_sample_free(&fixture->sample);
    close(fixture->file);
}

static struct slice_entry sum_of(const struct fixture *fixture, uint32_t function)
{
    struct slice_entry sum = {1, function, 0, 0, 0};

    for (size_t i = 0; i < fixture->sampler.entry_count; i++) {
        const struct slice_entry *entry = &fixture->sampler.entries[i];
        if (entry->function != function)
            continue;
        sum.self += entry->self;
        sum.total += entry->total;
        sum.calls += entry->calls;
    }
    return sum;
}

static void look(struct fixture *fixture, uint64_t now)
{
    assert_int_equal(slice_sampler_sample(&fixture->sampler, START + now), SLICE_TAKEN);
}

/* Self, total and calls of a function in the last look. */
static void expect(const struct fixture *fixture, uint32_t function, int64_t self, int64_t total,
                   uint64_t calls)
{
    struct slice_entry sum = sum_of(fixture, function);

    assert_int_equal(sum.self, self);
    assert_int_equal(sum.total, total);
    assert_int_equal(sum.calls, calls);
}

static void open_invocations_are_credited_until_they_end(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    look(&fixture, 100);
    expect(&fixture, MAIN, 0, 0, 1); /* began: when is not known */
    look(&fixture, 200);
    expect(&fixture, MAIN, 0, 100, 0);
    expect(&fixture, PHASE, 100, 100, 0);
    ends(&fixture, fixture.phase, 260);
    publish(&fixture);
    look(&fixture, 300);
    expect(&fixture, MAIN, 100 - 160, 100, 0);
    expect(&fixture, PHASE, 160, 160, 0);
    ends(&fixture, fixture.main, 390);
    publish(&fixture);
    look(&fixture, 400);
    expect(&fixture, MAIN, 190, 190, 0); /* 100 + 100 were credited */
    end(&fixture);
}

static void callees_take_from_their_callers(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    look(&fixture, 100);
    fixture.leaf = trace_sample_add_node(&fixture.sample, 1, fixture.phase, 0x2000, LEAF, 5, 60);
    publish(&fixture);
    look(&fixture, 200);
    expect(&fixture, LEAF, 60, 60, 5);
    expect(&fixture, PHASE, 40, 100, 0);
    expect(&fixture, MAIN, 0, 100, 0);
    end(&fixture);
}

/* Here bodies are copied: PHASE and LEAF get links while the recording goes on. */
static void the_address_of_links_is_no_number_of_calls(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    look(&fixture, 100);
    fixture.leaf = trace_sample_add_node(&fixture.sample, 1, fixture.phase, 0x2000,
                                         LEAF | TRACE_FUNCTION_LEAF, 5, 60);
    trace_sample_node(&fixture.sample, fixture.leaf)->passed = 30;
    trace_sample_add_links(&fixture.sample, fixture.phase, 1);
    publish(&fixture);
    look(&fixture, 200);
    expect(&fixture, LEAF, 60, 60, 35);
    expect(&fixture, PHASE, 40, 100, 0);
    look(&fixture, 300);
    expect(&fixture, PHASE, 100, 100, 0);
    end(&fixture);
}

static void what_left_without_a_return_is_not_credited(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    look(&fixture, 100);
    fixture.other = trace_sample_add_node(&fixture.sample, 1, fixture.main, 0x3000, OTHER, 1, 30);
    publish(&fixture);
    look(&fixture, 200); /* main called another one, so phase is over */
    expect(&fixture, PHASE, 0, 0, 0);
    expect(&fixture, MAIN, 70, 100, 0);
    look(&fixture, 300);
    expect(&fixture, PHASE, 0, 0, 0);
    expect(&fixture, MAIN, 100, 100, 0);
    end(&fixture);
}

static void recursion_counts_once(void **state)
{
    struct fixture fixture;
    uint32_t inner;

    (void)state;
    begin(&fixture);
    inner = trace_sample_add_node(&fixture.sample, 1, fixture.phase, 0x2000, PHASE, 2, 50);
    trace_sample_node(&fixture.sample, inner)->exits = 2;
    publish(&fixture);
    look(&fixture, 100);
    expect(&fixture, PHASE, 0, 0, 3); /* 50 in the inner one, taken from the outer */
    end(&fixture);
}

static void growth(struct fixture *fixture, uint32_t index, uint64_t ticks)
{
    trace_sample_node(&fixture->sample, index)->ticks += ticks;
}

/* Nothing is credited, nothing taken out, and what a tail call leads to is below its caller. */
static void samples_are_of_the_context_itself(void **state)
{
    struct fixture fixture;
    uint32_t inner;

    (void)state;
    begin(&fixture);
    trace_sample_header(&fixture.sample)->timing = TRACE_TIMING_SAMPLES;
    trace_sample_header(&fixture.sample)->probe_inner = 5 << TRACE_COST_SHIFT;
    fixture.leaf = trace_sample_add_node(&fixture.sample, 1, fixture.phase,
                                         0x2000 | TRACE_SITE_TAIL, LEAF, 5, 60);
    inner = trace_sample_add_node(&fixture.sample, 1, fixture.phase, 0x2000, PHASE, 1, 7);
    growth(&fixture, fixture.main, 1);
    growth(&fixture, fixture.phase, 10);
    publish(&fixture);
    look(&fixture, 100);
    expect(&fixture, MAIN, 1, 78, 1);
    expect(&fixture, PHASE, 17, 77, 2);
    expect(&fixture, LEAF, 60, 60, 5);
    look(&fixture, 200);
    expect(&fixture, MAIN, 0, 0, 0);
    expect(&fixture, PHASE, 0, 0, 0);
    growth(&fixture, inner, 100);
    ends(&fixture, fixture.phase, 0);
    publish(&fixture);
    look(&fixture, 300);
    expect(&fixture, MAIN, 0, 100, 0);
    expect(&fixture, PHASE, 100, 100, 0);
    expect(&fixture, LEAF, 0, 0, 0);
    end(&fixture);
}

/* main's calls below its representative count for the functions, which have no total there twice.
 */
static void samples_below_a_representative_count_once(void **state)
{
    struct fixture fixture;
    uint32_t folded, representative;

    (void)state;
    begin(&fixture);
    trace_sample_header(&fixture.sample)->timing = TRACE_TIMING_SAMPLES;
    representative = trace_sample_add_node(&fixture.sample, 1, 0, TRACE_SITE_FOLDED, OTHER, 0, 0);
    folded = trace_sample_add_node(&fixture.sample, 1, fixture.phase, 0x3000, OTHER, 1, 20);
    fixture.leaf = trace_sample_add_node(&fixture.sample, 1, representative, 0x2000, LEAF, 5, 60);
    trace_sample_node(&fixture.sample, folded)->context = representative;
    publish(&fixture);
    look(&fixture, 100);
    expect(&fixture, MAIN, 0, 20, 1);
    expect(&fixture, OTHER, 20, 20, 1);
    expect(&fixture, LEAF, 60, 60, 5);
    end(&fixture);
}

static void what_is_no_trace_yet_is_nothing(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    assert_int_equal(slice_sampler_sample(&fixture.sampler, START - 1), SLICE_NOTHING);
    trace_sample_header(&fixture.sample)->used = (uint64_t)SLICE_TRACE_LIMIT + 1;
    publish(&fixture);
    assert_int_equal(slice_sampler_sample(&fixture.sampler, START + 100), SLICE_FAILED);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_invocations_are_credited_until_they_end),
        cmocka_unit_test(callees_take_from_their_callers),
        cmocka_unit_test(the_address_of_links_is_no_number_of_calls),
        cmocka_unit_test(what_left_without_a_return_is_not_credited),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(samples_are_of_the_context_itself),
        cmocka_unit_test(samples_below_a_representative_count_once),
        cmocka_unit_test(what_is_no_trace_yet_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
