#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "front/cache/cache_key.h"
#include "front/test_ground/own_folder.h"

#include <cmocka.h>

#define CONTENT "what is instrumented"
#define PATH    "/usr/bin/program"

static int file;
static struct stat status;
static struct cache_tools tools;
static struct cache_key key; /* of file, status, PATH and tools */

static void make(struct cache_key *made, const struct stat *facts, const char *path)
{
    assert_true(cache_key_make(made, &tools, file, facts, path));
}

static int enter(void **state)
{
    if (own_folder_enter(state) < 0)
        return -1;
    tools = (struct cache_tools){{1}};
    own_file_write("file", CONTENT);
    file = open("file", O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) < 0)
        return -1;
    make(&key, &status, PATH);
    return 0;
}

static int leave(void **state)
{
    close(file);
    return own_folder_leave(state);
}

static void expect_another(const struct stat *facts, const char *path)
{
    struct cache_key other;

    make(&other, facts, path);
    assert_string_not_equal(other.text, key.text);
    assert_int_equal(other.content_hash, key.content_hash);
}

static void a_key_is_a_name(void **state)
{
    (void)state;
    assert_int_equal(strlen(key.text), CACHE_KEY_LENGTH);
    assert_int_equal(strspn(key.text, "0123456789abcdef"), CACHE_KEY_LENGTH);
    assert_int_equal(key.content_hash, XXH3_64bits(CONTENT, strlen(CONTENT)));
}

static void facts_that_a_copy_takes_make_another(void **state)
{
    struct stat facts = status;

    (void)state;
    facts.st_mode ^= 0001;
    expect_another(&facts, PATH);
    facts = status;
    facts.st_uid++;
    expect_another(&facts, PATH);
    facts = status;
    facts.st_gid++;
    expect_another(&facts, PATH);
    facts = status;
    facts.st_mtim.tv_sec++;
    expect_another(&facts, PATH);
    facts = status;
    facts.st_mtim.tv_nsec ^= 1;
    expect_another(&facts, PATH);
    expect_another(&status, PATH "s");
    tools.digest[DIGEST_SIZE - 1]++;
    expect_another(&status, PATH);
}

static void other_facts_make_the_same(void **state)
{
    struct stat facts = status;
    struct cache_key same;

    (void)state;
    facts.st_ino++;
    facts.st_dev++;
    facts.st_nlink++;
    facts.st_atim.tv_sec++;
    facts.st_ctim.tv_sec++;
    make(&same, &facts, PATH);
    assert_string_equal(same.text, key.text);
    assert_int_equal(lseek(file, 5, SEEK_SET), 5);
    make(&same, &facts, PATH);
    assert_string_equal(same.text, key.text);
}

static void another_content_makes_another(void **state)
{
    struct cache_key other;

    (void)state;
    assert_int_equal(pwrite(file, "W", 1, 0), 1);
    make(&other, &status, PATH);
    assert_string_not_equal(other.text, key.text);
    assert_int_not_equal(other.content_hash, key.content_hash);
    assert_int_equal(ftruncate(file, 0), 0);
    make(&other, &status, PATH);
    assert_int_equal(other.content_hash, XXH3_64bits("", 0));
}

/* It is read in pieces of 1 MB. */
static void all_of_a_large_file_counts(void **state)
{
    struct cache_key large, other;

    (void)state;
    assert_int_equal(ftruncate(file, (2 << 20) + 1), 0);
    make(&large, &status, PATH);
    assert_int_equal(pwrite(file, "x", 1, 2 << 20), 1);
    make(&other, &status, PATH);
    assert_string_not_equal(other.text, large.text);
    assert_int_equal(pwrite(file, "", 1, 2 << 20), 1);
    make(&other, &status, PATH);
    assert_string_equal(other.text, large.text);
}

static void what_cannot_be_read_has_none(void **state)
{
    struct cache_key none;
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_false(cache_key_make(&none, &tools, folder, &status, PATH));
    close(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_key_is_a_name, enter, leave),
        cmocka_unit_test_setup_teardown(facts_that_a_copy_takes_make_another, enter, leave),
        cmocka_unit_test_setup_teardown(other_facts_make_the_same, enter, leave),
        cmocka_unit_test_setup_teardown(another_content_makes_another, enter, leave),
        cmocka_unit_test_setup_teardown(all_of_a_large_file_counts, enter, leave),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_has_none, enter, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
