#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/tool/options.h"

#include <cmocka.h>

#define PARSE(options, ...) parse(options, (char *[]){"call_trace_service", __VA_ARGS__, NULL})

static bool parse(struct options *options, char **argv)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    return options_parse(options, argc, argv);
}

static void test_defaults(void **state)
{
    struct options options;

    (void)state;
    unsetenv("UMBRA_INSTANCE_ID");
    assert_true(PARSE(&options, "start"));
    assert_int_equal(options.verb, VERB_START);
    assert_string_equal(options.recording.trace_dir, "traces");
    assert_string_equal(options.instance, "default");
    assert_int_equal(options.recording.max_trace_size, 1ull << 30);
    assert_int_equal(options.recording.samples, 1000);
    assert_null(options.command);
}

static void test_each_verb_has_its_options(void **state)
{
    struct options options;

    (void)state;
    assert_true(PARSE(&options, "start", "--paused", "--log-file=log"));
    assert_true(options.recording.is_paused);
    assert_string_equal(options.recording.log_file, "log");
    assert_true(PARSE(&options, "list", "--json"));
    assert_true(options.as_json);
    assert_true(PARSE(&options, "snapshot", "--pid=7", "--output=x"));
    assert_int_equal(options.pid, 7);
    assert_true(PARSE(&options, "top", "--interval=0.5", "--count=3"));
    assert_int_equal(options.interval_ms, 500);
    assert_int_equal(options.times, 3);
    assert_true(PARSE(&options, "spawn", "--quiet"));
    assert_true(options.is_quiet);
    assert_false(PARSE(&options, "start", "--quiet", "--verbose"));
    assert_true(PARSE(&options, "detach", "4711"));
    assert_int_equal(options.attached, 4711);
    assert_string_equal(options.instance, "attach-4711");
    assert_false(PARSE(&options, "detach"));
    assert_false(PARSE(&options, "detach", "4711", "--include=x"));
    assert_true(PARSE(&options, "unhook", "4711", "lua_*", "main"));
    assert_int_equal(options.attached, 4711);
    assert_string_equal(options.patterns[0], "lua_*");
    assert_string_equal(options.patterns[1], "main");
    assert_null(options.patterns[2]);
    assert_false(PARSE(&options, "hook", "4711"));
    assert_false(PARSE(&options, "hook", "lua_*"));
    assert_false(PARSE(&options, "stop", "--json"));
    assert_false(PARSE(&options, "list", "--paused"));
    assert_true(PARSE(&options, "top", "--once", "--", "--path-map=/a=/b"));
    assert_string_equal(options.command[0], "--path-map=/a=/b");
    assert_string_equal(options.instance, "default");
    assert_false(PARSE(&options, "top", "--session=1"));
    assert_false(PARSE(&options, "pause", "--session=1", "--pid=2"));
    assert_false(PARSE(&options, "pause", "--session=0"));
    assert_false(PARSE(&options, "pause", "--session=-1"));
    assert_false(PARSE(&options, "top", "--interval=nan"));
    assert_false(PARSE(&options, "top", "--interval=0"));
}

static bool parse_patterns(int count)
{
    char *words[OPTIONS_MOST_FILTERS + 5] = {"call_trace_service", "unhook", "4711"};
    struct options options;

    for (int i = 0; i < count; i++)
        words[3 + i] = "a";
    return options_parse(&options, 3 + count, words);
}

static void test_no_pattern_is_passed_over(void **state)
{
    (void)state;
    assert_true(parse_patterns(OPTIONS_MOST_FILTERS));
    assert_false(parse_patterns(OPTIONS_MOST_FILTERS + 1));
}

static void test_command_is_taken_as_it_is(void **state)
{
    struct options options;

    (void)state;
    assert_true(PARSE(&options, "start", "--verbose", "--", "sh", "-c", "--", "--help"));
    assert_true(options.recording.is_verbose);
    assert_string_equal(options.command[0], "sh");
    assert_string_equal(options.command[2], "--");
    assert_string_equal(options.command[3], "--help");
}

static void test_a_command_has_its_own_instance(void **state)
{
    struct options options;

    (void)state;
    setenv("UMBRA_INSTANCE_ID", "outer", 1);
    assert_true(PARSE(&options, "start", "--", "true"));
    assert_true(!strncmp(options.instance, "run-", 4));
    assert_true(PARSE(&options, "start", "--instance-id=mine", "--", "true"));
    assert_string_equal(options.instance, "mine");
    assert_true(PARSE(&options, "status"));
    assert_string_equal(options.instance, "outer");
    unsetenv("UMBRA_INSTANCE_ID");
}

