/* Whether a new tree would touch the one it is made from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewriter/tool/tree_apart.h"

#include <cmocka.h>

static char folder[] = "/tmp/tree_apart_test.XXXXXX";

/*
 *      above/tree/deep/    the tree is above/tree
 *      other/, file
 *      link -> above/tree, inner -> above/tree/deep
 */
static int make_folder(void **state)
{
    FILE *file;

    (void)state;
    if (!mkdtemp(folder) || chdir(folder) < 0 || mkdir("above", 0700) < 0 ||
        mkdir("above/tree", 0700) < 0 || mkdir("above/tree/deep", 0700) < 0 ||
        mkdir("other", 0700) < 0 || symlink("above/tree", "link") < 0 ||
        symlink("above/tree/deep", "inner") < 0)
        return -1;
    file = fopen("file", "w");
    return file ? fclose(file) : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink("file");
    unlink("link");
    unlink("inner");
    rmdir("other");
    rmdir("above/tree/deep");
    rmdir("above/tree");
    rmdir("above");
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

/* What the tree above/tree may be called. */
static const char *const names[] = {"above/tree", "above/tree/", "link", "above/tree/deep/.."};

static void check_apart(const char *output, bool overwrite)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct failure failure;

        if (!tree_check_apart(names[i], output, overwrite, &failure))
            fail_msg("%s", failure.text);
    }
}

static void check_refusal(const char *output, bool overwrite, const char *text)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct failure failure = {{0}};

        if (tree_check_apart(names[i], output, overwrite, &failure))
            fail_msg("%s is taken for apart from %s", output, names[i]);
        if (!strstr(failure.text, text))
            fail_msg("'%s' does not say '%s'", failure.text, text);
    }
}

static void test_what_is_elsewhere_is_apart(void **state)
{
    (void)state;
    check_apart("new", false);
    check_apart("above/new", false);
    check_apart("above/tree2", false);
    check_apart("other/new", true);
    check_apart("other", true);
    check_apart("other", false); /* that it is there says who writes it */
    check_apart("above", false);
    check_apart("file", true);
    check_apart("link", true); /* the link, not what it leads to */
    check_apart("above/tree/../new", false);
}

static void test_the_tree_itself_is_not(void **state)
{
    (void)state;
    check_refusal("above/tree", false, "found the directory itself, above/tree");
    check_refusal("above/tree", true, "found the directory itself");
    check_refusal("above/tree/", true, "found the directory itself");
    check_refusal("other/../above/tree", true, "found the directory itself");
}

static void test_what_is_within_is_not(void **state)
{
    (void)state;
    check_refusal("above/tree/new", false, "found above/tree/new within it");
    check_refusal("above/tree/deep", true, "within it");
    check_refusal("above/tree/deep/new", false, "within it");
    check_refusal("link/new", false, "within it");
    check_refusal("inner/new", false, "within it");
    check_refusal("other/../above/tree/deep/../new", false, "within it");
}

static void test_what_holds_it_is_not_replaced(void **state)
{
    (void)state;
    check_refusal("above", true, "found above, which holds it");
    check_refusal("other/../above", true, "which holds it");
}

static void test_what_holds_mounts_is_not_replaced(void **state)
{
    struct failure failure;

    (void)state;
    assert_false(tree_check_apart("other", "/proc", true, &failure));
    assert_string_equal(failure.text,
                        "/proc: expected a directory to replace, found one with mounts in it");
}

static void test_a_place_that_cannot_be_is_refused(void **state)
{
    struct failure failure;

    (void)state;
    check_refusal("missing/new", false, "cannot write there");
    assert_false(tree_check_apart("missing", "new", false, &failure));
    assert_string_equal(failure.text, "missing: cannot read it: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_elsewhere_is_apart),
        cmocka_unit_test(test_the_tree_itself_is_not),
        cmocka_unit_test(test_what_is_within_is_not),
        cmocka_unit_test(test_what_holds_it_is_not_replaced),
        cmocka_unit_test(test_what_holds_mounts_is_not_replaced),
        cmocka_unit_test(test_a_place_that_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
