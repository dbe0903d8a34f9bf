#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "service/server/tcp_hello.h"

#include <cmocka.h>

static const uint8_t secret[PROTOCOL_SECRET_SIZE] = "0123456789abcde";

static struct protocol_tcp_hello good(void)
{
    struct protocol_tcp_hello hello = {
        .hello = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .kind = PROTOCOL_HELLO},
        .exe = "C:\\a.exe",
        .command = "a",
    };

    memcpy(hello.secret, secret, sizeof(secret));
    return hello;
}

/* The hello as it is when only its first `have` bytes have come. */
static enum tcp_hello_state check(struct protocol_tcp_hello hello, size_t have)
{
    if (have < sizeof(hello))
        memset((char *)&hello + have, 0, sizeof(hello) - have);
    return tcp_hello_check(&hello, have, secret);
}

static void test_byte_by_byte(void **state)
{
    (void)state;
    for (size_t have = 1; have < sizeof(struct protocol_tcp_hello); have++)
        assert_int_equal(check(good(), have), TCP_HELLO_MORE);
    assert_int_equal(check(good(), sizeof(struct protocol_tcp_hello)), TCP_HELLO_WHOLE);
    assert_int_equal(check(good(), sizeof(struct protocol_tcp_hello) + 1), TCP_HELLO_TOO_LONG);
}

static void test_the_secret_comes_first(void **state)
{
    struct protocol_tcp_hello hello = good();

    (void)state;
    hello.secret[0]++;
    hello.hello.version = hello.hello.kind = 999;
    memset(hello.exe, 'x', sizeof(hello.exe));
    assert_int_equal(check(hello, 47), TCP_HELLO_MORE);
    assert_int_equal(check(hello, 48), TCP_HELLO_WRONG_SECRET);
    assert_int_equal(check(hello, sizeof(hello) + 1), TCP_HELLO_WRONG_SECRET);
    hello.hello.magic++;
    assert_int_equal(check(hello, 4), TCP_HELLO_NOT_OURS);
}

static void test_the_proof_is_for_who_knows_the_secret(void **state)
{
    struct protocol_tcp_hello hello = good();

    (void)state;
    assert_false(tcp_hello_shows_secret(check(hello, 47), 47));
    assert_true(tcp_hello_shows_secret(check(hello, 48), 48));
    assert_true(tcp_hello_shows_secret(check(hello, sizeof(hello)), sizeof(hello)));
    hello.hello.version++;
    assert_true(tcp_hello_shows_secret(check(hello, 48), 48));
    hello.secret[0]++;
    assert_false(tcp_hello_shows_secret(check(hello, 48), 48));
    hello.hello.magic++;
    assert_false(tcp_hello_shows_secret(check(hello, sizeof(hello)), sizeof(hello)));
}

static void test_another_version_is_known_by_its_start(void **state)
{
    struct protocol_tcp_hello hello = good();

    (void)state;
    hello.hello.version++;
    assert_int_equal(check(hello, 48), TCP_HELLO_OTHER_VERSION);
}

static void test_malformed(void **state)
{
    struct protocol_tcp_hello hello = good();

    (void)state;
    hello.hello.kind = PROTOCOL_WELCOME;
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_MALFORMED);
    hello = good();
    memset(hello.exe, 'x', sizeof(hello.exe));
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_MALFORMED);
    hello = good();
    memset(hello.command, 'x', sizeof(hello.command));
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_MALFORMED);
    hello.command[sizeof(hello.command) - 1] = 0;
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_WHOLE);
}

/* A descriptor cannot be handed over here. */
static void test_commands(void **state)
{
    struct protocol_tcp_hello hello = good();

    (void)state;
    hello.hello.kind = PROTOCOL_COMMAND_STATUS;
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_WHOLE);
    hello.hello.kind = PROTOCOL_COMMAND_RESUME;
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_WHOLE);
    hello.hello.kind = PROTOCOL_COMMAND_OPEN;
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_MALFORMED);
    hello.hello.kind = PROTOCOL_COMMAND_OPEN + 1;
    assert_int_equal(check(hello, sizeof(hello)), TCP_HELLO_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_the_secret_comes_first),
        cmocka_unit_test(test_the_proof_is_for_who_knows_the_secret),
        cmocka_unit_test(test_another_version_is_known_by_its_start),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
