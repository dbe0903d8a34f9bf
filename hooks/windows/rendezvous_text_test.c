#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/windows/rendezvous_text.h"

#include <cmocka.h>

#define SECRET "000102030405060708090a0b0c0d0e0f"
#define PROOF  "101112131415161718191a1b1c1d1e1F"

static void test_a_rendezvous_file(void **state)
{
    struct rendezvous at;

    (void)state;
    assert_true(rendezvous_parse("umbra 2 40123 " SECRET " " PROOF "\n", &at));
    assert_int_equal(at.port, 40123);
    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++) {
        assert_int_equal(at.secret[i], i);
        assert_int_equal(at.proof[i], 16 + i);
    }
    assert_true(rendezvous_parse("umbra 2 65535 " SECRET " " PROOF "\n", &at));
    assert_true(rendezvous_parse("umbra 2 1 " SECRET " " PROOF "\nmore", &at));
}

static void test_what_is_none(void **state)
{
    static const char *const texts[] = {
        "",
        "umbra",
        "umbra 1 40123 " SECRET " " PROOF "\n",
        "umbra 2  40123 " SECRET " " PROOF "\n",
        "umbra 2 " SECRET " " PROOF "\n",
        "umbra 2 0 " SECRET " " PROOF "\n",
        "umbra 2 -1 " SECRET " " PROOF "\n",
        "umbra 2 65536 " SECRET " " PROOF "\n",
        "umbra 2 4294967297 " SECRET " " PROOF "\n",           /* 1 and 2^32 */
        "umbra 2 18446744073709551617 " SECRET " " PROOF "\n", /* and 2^64 */
        "umbra 2 40123 " SECRET " " PROOF,
        "umbra 2 40123 " SECRET "\n",
        "umbra 2 40123 " SECRET "0 " PROOF "\n",
        "umbra 2 40123 " SECRET " " PROOF "0\n",
        "umbra 2 40123 g00102030405060708090a0b0c0d0e0f " PROOF "\n",
        "umbra 2 40123 0g0102030405060708090a0b0c0d0e0f " PROOF "\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char *text = strdup(texts[i]); /* its end is the heap's */
        struct rendezvous at;

        if (rendezvous_parse(text, &at))
            fail_msg("'%s' is taken for a rendezvous", text);
        free(text);
    }
}

static void check_user(const char *status, uint32_t expected)
{
    uint32_t uid;

    assert_true(rendezvous_user(status, &uid));
    assert_int_equal(uid, expected);
}

static void test_the_user_of_a_process(void **state)
{
    (void)state;
    check_user("Name:\twine\nUid:\t1000\t1001\t1002\t1003\nGid:\t7\n", 1000);
    check_user("\nUid:\t0\t1\n", 0);
    check_user("\nUid:\t1234567\t1\n", 1234567); /* of a directory service */
    check_user("\nUid:\t4294967294\t1\n", 4294967294);
}

static void test_a_status_without_a_user(void **state)
{
    static const char *const texts[] = {"",          "Uid:\t1000\n", "Name:\tUid:\t1000\n",
                                        "\nUid:\t",  "\nUid:\tx",    "\nUid:\t4294967296\t1",
                                        "\nUid: 10", "\nUi"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char *text = strdup(texts[i]);
        uint32_t uid;

        if (rendezvous_user(text, &uid))
            fail_msg("'%s' has a user", text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rendezvous_file),
        cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_the_user_of_a_process),
        cmocka_unit_test(test_a_status_without_a_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
