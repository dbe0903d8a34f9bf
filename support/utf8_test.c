#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/utf8.h"

#include <cmocka.h>

#define BAD "\xef\xbf\xbd" /* UTF8_REPLACEMENT */

static void expect_written(void (*write)(FILE *, const char *), const char *text,
                           const char *wanted)
{
    char *written = NULL;
    size_t size;
    FILE *stream = open_memstream(&written, &size);

    write(stream, text);
    fclose(stream);
    assert_string_equal(written, wanted);
    free(written);
}

static void expect_plain(const char *text, const char *wanted)
{
    char *copy = strdup(text);

    assert_int_equal(utf8_is_plain(text), !strcmp(text, wanted));
    utf8_sanitise(copy);
    assert_string_equal(copy, wanted);
    assert_true(utf8_is_plain(copy));
    free(copy);
    expect_written(utf8_write_plain, text, wanted);
}

static void what_is_utf8_passes(void **state)
{
    (void)state;
    expect_plain("", "");
    expect_plain("main ~", "main ~");
    expect_plain("plain C:\\x y", "plain C:\\x y");
    expect_plain("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8c", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8c");
    expect_plain("\xd7\x90", "\xd7\x90"); /* written from right to left, but a letter */
    expect_plain(BAD, BAD);
}

static void what_is_not_is_replaced(void **state)
{
    (void)state;
    expect_plain("a\x80z", "a?z"); /* a continuation of nothing */
    expect_plain("\x80\xc3\xa4", "?\xc3\xa4");
    expect_plain("\xc3", "?");       /* cut off */
    expect_plain("\xe2\x82", "?\?"); /* cut off */
    expect_plain("\xc3z", "?z");     /* the rest is kept */
    expect_plain("\xc0\xaf", "?\?"); /* longer than need be */
    expect_plain("\xe0\x80\xaf", "?\?\?");
    expect_plain("\xed\xa0\x80", "?\?\?");       /* half of a pair */
    expect_plain("\xf4\x90\x80\x80", "?\?\?\?"); /* past the last */
    expect_plain("\xff\xfe", "?\?");
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    expect_plain("\x1b[2J\n\x7f", "?[2J?\?");
    expect_plain("\xc2\x9bJ", "?\?J");         /* a control character of 8 bits */
    expect_plain("a\xe2\x80\xaez", "a?\?\?z"); /* shows what follows from right to left */
    expect_plain("a\xe2\x81\xa6z", "a?\?\?z"); /* isolates it */
    expect_plain("a\xe2\x80\xa8z", "a?\?\?z"); /* separates lines */
    expect_plain("a\xd8\x9cz", "a?\?z");
}

static void a_cell_is_no_formula(void **state)
{
    (void)state;
    expect_written(utf8_write_cell, "main", "main");
    expect_written(utf8_write_cell, "", "");
    expect_written(utf8_write_cell, "a=b", "a=b");
    expect_written(utf8_write_cell, "=1+1", "'=1+1");
    expect_written(utf8_write_cell, "+[Class method]", "'+[Class method]");
    expect_written(utf8_write_cell, "-1", "'-1");
    expect_written(utf8_write_cell, "@sum", "'@sum");
    expect_written(utf8_write_cell, "\"=1\"", "'\"=1\"");
    expect_written(utf8_write_cell, " =1", "' =1");
    expect_written(utf8_write_cell, "\t=1", "?=1");
    expect_written(utf8_write_cell, "\r=1", "?=1");
    expect_written(utf8_write_cell,
                   "\xef\xbc\x9d"
                   "1",
                   "'\xef\xbc\x9d"
                   "1");
}

static void formats_escape(void **state)
{
    (void)state;
    expect_written(utf8_write_json, "a\"b\\c\td", "\"a\\\"b\\\\c" BAD "d\"");
    expect_written(utf8_write_json, "a\xc3", "\"a" BAD "\"");
    expect_written(utf8_write_xml, "f<A&>(\"'\")", "f&#60;A&#38;&#62;(&#34;&#39;&#34;)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_utf8_passes),
        cmocka_unit_test(what_is_not_is_replaced),
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(a_cell_is_no_formula),
        cmocka_unit_test(formats_escape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
