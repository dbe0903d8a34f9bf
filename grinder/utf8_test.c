#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grinder/utf8.h"

#define BAD "\xef\xbf\xbd" /* UTF8_REPLACEMENT */

static void expect_copy(const char *text, const char *wanted)
{
    char *copy = utf8_copy(text);

    assert_string_equal(copy, wanted);
    free(copy);
}

static void what_is_utf8_passes(void **state)
{
    (void)state;
    expect_copy("", "");
    expect_copy("main ~", "main ~");
    expect_copy("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8c", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8c");
}

static void what_is_not_is_replaced(void **state)
{
    (void)state;
    expect_copy("a\x80z", "a" BAD "z");
    expect_copy("\xc3", BAD);                         /* cut off */
    expect_copy("\xc3z", BAD "z");                    /* the rest is kept */
    expect_copy("\xc0\xaf", BAD BAD);                 /* overlong */
    expect_copy("\xed\xa0\x80", BAD BAD BAD);         /* half of a pair */
    expect_copy("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* past the last */
    expect_copy("\xff\xfe", BAD BAD);
    expect_copy("a\nb\x7f", "a" BAD "b" BAD);
}

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

static void formats_escape(void **state)
{
    (void)state;
    expect_written(utf8_write_json, "a\"b\\c\td", "\"a\\\"b\\\\c" BAD "d\"");
    expect_written(utf8_write_xml, "f<A&>(\"'\")", "f&#60;A&#38;&#62;(&#34;&#39;&#34;)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_utf8_passes),
        cmocka_unit_test(what_is_not_is_replaced),
        cmocka_unit_test(formats_escape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
