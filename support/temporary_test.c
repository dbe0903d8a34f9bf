#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary.h"

#include <cmocka.h>

static int directory; /* the working directory, an empty one */

static int enter(void **state)
{
    static char path[] = "/tmp/umbra-temporary.XXXXXX";

    (void)state;
    strcpy(path + sizeof(path) - 7, "XXXXXX");
    if (!mkdtemp(path) || chdir(path) < 0)
        return -1;
    *state = path;
    directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return directory < 0 ? -1 : 0;
}

static int leave(void **state)
{
    int above = open("..", O_PATH | O_DIRECTORY | O_CLOEXEC);

    close(directory);
    temporary_remove(above, strrchr(*state, '/') + 1);
    close(above);
    return access(*state, F_OK) < 0 ? 0 : -1;
}

static bool exists(const char *name)
{
    struct stat status;

    return lstat(name, &status) == 0;
}

static void touch(const char *name)
{
    close(open(name, O_CREAT | O_WRONLY, 0600));
    assert_true(exists(name));
}

static void names_tell_whose_they_are(void **state)
{
    char file[TEMPORARY_NAME_SIZE], tree[TEMPORARY_NAME_SIZE], long_name[300];
    struct stat status;
    int descriptor = temporary_file(directory, "out", file);

    (void)state;
    assert_true(descriptor >= 0);
    assert_memory_equal(file, ".out.umbra-", 11);
    assert_int_equal(strlen(file), 17);
    assert_int_equal(write(descriptor, "x", 1), 1);
    close(descriptor);
    descriptor = temporary_directory(directory, "out", tree);
    assert_true(descriptor >= 0);
    assert_string_not_equal(file, tree);
    assert_int_equal(fstat(descriptor, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
    close(descriptor);
    memset(long_name, 'n', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = 0;
    descriptor = temporary_file(directory, long_name, file);
    assert_true(descriptor >= 0);
    close(descriptor);
    temporary_sweep(directory, long_name);
    assert_false(exists(file));
    assert_int_equal(temporary_file(-1, "out", file), -1);
    assert_int_equal(errno, EBADF);
}

static void a_leftover_is_removed_and_nothing_else(void **state)
{
    static const char *const others[] = {".out.backup", ".out.umbra-12345",  ".out.umbra-1234567",
                                         "out",         ".out.umbra-a.cdef", ".out2.umbra-abcdef"};
    char file[TEMPORARY_NAME_SIZE], tree[TEMPORARY_NAME_SIZE], kept[TEMPORARY_NAME_SIZE];
    int held = temporary_file(directory, "out", kept);

    (void)state;
    close(temporary_file(directory, "out", file));
    close(temporary_directory(directory, "out", tree));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        touch(others[i]);
    assert_int_equal(symlink("out", ".out.umbra-symlnk"), 0);
    assert_int_equal(mkfifo(".out.umbra-pipe00", 0600), 0);
    if (geteuid() == 0) {
        touch(".out.umbra-theirs");
        assert_int_equal(chown(".out.umbra-theirs", 65534, 65534), 0);
    }
    temporary_sweep(directory, "out");
    assert_false(exists(file));
    assert_false(exists(tree));
    assert_true(exists(kept)); /* its maker lives */
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_true(exists(others[i]));
    assert_true(exists(".out.umbra-symlnk"));
    assert_true(exists(".out.umbra-pipe00"));
    assert_true(geteuid() != 0 || exists(".out.umbra-theirs"));
    close(held);
    temporary_sweep(directory, "out");
    assert_false(exists(kept));
}

/* What was opened without a name gets one, with a lock on it from the start. */
static void a_nameless_file_gets_a_name(void **state)
{
    char name[TEMPORARY_NAME_SIZE];
    int descriptor = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    (void)state;
    if (descriptor < 0)
        skip(); /* not on this file system */
    assert_true(temporary_link(directory, "out", descriptor, name));
    temporary_sweep(directory, "out");
    assert_true(exists(name));
    close(descriptor);
    temporary_sweep(directory, "out");
    assert_false(exists(name));
}

static void a_tree_goes_and_what_its_links_lead_to_stays(void **state)
{
    char tree[TEMPORARY_NAME_SIZE], link[2 * TEMPORARY_NAME_SIZE];
    char deep[2 * TEMPORARY_NAME_SIZE], before[4096], after[4096];
    int descriptor = temporary_directory(directory, "out", tree);

    (void)state;
    close(descriptor);
    assert_int_equal(mkdir("elsewhere", 0700), 0);
    touch("elsewhere/file");
    snprintf(link, sizeof(link), "%s/link", tree);
    assert_int_equal(symlink("../elsewhere", link), 0);
    snprintf(deep, sizeof(deep), "%s/deep", tree);
    assert_int_equal(mkdir(deep, 0700), 0);
    snprintf(deep, sizeof(deep), "%s/deep/closed", tree);
    assert_int_equal(mkdir(deep, 0000), 0);
    assert_non_null(getcwd(before, sizeof(before)));
    temporary_sweep(directory, "out");
    assert_non_null(getcwd(after, sizeof(after)));
    assert_string_equal(before, after);
    assert_false(exists(tree));
    assert_true(exists("elsewhere/file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_tell_whose_they_are, enter, leave),
        cmocka_unit_test_setup_teardown(a_leftover_is_removed_and_nothing_else, enter, leave),
        cmocka_unit_test_setup_teardown(a_nameless_file_gets_a_name, enter, leave),
        cmocka_unit_test_setup_teardown(a_tree_goes_and_what_its_links_lead_to_stays, enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
