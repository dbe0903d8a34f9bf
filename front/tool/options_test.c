#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "front/base/say.h"
#include "front/test_ground/ended.h"
#include "front/tool/options.h"

#include <cmocka.h>

/* --- the table --- */

static void names_are_verbs(void **state)
{
    (void)state;
    for (enum verb verb = 0; verb < VERB_COUNT; verb++)
        assert_int_equal(verb_named(verb_name(verb)), verb);
    assert_int_equal(verb_named("recording"), VERB_COUNT);
    assert_int_equal(verb_named(""), VERB_COUNT);
}

/* Of two rows with one name or letter, the first would be taken. */
static void a_verb_has_an_option_once(void **state)
{
    (void)state;
    for (const struct command_option *a = verb_options; a->name || a->letter; a++)
        for (const struct command_option *b = verb_options; b < a; b++)
            if ((a->verbs & b->verbs) &&
                ((a->name && !strcmp(a->name, b->name)) || (a->letter && a->letter == b->letter)))
                fail_msg("%s %c and %s", a->name ? a->name : "", a->letter, b->name);
}

static void codes_are_told_from_letters(void **state)
{
    (void)state;
    assert_true(OPTION_COUNT <= ' ');
    for (const struct command_option *option = verb_options; option->name; option++) {
        assert_true(option->code > 0);
        assert_true(option->code < OPTION_COUNT || option->code == option->letter);
        assert_true(option->verbs != 0 && option->verbs < 1u << VERB_COUNT);
        assert_true(!option->values || option->value);
    }
}

/* --- what is asked for first --- */

#define ASKED(verb, ...) asked_of(verb, (char *[]){__VA_ARGS__, NULL})

static struct asked_first asked_of(enum verb verb, char **arguments)
{
    int count = 0;

    while (arguments[count])
        count++;
    return verb_asked_first(verb, count, arguments);
}

static void words_of_a_program_are_its_own(void **state)
{
    (void)state;
    assert_true(ASKED(VERB_RECORD, "record", "--help").help);
    assert_true(ASKED(VERB_RECORD, "record", "-qh").help);
    assert_true(ASKED(VERB_RECORD, "record", "-o", "x", "-v").verbose);
    assert_false(ASKED(VERB_RECORD, "record", "-o", "-v", "true").verbose);
    assert_false(ASKED(VERB_RECORD, "record", "ls", "--help").help);
    assert_false(ASKED(VERB_RECORD, "record", "--", "--version").version);
    assert_true(ASKED(VERB_LS, "ls", "folder", "--version").version);
    assert_true(ASKED(VERB_BISECT, "bisect", "--no-config", "--", "true").no_config);
}

static void views_have_options_of_the_grinder(void **state)
{
    (void)state;
    assert_true(ASKED(VERB_REPORT, "report", "--what-the-grinder-has", "-h").help);
    assert_true(ASKED(VERB_DIFF, "diff", "a", "b", "--no-config").no_config);
    assert_true(ASKED(VERB_TOP, "top", "-V").version);
    assert_false(ASKED(VERB_REPORT, "report", "--", "--help").help);
    assert_false(ASKED(VERB_REPORT, "report", "--helping").help);
}

/* --- what is refused --- */

struct line {
    enum verb verb;
    char **words;
};

static void parse(void *argument)
{
    struct line *line = argument;
    struct command_line read;
    int count = 0;

    while (line->words[count])
        count++;
    verb_begin(&read, line->verb, count, line->words);
    while (verb_next(&read, line->verb))
        ;
}

#define REFUSED(verb, said, ...) expect_refused(verb, said, (char *[]){__VA_ARGS__, NULL})

static void expect_refused(enum verb verb, const char *said, char **words)
{
    struct line line = {verb, words};
    struct ended ended = ended_by(parse, &line);

    assert_int_equal(ended.status, STATUS_USAGE);
    assert_memory_equal(ended.said, said, strlen(said));
}

static void an_option_that_is_none_is_named(void **state)
{
    (void)state;
    REFUSED(VERB_RECORD, "umbra: record: --smaples=5: no such option (did you mean --samples?)",
            "record", "--quiet", "--smaples=5", "true");
    REFUSED(VERB_RECORD, "umbra: record: --text: no such option; umbra report has it", "record",
            "--text", "true");
    REFUSED(VERB_LS, "umbra: ls: --xyzzy: no such option; see umbra ls --help", "ls", "--xyzzy");
}

static void a_letter_among_others_is_named(void **state)
{
    (void)state;
    REFUSED(VERB_RECORD, "umbra: record: -z: no such option", "record", "-z", "true");
    REFUSED(VERB_RECORD, "umbra: record: -z: no such option", "record", "-zq", "true");
    REFUSED(VERB_RECORD, "umbra: record: -z: no such option", "record", "-qz", "true");
    REFUSED(VERB_RECORD, "umbra: record: -z: no such option", "record", "--quiet", "-qzv");
    REFUSED(VERB_LS, "umbra: ls: -q: no such option", "ls", "-qv", "folder");
}

static void a_value_that_is_wrong_is_told(void **state)
{
    (void)state;
    REFUSED(VERB_RECORD, "umbra: record: --quiet=1: it takes no value", "record", "--quiet=1");
    REFUSED(VERB_RECORD, "umbra: record: -o: expected FOLDER behind it, found nothing", "record",
            "-qo");
    REFUSED(VERB_RECORD, "umbra: record: --leave: expected PATTERN behind it, found nothing",
            "record", "--leave");
    REFUSED(VERB_RECORD, "umbra: record: --output: expected FOLDER behind it, found nothing",
            "record", "--output");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_verbs),
        cmocka_unit_test(a_verb_has_an_option_once),
        cmocka_unit_test(codes_are_told_from_letters),
        cmocka_unit_test(words_of_a_program_are_its_own),
        cmocka_unit_test(views_have_options_of_the_grinder),
        cmocka_unit_test(an_option_that_is_none_is_named),
        cmocka_unit_test(a_letter_among_others_is_named),
        cmocka_unit_test(a_value_that_is_wrong_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
