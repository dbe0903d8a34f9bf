#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/server/rendezvous.h"

#include <cmocka.h>

#define SECRET "000102030405060708090a0b0c0d0e0f"
#define PROOF  "101112131415161718191a1b1c1d1e1f"
#define LINE   "umbra 2 40123 " SECRET " " PROOF "\n"

static struct rendezvous sample(void)
{
    struct rendezvous rendezvous = {.port = 40123};

    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++)
        rendezvous.secret[i] = (uint8_t)i, rendezvous.proof[i] = (uint8_t)(i + 16);
    return rendezvous;
}

static void test_one_line(void **state)
{
    struct rendezvous rendezvous = sample(), read;
    char text[RENDEZVOUS_TEXT_SIZE];

    (void)state;
    assert_int_equal(rendezvous_print(text, &rendezvous), strlen(LINE));
    assert_string_equal(text, LINE);
    assert_true(rendezvous_parse(&read, text, strlen(text)));
    assert_int_equal(read.port, 40123);
    assert_true(rendezvous_secret_is(rendezvous.secret, read.secret));
    assert_true(rendezvous_secret_is(rendezvous.proof, read.proof));
}

static void test_anything_else_is_refused(void **state)
{
    static const char *const lines[] = {
        "",
        "\n",
        "umbra 2 \n",
        "umbra 1 40123 " SECRET "\n",
        "umbra 1 40123 " SECRET " " PROOF "\n",
        "umbra 2 40123 " SECRET "\n",
        "umbra 2 0 " SECRET " " PROOF "\n",
        "umbra 2 65536 " SECRET " " PROOF "\n",
        "umbra 2 99999999999 " SECRET " " PROOF "\n",
        "umbra 2 -1 " SECRET " " PROOF "\n",
        "umbra 2 40123 000102030405060708090a0b0c0d0e0 " PROOF "\n",
        "umbra 2 40123 " SECRET " 101112131415161718191a1b1c1d1e1\n",
        "umbra 2 40123 " SECRET "0 " PROOF "\n",
        "umbra 2 40123 " SECRET " " PROOF "0\n",
        "umbra 2 40123 000102030405060708090a0b0c0d0e0g " PROOF "\n",
        "umbra 2 40123 000102030405060708090A0B0C0D0E0F " PROOF "\n",
        "umbra 2 40123 " SECRET " 101112131415161718191A1B1C1D1E1F\n",
        "umbra 2 40123 " SECRET " " PROOF,
        "umbra 2 40123 " SECRET " " PROOF "\n\n",
        "umbra 2 40123  00102030405060708090a0b0c0d0e0f " PROOF "\n",
        "umbra 2 40123 " SECRET "  01112131415161718191a1b1c1d1e1f\n",
    };
    struct rendezvous read;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        assert_false(rendezvous_parse(&read, lines[i], strlen(lines[i])));
    for (size_t length = 0; length < strlen(LINE); length++)
        assert_false(rendezvous_parse(&read, LINE, length));
    assert_false(rendezvous_parse(&read, LINE "and so on, it is too long", strlen(LINE) + 20));
}

static void test_every_bit_of_a_secret_counts(void **state)
{
    struct rendezvous one = sample(), other;

    (void)state;
    for (int bit = 0; bit < 8 * PROTOCOL_SECRET_SIZE; bit++) {
        other = one;
        other.secret[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(rendezvous_secret_is(one.secret, other.secret));
    }
}

static void test_the_file(void **state)
{
    struct rendezvous rendezvous = sample(), read;
    char folder[] = "/tmp/umbra-rendezvous-XXXXXX", path[64], victim[64];
    struct stat stat;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x.rendezvous", folder);
    snprintf(victim, sizeof(victim), "%s/victim", folder);
    assert_false(rendezvous_read(path, &read));

    assert_int_equal(symlink(victim, path), 0); /* replaced, not followed */
    assert_true(rendezvous_write(path, &rendezvous));
    assert_int_equal(access(victim, F_OK), -1);
    assert_int_equal(lstat(path, &stat), 0);
    assert_true(S_ISREG(stat.st_mode));
    assert_int_equal(stat.st_mode & 07777, 0600);
    assert_int_equal(stat.st_size, strlen(LINE));
    assert_true(rendezvous_read(path, &read));
    assert_int_equal(read.port, 40123);

    assert_int_equal(chmod(path, 0644), 0); /* others may know it: not to be trusted */
    assert_false(rendezvous_read(path, &read));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_anything_else_is_refused),
        cmocka_unit_test(test_every_bit_of_a_secret_counts),
        cmocka_unit_test(test_the_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