static void test_wrong_usage(void **state)
{
    struct options options;

    (void)state;
    assert_false(PARSE(&options, NULL));
    assert_false(PARSE(&options, "begin"));
    assert_false(PARSE(&options, "start", "lua"));
    assert_false(PARSE(&options, "start", "--"));
    assert_false(PARSE(&options, "start", "--wat"));
    assert_false(PARSE(&options, "spawn", "--", "true"));
    assert_false(PARSE(&options, "stop", "--verbose"));
    assert_false(PARSE(&options, "start", "--instance-id=../x"));
    assert_false(PARSE(&options, "start", "--instance-id=.x"));
    assert_false(PARSE(&options, "start", "--node-limit=0"));
    assert_false(PARSE(&options, "start", "--node-limit=4294967296"));
    assert_false(PARSE(&options, "start", "--max-trace-size=1"));
    assert_false(PARSE(&options, "start", "--timing=rough"));
    assert_false(PARSE(&options, "stop", "--timing=exact"));
    assert_false(PARSE(&options, "start", "--timing="));
    assert_false(PARSE(&options, "start", "--max-trace-size=1T"));
    assert_false(PARSE(&options, "start", "--samples=10001"));
    assert_false(PARSE(&options, "start", "--samples=1k"));
    assert_false(PARSE(&options, "status", "--samples=1"));
    assert_true(PARSE(&options, "spawn", "--samples=0") && options.recording.samples == 0);
    assert_true(PARSE(&options, "start", "--samples=10000") && options.recording.samples == 10000);
}

static void test_timing(void **state)
{
    struct options options;

    (void)state;
    assert_true(PARSE(&options, "start"));
    assert_int_equal(options.recording.timing, TRACE_TIMING_SAMPLES);
    assert_true(PARSE(&options, "start", "--samples=0"));
    assert_int_equal(options.recording.timing, TRACE_TIMING_ADAPTIVE);
    assert_true(PARSE(&options, "start", "--timing=exact"));
    assert_int_equal(options.recording.timing, TRACE_TIMING_EXACT);
    assert_true(PARSE(&options, "start", "--mode=calltrace"));
    assert_int_equal(options.recording.timing, TRACE_TIMING_EXACT);
    assert_false(PARSE(&options, "start", "--mode=calltrace", "--timing=adaptive"));
    assert_false(PARSE(&options, "start", "--mode=calltrace", "--timing=none"));
}

static void test_no_times(void **state)
{
    struct options options;

    (void)state;
    assert_true(PARSE(&options, "start", "--timing=none"));
    assert_int_equal(options.recording.timing, TRACE_TIMING_NONE);
    assert_int_equal(options.recording.slices, 0);
    assert_int_equal(options.recording.samples, 0);
    assert_true(PARSE(&options, "start", "--timing=none", "--slices=0", "--samples=0"));
    assert_false(PARSE(&options, "start", "--timing=none", "--slices=10"));
    assert_false(PARSE(&options, "start", "--timing=none", "--samples=10"));
    assert_true(PARSE(&options, "start", "--timing=samples", "--samples=250"));
    assert_int_equal(options.recording.timing, TRACE_TIMING_SAMPLES);
    assert_int_equal(options.recording.samples, 250);
    assert_int_equal(options.recording.slices, OPTIONS_DEFAULT_SLICES);
    assert_false(PARSE(&options, "start", "--timing=samples", "--samples=0"));
    assert_false(PARSE(&options, "start", "--timing=samples", "--samples=no"));
    assert_true(PARSE(&options, "start", "--timing=samples", "--samples=timer"));
    assert_int_equal(options.recording.sample_source, SAMPLE_SOURCE_TIMER);
    assert_int_equal(options.recording.samples, 1000);
    assert_true(PARSE(&options, "start", "--timing=samples", "--samples=perf"));
    assert_int_equal(options.recording.sample_source, SAMPLE_SOURCE_PERF);
    assert_true(PARSE(&options, "start", "--samples=timer"));
    assert_false(PARSE(&options, "start", "--samples=timer", "--timing=adaptive"));
    assert_true(PARSE(&options, "start", "--samples=no") && options.recording.samples == 0);
    assert_true(PARSE(&options, "start", "--timing=samples", "--slices=10"));
    assert_int_equal(options.recording.slices, 10);
    assert_false(PARSE(&options, "start", "--mode=calltrace", "--timing=samples"));
}

static void test_sizes(void **state)
{
    struct options options;

    (void)state;
    assert_true(PARSE(&options, "start", "--max-trace-size=64k"));
    assert_int_equal(options.recording.max_trace_size, 65536);
    assert_true(PARSE(&options, "start", "--max-trace-size=256G"));
    assert_int_equal(options.recording.max_trace_size, 256ull << 30);
    assert_false(PARSE(&options, "start", "--max-trace-size=257G"));
    assert_false(PARSE(&options, "start", "--slices=1"));
    assert_true(PARSE(&options, "start", "--node-limit=4294967295"));
    assert_int_equal(options.recording.node_limit, UINT32_MAX);
    assert_true(PARSE(&options, "start", "--mode=calltrace", "--ring-size=4G",
                      "--max-events-size=99999999999999999999"));
    assert_int_equal(options.recording.events.ring_size, 4ull << 30);
    assert_int_equal(options.recording.events.disk_size, UINT64_MAX / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_each_verb_has_its_options),
        cmocka_unit_test(test_no_pattern_is_passed_over),
        cmocka_unit_test(test_command_is_taken_as_it_is),
        cmocka_unit_test(test_a_command_has_its_own_instance),
        cmocka_unit_test(test_wrong_usage),
        cmocka_unit_test(test_timing),
        cmocka_unit_test(test_no_times),
        cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
