/* Arguments joined to one line, which is split into the same ones again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "service/launch/windows/command_line.h"

#include <cmocka.h>

#define MOST_LENGTH 64

static void check_line(char **arguments, const char *expected)
{
    char *line = command_line_join(arguments);

    assert_non_null(line);
    assert_string_equal(line, expected);
    free(line);
}

#define CHECK_LINE(expected, ...) check_line((char *[]){__VA_ARGS__, NULL}, expected)

static void test_what_needs_no_quotes_has_none(void **state)
{
    (void)state;
    CHECK_LINE("program", "program");
    CHECK_LINE("C:\\a\\b.exe --option=1 \\ 'c'", "C:\\a\\b.exe", "--option=1", "\\", "'c'");
    CHECK_LINE("", NULL);
}

static void test_quotes_where_they_are_needed(void **state)
{
    (void)state;
    CHECK_LINE("a \"\" b", "a", "", "b");
    CHECK_LINE("\"a b\" \"c\td\" \"e\nf\" \"g\vh\"", "a b", "c\td", "e\nf", "g\vh");
    CHECK_LINE("\"a\\\"b\"", "a\"b");
}

static void test_backslashes_before_quotes_are_doubled(void **state)
{
    (void)state;
    CHECK_LINE("\"a b\\\\\"", "a b\\");
    CHECK_LINE("\"a \\b\"", "a \\b");
    CHECK_LINE("\"\\\\\\\"\"", "\\\"");
    CHECK_LINE("\"a\\\\\\\\\\\" \\\\\\\\\"", "a\\\\\" \\\\");
}

/* One argument of the line, by the rules of the C library; returns what is behind it. */
static const char *split(const char *line, char argument[MOST_LENGTH])
{
    bool is_quoted = false;

    while (*line && (is_quoted || *line != ' ')) {
        size_t count = strspn(line, "\\");
        bool is_before_quote = line[count] == '"';

        for (size_t i = 0; i < (is_before_quote ? count / 2 : count); i++)
            *argument++ = '\\';
        line += count;
        if (is_before_quote && count % 2 == 0)
            is_quoted = !is_quoted, line++;
        else if (is_before_quote)
            *argument++ = *line++;
        else if (*line && (is_quoted || *line != ' '))
            *argument++ = *line++;
    }
    *argument = 0;
    return *line ? line + 1 : line;
}

/* All arguments of up to five of these characters, three at a time. */
static void test_every_line_is_split_into_its_arguments(void **state)
{
    static const char characters[] = {'a', ' ', '"', '\\'};
    char argument[6], found[MOST_LENGTH];
    char *arguments[] = {(char *)"program", argument, (char *)"\\", argument, NULL};

    (void)state;
    for (size_t length = 0; length <= 5; length++)
        for (size_t number = 0; number < (size_t)1 << (2 * length); number++) {
            const char *at;
            char *line;

            for (size_t i = 0; i < length; i++)
                argument[i] = characters[number >> (2 * i) & 3];
            argument[length] = 0;
            line = command_line_join(arguments);
            assert_non_null(line);
            at = line;
            for (char **expected = arguments; *expected; expected++) {
                at = split(at, found);
                assert_string_equal(found, *expected);
            }
            assert_int_equal(*at, 0);
            free(line);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_needs_no_quotes_has_none),
        cmocka_unit_test(test_quotes_where_they_are_needed),
        cmocka_unit_test(test_backslashes_before_quotes_are_doubled),
        cmocka_unit_test(test_every_line_is_split_into_its_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
