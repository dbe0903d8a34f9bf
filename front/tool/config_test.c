#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/test_ground/ended.h"
#include "front/test_ground/own_folder.h"
#include "front/tool/config.h"

#include <cmocka.h>

#define CONFIG ".config/umbra/config"

static int enter(void **state)
{
    if (own_folder_enter(state) < 0)
        return -1;
    return mkdir(".config", 0700) | mkdir(".config/umbra", 0700);
}

static void read_typed(struct config *config, enum verb verb, char **typed)
{
    config_read(config, verb, typed);
}

#define READ(config, verb, ...) read_typed(config, verb, (char *[]){__VA_ARGS__ NULL})

/* The options of a verb are these words. */
static void expect(enum verb verb, const char *text, char *const *expected)
{
    struct config config;
    size_t count = 0;

    own_file_write(CONFIG, text);
    READ(&config, verb, );
    for (; expected[count]; count++) {
        assert_true(count < config.options.count);
        assert_string_equal(config.options.list[count], expected[count]);
    }
    assert_int_equal(config.options.count, count);
    config_free(&config);
}

#define EXPECT(verb, text, ...) expect(verb, text, (char *[]){__VA_ARGS__ NULL})

static void read_record(void *unused)
{
    struct config config;

    (void)unused;
    READ(&config, VERB_RECORD, );
}

static void expect_refused(const char *text, const char *why)
{
    struct ended ended;

    own_file_write(CONFIG, text);
    ended = ended_by(read_record, NULL);
    if (ended.status != STATUS_USAGE || !strstr(ended.said, why))
        fail_msg("%s: status %d: %s", text, ended.status, ended.said);
    assert_non_null(strstr(ended.said, "umbra/config:"));
}

static void a_verb_has_its_lines(void **state)
{
    (void)state;
    EXPECT(VERB_RECORD, "", );
    EXPECT(VERB_RECORD, "record --paused\nreport --text\n", "--paused", );
    EXPECT(VERB_REPORT, "record --paused\nreport --text\n", "--text", );
    EXPECT(VERB_RECORD, "record --paused\n\n \t\nrecord -q --samples=20\r\nrecord", "--paused",
           "-q", "--samples=20", );
}

static void words_are_quoted_and_commented(void **state)
{
    (void)state;
    EXPECT(VERB_RECORD, "# all\nrecord --leave='a b' # libraries\n", "--leave=a b", );
    EXPECT(VERB_RECORD, "record --leave=a#b --leave='#' --leave=\" # \"\n", "--leave=a#b",
           "--leave=#", "--leave= # ", );
    EXPECT(VERB_RECORD, "record --leave=a\\ b --leave=\\# --leave=\\'\n", "--leave=a b",
           "--leave=#", "--leave='", );
    EXPECT(VERB_RECORD, "record --leave=\"it's\" --exclude='a\\.b'\n", "--leave=it's",
           "--exclude=a\\.b", );
}

static void what_is_not_closed_is_refused(void **state)
{
    (void)state;
    expect_refused("record --leave='a\n", ":1: a quotation mark is not closed");
    expect_refused("record\nrecord --leave=\"a'\n", ":2: a quotation mark is not closed");
    expect_refused("record --leave=it's # it is\n", "a quotation mark is not closed");
    expect_refused("record --leave='a\\' --quiet\n", "a quotation mark is not closed");
    expect_refused("record --quiet\\\n", "expected words, found record --quiet\\");
    expect_refused("''\n", "expected words, found ''");
}

static void what_is_no_option_is_refused(void **state)
{
    (void)state;
    expect_refused("recrod --quiet\n", ":1: recrod: expected a verb");
    expect_refused("record quiet\n", "expected an option, found quiet");
    expect_refused("record -\n", "expected an option, found -");
    expect_refused("record --text\n", "umbra record has no such option");
    expect_refused("record --quie\n", "umbra record has no such option");
    expect_refused("record -qv\n", "umbra record has no such option");
    expect_refused("record --samples 20\n", "expected --samples=HZ");
    expect_refused("record -o\n", "expected --output=FOLDER");
    expect_refused("record --quiet=yes\n", "expected --quiet, which takes no value");
    expect_refused("record --help\n", "no such option");
    expect_refused("record -V\n", "no such option");
    expect_refused("record --no-config\n", "no such option");
}

