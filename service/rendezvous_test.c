#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "service/rendezvous.h"

#define LINE "umbra 1 40123 000102030405060708090a0b0c0d0e0f\n"

static struct rendezvous sample(void)
{
    struct rendezvous rendezvous = {.port = 40123};

    for (int i = 0; i < PROTOCOL_SECRET_SIZE; i++)
        rendezvous.secret[i] = (uint8_t)i;
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
}

static void test_anything_else_is_refused(void **state)
{
    static const char *const lines[] = {
        "",
        "\n",
        "umbra 1 \n",
        "umbra 2 40123 000102030405060708090a0b0c0d0e0f\n",
        "umbra 1 0 000102030405060708090a0b0c0d0e0f\n",
        "umbra 1 65536 000102030405060708090a0b0c0d0e0f\n",
        "umbra 1 99999999999 000102030405060708090a0b0c0d0e0f\n",
        "umbra 1 -1 000102030405060708090a0b0c0d0e0f\n",
        "umbra 1 40123 000102030405060708090a0b0c0d0e0\n",
        "umbra 1 40123 000102030405060708090a0b0c0d0e0f0\n",
        "umbra 1 40123 000102030405060708090a0b0c0d0e0g\n",
        "umbra 1 40123 000102030405060708090A0B0C0D0E0F\n",
        "umbra 1 40123 000102030405060708090a0b0c0d0e0f",
        "umbra 1 40123 000102030405060708090a0b0c0d0e0f\n\n",
        "umbra 1 40123  00102030405060708090a0b0c0d0e0f\n",
    };
    struct rendezvous read;

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        assert_false(rendezvous_parse(&read, lines[i], strlen(lines[i])));
    for (size_t length = 0; length < strlen(LINE); length++)
        assert_false(rendezvous_parse(&read, LINE, length));
    assert_false(rendezvous_parse(&read, LINE "and so on, until it is too long", 79));
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
