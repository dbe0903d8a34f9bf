#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "grinder/image/recorded_path.h"

#include <cmocka.h>

static char folder[] = "/tmp/recorded_path_test.XXXXXX";

static int make_folder(void **state)
{
    char command[512];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command),
             "cd %s && mkdir -p prefix/dosdevices prefix/drive_c/Program\\ Files home/.wine "
             "&& ln -s ../drive_c prefix/dosdevices/c: && cp -r prefix/. home/.wine "
             "&& touch prefix/drive_c/Program\\ Files/App.exe twin TWIN 'back\\slash'",
             folder);
    return system(command);
}

static int remove_folder(void **state)
{
    char command[512];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

/* expected is below the folder, unless it begins with a slash; null: there is no saying. */
static void expect(const char *path, enum trace_system system, const char *map,
                   const char *expected)
{
    char whole_map[256], whole[256], *maps[4] = {0}, *found;

    snprintf(whole_map, sizeof(whole_map), "%s%s", map ? map : "/none=", map ? folder : "");
    maps[0] = recorded_path_map("/other=/nowhere");
    maps[1] = recorded_path_map(whole_map);
    maps[2] = map ? recorded_path_map("Q:\\=/short") : NULL;
    snprintf(whole, sizeof(whole), "%s/%s", folder, expected ? expected : "");
    found = recorded_path_find(path, system, (const char *const *)maps);
    if (!expected)
        assert_null(found);
    else
        assert_string_equal(found, *expected == '/' ? expected : whole);
    free(found);
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        free(maps[i]);
}

/* path is below the folder, as Wine calls it. */
static void expect_on_z(const char *path, const char *expected)
{
    char whole[256];

    snprintf(whole, sizeof(whole), "Z:%s\\%s", folder, path);
    expect(whole, TRACE_SYSTEM_WINDOWS, NULL, expected);
    snprintf(whole, sizeof(whole), "\\\\?\\z:%s\\%s", folder, path);
    expect(whole, TRACE_SYSTEM_WINDOWS, NULL, expected);
}

static void drive_z_is_the_root(void **state)
{
    (void)state;
    expect("Z:\\usr\\..\\etc/passwd", TRACE_SYSTEM_WINDOWS, NULL, "/usr/../etc/passwd");
    expect_on_z("prefix\\drive_c\\Program Files\\App.exe", "prefix/drive_c/Program Files/App.exe");
    expect("\\\\?\\unix\\etc\\passwd", TRACE_SYSTEM_WINDOWS, NULL, "/etc/passwd");
}

static void case_counts_only_where_both_are_there(void **state)
{
    (void)state;
    expect_on_z("PREFIX\\Drive_C\\program files\\app.EXE", "prefix/drive_c/Program Files/App.exe");
    expect_on_z("twin", "twin");
    expect_on_z("TWIN", "TWIN");
    expect_on_z("prefix\\Missing\\File", "prefix/Missing/File");
}

static void other_drives_are_the_prefix_s(void **state)
{
    char prefix[256];

    (void)state;
    snprintf(prefix, sizeof(prefix), "%s/prefix", folder);
    setenv("WINEPREFIX", prefix, 1);
    expect("C:\\program files\\app.exe", TRACE_SYSTEM_WINDOWS, NULL,
           "prefix/dosdevices/c:/Program Files/App.exe");
    expect("D:\\app.exe", TRACE_SYSTEM_WINDOWS, NULL, NULL);
    snprintf(prefix, sizeof(prefix), "%s/home", folder);
    setenv("HOME", prefix, 1);
    unsetenv("WINEPREFIX");
    expect("c:\\x", TRACE_SYSTEM_WINDOWS, NULL, "home/.wine/dosdevices/c:/x");
    setenv("HOME", "/nowhere", 1);
    expect("c:\\x", TRACE_SYSTEM_WINDOWS, NULL, NULL);
    expect("\\\\server\\share\\x", TRACE_SYSTEM_WINDOWS, NULL, NULL);
    expect("no drive", TRACE_SYSTEM_WINDOWS, NULL, NULL);
}

static void the_longest_map_decides(void **state)
{
    (void)state;
    expect("q:\\Build\\prefix\\drive_c", TRACE_SYSTEM_WINDOWS, "Q:/build=", "prefix/drive_c");
    expect("Q:\\builder", TRACE_SYSTEM_WINDOWS, "Q:\\build=", "/short/builder");
    expect("/build/a/b", TRACE_SYSTEM_LINUX, "/build=", "a/b");
    expect("/builder/a", TRACE_SYSTEM_LINUX, "/build=", "/builder/a");
    expect("/Build/a", TRACE_SYSTEM_LINUX, "/build=", "/Build/a");
    expect("/a=b/c", TRACE_SYSTEM_LINUX, "/a==b=", "c");
    expect("/a=/c", TRACE_SYSTEM_LINUX, "/a===", "c");
    expect("/a=b/c", TRACE_SYSTEM_LINUX, "/a=/", "/a=b/c");
    assert_null(recorded_path_map("/a==b"));
    assert_null(recorded_path_map("=/a"));
    assert_null(recorded_path_map(""));
}

static void linux_paths_are_themselves(void **state)
{
    (void)state;
    expect("/a\\b:c", TRACE_SYSTEM_LINUX, NULL, "/a\\b:c");
}

static void names_are_without_folders(void **state)
{
    (void)state;
    assert_string_equal(recorded_path_name("C:\\a\\b.exe", TRACE_SYSTEM_WINDOWS), "b.exe");
    assert_string_equal(recorded_path_name("/a/b\\c", TRACE_SYSTEM_LINUX), "b\\c");
    assert_string_equal(recorded_path_name("/a/", TRACE_SYSTEM_LINUX), "a/");
    assert_int_equal(recorded_path_system("c:\\x"), TRACE_SYSTEM_WINDOWS);
    assert_int_equal(recorded_path_system("/c:/x"), TRACE_SYSTEM_LINUX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drive_z_is_the_root),
        cmocka_unit_test(case_counts_only_where_both_are_there),
        cmocka_unit_test(other_drives_are_the_prefix_s),
        cmocka_unit_test(the_longest_map_decides),
        cmocka_unit_test(linux_paths_are_themselves),
        cmocka_unit_test(names_are_without_folders),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
