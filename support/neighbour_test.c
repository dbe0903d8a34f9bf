#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/neighbour.h"

#include <cmocka.h>

#define BIN "b[i]n\\*?" /* where programs are: as a pattern it would not be itself */

static char top[] = "/tmp/umbra-neighbour.XXXXXX"; /* the working directory */

static const char *const folders[] = {BIN, "rewriter", "lib", "lib/x86_64-linux-gnu",
                                      "lib/x86_64-linux-gnu/umbra"};
static const char *const files[] = {BIN "/instrument", "rewriter/instrument",
                                    "lib/x86_64-linux-gnu/umbra/libhooks.so"};

static const char *const tool_places[] = {"instrument", "../rewriter/instrument", NULL};
static const char *const agent_places[] = {"../lib/*/umbra/libhooks.so", "../hooks/libhooks.so",
                                           NULL};

static int enter(void **state)
{
    (void)state;
    strcpy(top + sizeof(top) - 7, "XXXXXX");
    if (!mkdtemp(top) || chdir(top) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        if (mkdir(folders[i], 0700) < 0)
            return -1;
    return 0;
}

static int leave(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        unlink(files[i]);
    for (size_t i = sizeof(folders) / sizeof(*folders); i-- > 0;)
        rmdir(folders[i]);
    return chdir("/") == 0 && rmdir(top) == 0 ? 0 : -1;
}

static void touch(const char *name, mode_t mode)
{
    int file = open(name, O_CREAT | O_WRONLY | O_EXCL, mode);

    assert_true(file >= 0);
    close(file);
}

/* `wanted` is seen from the top; null: it is nowhere. */
static void expect(const char *const *places, int mode, const char *wanted)
{
    char folder[PATH_MAX], path[PATH_MAX], whole[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s/" BIN, top);
    assert_int_equal(neighbour_find(folder, places, mode, path), wanted != NULL);
    if (!wanted)
        return;
    snprintf(whole, sizeof(whole), "%s/%s", top, wanted);
    assert_string_equal(path, whole);
}

static void the_first_place_is_taken(void **state)
{
    (void)state;
    expect(tool_places, F_OK, NULL);
    touch("rewriter/instrument", 0700);
    expect(tool_places, F_OK, "rewriter/instrument");
    touch(BIN "/instrument", 0700);
    expect(tool_places, F_OK, BIN "/instrument");
}

static void places_are_patterns(void **state)
{
    (void)state;
    expect(agent_places, F_OK, NULL);
    touch("lib/x86_64-linux-gnu/umbra/libhooks.so", 0600);
    expect(agent_places, F_OK, "lib/x86_64-linux-gnu/umbra/libhooks.so");
}

static void what_cannot_be_run_is_passed_over(void **state)
{
    (void)state;
    touch(BIN "/instrument", 0600);
    expect(tool_places, X_OK, NULL);
    expect(tool_places, F_OK, BIN "/instrument");
    touch("rewriter/instrument", 0700);
    expect(tool_places, X_OK, "rewriter/instrument");
}

static void links_are_followed(void **state)
{
    (void)state;
    assert_int_equal(symlink("../rewriter/instrument", BIN "/instrument"), 0);
    expect(tool_places, F_OK, NULL);
    touch("rewriter/instrument", 0700);
    expect(tool_places, F_OK, "rewriter/instrument");
}

static void a_folder_of_any_length_is_no_harm(void **state)
{
    char folder[3 * PATH_MAX], path[PATH_MAX];

    (void)state;
    memset(folder, '*', sizeof(folder) - 1);
    folder[sizeof(folder) - 1] = 0;
    assert_false(neighbour_find(folder, tool_places, F_OK, path));
    for (size_t length = PATH_MAX - 40; length < PATH_MAX + 8; length++)
        assert_false(neighbour_find(folder + sizeof(folder) - 1 - length, tool_places, F_OK, path));
}

static void this_program_is_beside_itself(void **state)
{
    char folder[PATH_MAX], path[PATH_MAX], *own = realpath("/proc/self/exe", NULL);
    const char *const places[] = {strrchr(own, '/') + 1, NULL};

    (void)state;
    assert_true(neighbour_folder(folder));
    assert_true(neighbour_find(folder, places, X_OK, path));
    assert_string_equal(path, own);
    free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_place_is_taken, enter, leave),
        cmocka_unit_test_setup_teardown(places_are_patterns, enter, leave),
        cmocka_unit_test_setup_teardown(what_cannot_be_run_is_passed_over, enter, leave),
        cmocka_unit_test_setup_teardown(links_are_followed, enter, leave),
        cmocka_unit_test(a_folder_of_any_length_is_no_harm),
        cmocka_unit_test(this_program_is_beside_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
