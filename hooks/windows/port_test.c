/* Who listens at a port, by what Linux says in /proc/net/tcp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/windows/file.h"
#include "hooks/windows/port.h"

#include <cmocka.h>

#define HEAD   "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
#define QUEUES "00000000:00000000 00:00000000 00000000 "

#define SIZE 65536 /* of the table that is read */

static const char *table; /* null: it cannot be read */

bool file_read(const char *path, char *content, size_t size)
{
    assert_string_equal(path, "Z:\\proc\\net\\tcp");
    assert_int_equal(size, SIZE);
    if (table)
        snprintf(content, size, "%s", table);
    return table;
}

static const char small[] =
    HEAD "   0: 0100007F:9CBB 00000000:0000 0A " QUEUES "  1000        0 33 1\n"
         "   1: 00000000:9CBC 00000000:0000 0A " QUEUES "  1000        0 34 1\n"
         "   2: 0100007F:0050 00000000:0000 0A " QUEUES "     0        0 35 1\n"
         "   3: 0100007F:9CBD 00000000:0000 0A " QUEUES "4294967294        0 36 1\n"
         "   4: 0100007F:9CBE 0100007F:9CBB 01 " QUEUES "  1000        0 37 1\n";

static void test_who_listens(void **state)
{
    (void)state;
    table = small;
    assert_true(port_may_be_of(0x9cbb, 1000));
    assert_false(port_may_be_of(0x9cbb, 1001));
    assert_false(port_may_be_of(0x9cbb, 100));
    assert_false(port_may_be_of(0x9cbb, 0));
    assert_true(port_may_be_of(80, 0));
    assert_true(port_may_be_of(0x9cbd, 4294967294));
}

static void test_who_does_not(void **state)
{
    (void)state;
    table = small;
    assert_false(port_may_be_of(0x9cba, 1000)); /* nobody */
    assert_false(port_may_be_of(0x9cbc, 1000)); /* at every address */
    assert_false(port_may_be_of(0x9cbe, 1000)); /* a connection */
}

static void test_without_a_table(void **state)
{
    (void)state;
    table = NULL;
    assert_true(port_may_be_of(0x9cbb, 1000));
}

/* A table of more than is read: lines of a port that nobody asks for, and of `row` as much as fits.
 */
static char *long_table(const char *row, size_t fitting)
{
    static const char filler[] =
        "   9: 0100007F:0001 00000000:0000 0A " QUEUES "  1000        0 33 1\n";
    size_t filled = SIZE - 1 - fitting, length = strlen(row);
    char *text = malloc(filled + length + 1);

    assert_non_null(text);
    for (size_t i = 0; i < filled; i++)
        text[i] = filler[i % (sizeof(filler) - 1)];
    memcpy(text + filled, row, length + 1);
    return text;
}

static void test_a_table_that_is_cut_off(void **state)
{
    static const char row[] = " 0100007F:9CBB 00000000:0000 0A " QUEUES "  1000        0 33 1\n";
    size_t before = (size_t)(strstr(row, " 1000 ") - row) + 1; /* the user */

    (void)state;
    for (size_t fitting = 0; fitting <= before + 5; fitting++) {
        char *text = long_table(row, fitting);

        table = text;
        assert_true(port_may_be_of(0x9cbb, 1000)); /* it may be in the rest */
        if (fitting == before + 5)
            assert_false(port_may_be_of(0x9cbb, 100));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_listens),
        cmocka_unit_test(test_who_does_not),
        cmocka_unit_test(test_without_a_table),
        cmocka_unit_test(test_a_table_that_is_cut_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
