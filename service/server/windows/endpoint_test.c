/* Where an instance of the service is found, and that it is one. */
#include <winsock2.h>
#include <windows.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "service/base/file.h"
#include "service/server/endpoint.h"

#include <cmocka.h>

static void test_paths_below_the_users_folder(void **state)
{
    struct endpoint endpoint;

    (void)state;
    SetEnvironmentVariableW(L"LOCALAPPDATA", L"C:\\");
    assert_true(endpoint_open(&endpoint, "one"));
    assert_string_equal(endpoint.rendezvous_path, "C:\\\\umbra\\one.rendezvous");
    assert_string_equal(endpoint.lock_path, "C:\\\\umbra\\one.lock");
    endpoint_close(&endpoint);
    assert_int_equal(endpoint.lock, -1);
}

static void test_an_instance_is_served_once(void **state)
{
    struct endpoint first, second, other;
    char pid[16] = {0};

    (void)state;
    assert_true(endpoint_open(&first, "one"));
    assert_false(endpoint_open(&second, "one"));
    assert_int_equal(second.lock, -1);
    assert_true(endpoint_open(&other, "other"));
    assert_true(file_read_own(first.lock_path, pid, sizeof(pid) - 1) > 0);
    assert_int_equal(strtoul(pid, NULL, 10), GetCurrentProcessId());
    endpoint_close(&first);
    assert_int_equal(file_read_own(first.lock_path, pid, sizeof(pid)), -1); /* gone with it */
    assert_true(endpoint_open(&second, "one"));
    endpoint_close(&second);
    endpoint_close(&other);
}

static void test_a_folder_that_cannot_be(void **state)
{
    static wchar_t path[ENDPOINT_PATH_SIZE + 1] = L"C:";
    struct endpoint endpoint;

    (void)state;
    for (size_t i = 2; i < ENDPOINT_PATH_SIZE; i++)
        path[i] = i % 2 ? '.' : '\\';
    SetEnvironmentVariableW(L"LOCALAPPDATA", path);
    assert_false(endpoint_open(&endpoint, "one"));
    path[ENDPOINT_PATH_SIZE - 20] = 0; /* with its name it is too long */
    SetEnvironmentVariableW(L"LOCALAPPDATA", path);
    assert_false(endpoint_open(&endpoint, "a_long_name_of_one"));
    SetEnvironmentVariableW(L"LOCALAPPDATA", NULL);
    assert_false(endpoint_open(&endpoint, "one"));
    assert_int_equal(endpoint.lock, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_below_the_users_folder),
        cmocka_unit_test(test_an_instance_is_served_once),
        cmocka_unit_test(test_a_folder_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