static void each_line_says_where_it_stands(void **state)
{
    struct config config;
    char expected[4200];

    (void)state;
    own_file_write(CONFIG, "report --text\nrecord\n# none\nrecord --paused -v\nrecord --quiet\n");
    READ(&config, VERB_RECORD, );
    assert_true(config.is_verbose);
    assert_int_equal(config.origins.count, 2);
    snprintf(expected, sizeof(expected), "%s/" CONFIG ":4: record --paused -v", own_folder_path());
    assert_string_equal(config.origins.list[0], expected);
    snprintf(expected, sizeof(expected), "%s/" CONFIG ":5: record --quiet", own_folder_path());
    assert_string_equal(config.origins.list[1], expected);
    config_free(&config);
    READ(&config, VERB_REPORT, );
    assert_false(config.is_verbose);
    config_free(&config);
}

static void a_view_that_is_typed_counts(void **state)
{
    struct config config;

    (void)state;
    own_file_write(CONFIG, "report --text --top=5\n");
    READ(&config, VERB_REPORT, "--mode=stack", );
    assert_int_equal(config.options.count, 1);
    assert_string_equal(config.options.list[0], "--top=5");
    config_free(&config);
    READ(&config, VERB_REPORT, "umbra.data", "--top=7", );
    assert_int_equal(config.options.count, 2);
    config_free(&config);
    READ(&config, VERB_REPORT, "--", "--text", );
    assert_int_equal(config.options.count, 2);
    config_free(&config);
    own_file_write(CONFIG, "record --mode=calltrace\n");
    READ(&config, VERB_RECORD, "--mode=profile", );
    assert_int_equal(config.options.count, 1); /* the last one counts, as ever */
    config_free(&config);
}

static void the_file_is_where_xdg_says(void **state)
{
    struct config config;

    (void)state;
    mkdir("xdg", 0700);
    mkdir("xdg/umbra", 0700);
    own_file_write("xdg/umbra/config", "record --quiet\n");
    own_file_write(CONFIG, "record --paused\n");
    setenv("XDG_CONFIG_HOME", "xdg", 1);
    EXPECT(VERB_RECORD, "record --paused\n", "--paused", );
    setenv("XDG_CONFIG_HOME", "/proc/self/cwd/xdg", 1);
    EXPECT(VERB_RECORD, "", "--quiet", );
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    EXPECT(VERB_RECORD, "record --paused\n", );
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "", 1);
    READ(&config, VERB_RECORD, );
    assert_int_equal(config.options.count, 0);
    config_free(&config);
}

static void what_others_may_write_is_not_read(void **state)
{
    struct ended ended;

    (void)state;
    own_file_write(CONFIG, "record --nonsense\n");
    assert_int_equal(chmod(CONFIG, 0646), 0);
    ended = ended_by(read_record, NULL);
    assert_int_equal(ended.status, 0);
    assert_non_null(strstr(ended.said, "is not read: another user owns it, or may write it"));
    unlink(CONFIG);
    assert_int_equal(mkfifo(CONFIG, 0600), 0);
    ended = ended_by(read_record, NULL);
    assert_int_equal(ended.status, 0);
    assert_non_null(strstr(ended.said, "is not read: is not a regular file"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, own_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_verb_has_its_lines),           TEST(words_are_quoted_and_commented),
        TEST(what_is_not_closed_is_refused),  TEST(what_is_no_option_is_refused),
        TEST(each_line_says_where_it_stands), TEST(a_view_that_is_typed_counts),
        TEST(the_file_is_where_xdg_says),     TEST(what_others_may_write_is_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
