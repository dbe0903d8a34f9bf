/* Files by the paths that the agent has: with either separator, of any length. */
#include <winsock2.h>
#include <windows.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "hooks/windows/file.h"

#include <cmocka.h>

#define DEPTH 40 /* directories of ten characters: more than MAX_PATH, which Wine does not mind */

static void put(const wchar_t *path, const char *text)
{
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    DWORD written;

    assert_true(file != INVALID_HANDLE_VALUE);
    assert_true(WriteFile(file, text, (DWORD)strlen(text), &written, NULL));
    CloseHandle(file);
}

static void check_content(const char *path, const char *expected)
{
    char content[16];

    assert_true(file_read(path, content, sizeof(content)));
    assert_string_equal(content, expected);
}

static void test_separators_of_either_kind(void **state)
{
    (void)state;
    CreateDirectoryW(L"C:\\hooks", NULL);
    put(L"C:\\hooks\\\u00e4.txt", "text");
    check_content("C:\\hooks\\\xc3\xa4.txt", "text");
    check_content("C:/hooks/\xc3\xa4.txt", "text");
    check_content("C://hooks/\\//\xc3\xa4.txt", "text");
    assert_true(file_exists("C:/hooks/\xc3\xa4.txt"));
    assert_false(file_exists("C:/hooks/a.txt"));
}

static void test_what_fits_is_read(void **state)
{
    char content[16];

    (void)state;
    put(L"C:\\hooks\\long.txt", "0123456789abcdefghij");
    check_content("C:\\hooks\\long.txt", "0123456789abcde");
    put(L"C:\\hooks\\long.txt", "");
    check_content("C:\\hooks\\long.txt", "");
    assert_false(file_read("C:\\hooks\\missing.txt", content, sizeof(content)));
}

static void test_long_paths(void **state)
{
    static wchar_t wide[16 + DEPTH * 11] = L"\\\\?\\C:\\hooks";
    static char path[16 + DEPTH * 11] = "C:/hooks";

    (void)state;
    for (int i = 0; i < DEPTH; i++) {
        wcscat(wide, L"\\directory1");
        strcat(path, "/directory1");
        CreateDirectoryW(wide, NULL);
    }
    wcscat(wide, L"\\x");
    strcat(path, "/x");
    put(wide, "deep");
    check_content(path, "deep");
}

static void test_a_path_that_is_too_long(void **state)
{
    static char path[5000] = "C:\\";

    (void)state;
    memset(path + 3, 'x', sizeof(path) - 4);
    assert_false(file_exists(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separators_of_either_kind),
        cmocka_unit_test(test_what_fits_is_read),
        cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_a_path_that_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
