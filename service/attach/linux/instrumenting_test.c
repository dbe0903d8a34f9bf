#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/attach/linux/attached_agent.h"
#include "service/attach/linux/instrumenting.h"

#include <cmocka.h>

#define AWAY 0x40000000ull

static char folder[] = "/tmp/umbra-instrumenting.XXXXXX";

/* What fails leaves the others, in whatever order they are worked on. */
static void test_each_of_many(void **state)
{
    static const char *const originals[] = {"/proc/self/status", "/proc/self/exe", "/no/file",
                                            "/proc/self/exe"};
    struct instrumenting all[4];
    char outputs[4][64];
    struct attached_agent agent;
    struct failure failure;

    (void)state;
    assert_true(attached_agent_read(&agent, &failure));
    for (size_t i = 0; i < 4; i++) {
        snprintf(outputs[i], sizeof(outputs[i]), "%s/%zu", folder, i);
        all[i] = (struct instrumenting){
            .original = originals[i], .output = outputs[i], .away = AWAY, .work = i};
    }
    instrumenting_run(all, 4, agent.path, NULL);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(all[i].is_done, i == 1 || i == 3);
        assert_int_equal(access(outputs[i], R_OK) == 0, all[i].is_done);
        unlink(outputs[i]);
    }
    assert_non_null(strstr(all[2].failure.text, "No such file"));
    assert_true(strlen(all[0].failure.text) > 0);
    attached_agent_free(&agent);
}

static void test_filters(void **state)
{
    char *filters[] = {"--include=nothing_has_this_name", "--no-such-option", NULL};
    char output[64];
    struct instrumenting one = {.original = "/proc/self/exe", .output = output, .away = AWAY};
    struct attached_agent agent;
    struct failure failure;

    (void)state;
    snprintf(output, sizeof(output), "%s/filtered", folder);
    assert_true(attached_agent_read(&agent, &failure));
    instrumenting_run(&one, 1, agent.path, filters);
    assert_false(one.is_done);
    assert_non_null(strstr(one.failure.text, "no-such-option"));
    attached_agent_free(&agent);
}

static void test_none(void **state)
{
    (void)state;
    instrumenting_run(NULL, 0, "", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_of_many),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_none),
    };
    int failed;

    if (!mkdtemp(folder))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
