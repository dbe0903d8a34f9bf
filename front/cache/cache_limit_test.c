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

#include "front/base/say.h"
#include "front/cache/cache_limit.h"
#include "front/test_ground/ended.h"
#include "front/test_ground/own_folder.h"

#include <cmocka.h>

#define IMAGES ".cache/umbra/images/"
#define LIMIT  ".cache/umbra/limit"
#define KEY    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde" /* but for one */
#define SIZE   65536 /* bytes of an entry */

static struct cache cache;

static int enter(void **state)
{
    if (own_folder_enter(state) < 0)
        return -1;
    cache = (struct cache){.folder = {.folder = -1}, .images = {.folder = -1}};
    return cache_open_own(&cache, "") ? 0 : -1;
}

static int leave(void **state)
{
    cache_close(&cache);
    return own_folder_leave(state);
}

/* Adds an image that was used `age` seconds ago. */
static void add(const char *name, unsigned age)
{
    static const char bytes[SIZE] = "x";
    struct timespec times[2] = {{.tv_sec = 1700000000 - (time_t)age}, {.tv_nsec = UTIME_OMIT}};
    int file = openat(cache.images.folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_int_equal(write(file, bytes, sizeof(bytes)), sizeof(bytes));
    fsync(file); /* some file systems count blocks when they are written */
    assert_int_equal(futimens(file, times), 0);
    close(file);
    cache.has_grown = true;
}

struct request {
    const char *size;
    int status;
};

static void set_limit(void *argument)
{
    struct request *request = argument;

    exit(cache_set_limit(request->size));
}

static struct ended limit_to(const char *size)
{
    struct request request = {.size = size};

    return ended_by(set_limit, &request);
}

static void expect_limit(const char *size, const char *expected)
{
    char *text;

    assert_int_equal(limit_to(size).status, 0);
    text = own_file_read(LIMIT);
    assert_string_equal(text, expected);
    free(text);
}

static void a_size_has_a_unit(void **state)
{
    (void)state;
    expect_limit("65536", "65536\n");
    expect_limit("64K", "65536\n");
    expect_limit("3M", "3145728\n");
    expect_limit("2G", "2147483648\n");
    expect_limit("1T", "1099511627776\n");
    expect_limit("16777215T", "18446742974197923840\n");
}

static void what_is_no_size_is_refused(void **state)
{
    static const char *const sizes[] = {
        "",          "-1",
        " -5",       "+1",
        " 1",        "K",
        "1KB",       "1X",
        "1.5G",      "18446744073709551616",
        "16777216T", "18446744073709551615K",
    };

    (void)state;
    expect_limit("1G", "1073741824\n");
    add(KEY "0", 0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct ended ended = limit_to(sizes[i]);
        assert_int_equal(ended.status, STATUS_USAGE);
        assert_non_null(strstr(ended.said, "expected bytes"));
    }
    assert_true(own_file_is(IMAGES KEY "0"));
}

static void the_least_recently_used_go_first(void **state)
{
    (void)state;
    own_file_write(LIMIT, "150000\n");
    add(KEY "0", 10);
    add(KEY "1", 30);
    add(KEY "2.left", 20);
    add(KEY "3", 5);
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES KEY "0"));
    assert_false(own_file_is(IMAGES KEY "1"));
    assert_false(own_file_is(IMAGES KEY "2.left"));
    assert_true(own_file_is(IMAGES KEY "3"));
}

static void names_of_others_stay(void **state)
{
    (void)state;
    own_file_write(LIMIT, "0\n");
    add("notes", 1);
    add(KEY, 1);
    add(KEY "0.leftover", 1);
    add(KEY "0.left.left", 1);
    add(KEY "X", 1);
    add("0123456789abcdef0123456789abcdef", 1);
    add(KEY "0", 1);
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES "notes"));
    assert_true(own_file_is(IMAGES KEY));
    assert_true(own_file_is(IMAGES KEY "0.leftover"));
    assert_true(own_file_is(IMAGES KEY "0.left.left"));
    assert_true(own_file_is(IMAGES KEY "X"));
    assert_false(own_file_is(IMAGES "0123456789abcdef0123456789abcdef"));
    assert_false(own_file_is(IMAGES KEY "0"));
}

/* What has just been made may be in the making elsewhere. */
static void what_is_being_made_stays(void **state)
{
    (void)state;
    own_file_write(LIMIT, "0\n");
    add(CACHE_PART "0000000000000001", 100000);
    mkdir(IMAGES CACHE_PART "0000000000000002", 0700);
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES CACHE_PART "0000000000000001"));
    assert_true(own_file_is(IMAGES CACHE_PART "0000000000000002"));
}

static void only_one_that_has_grown_is_trimmed(void **state)
{
    (void)state;
    own_file_write(LIMIT, "0\n");
    add(KEY "0", 1);
    cache.has_grown = false;
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES KEY "0"));
    cache.has_grown = cache.is_apart = true;
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES KEY "0"));
    cache.is_apart = false;
    cache_trim(&cache);
    assert_false(own_file_is(IMAGES KEY "0"));
    assert_false(cache.has_grown);
}

static void who_trims_already_is_left_to_it(void **state)
{
    int lock = open(".cache/umbra/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    own_file_write(LIMIT, "0\n");
    add(KEY "0", 1);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES KEY "0"));
    close(lock);
    cache.has_grown = true;
    cache_trim(&cache);
    assert_false(own_file_is(IMAGES KEY "0"));
}

static void a_limit_that_is_none_is_the_usual_one(void **state)
{
    (void)state;
    add(KEY "0", 1);
    own_file_write(LIMIT, "much\n");
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES KEY "0"));
    unlink(LIMIT);
    assert_int_equal(mkfifo(LIMIT, 0600), 0);
    cache.has_grown = true;
    cache_trim(&cache);
    assert_true(own_file_is(IMAGES KEY "0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_size_has_a_unit),
        TEST(what_is_no_size_is_refused),
        TEST(the_least_recently_used_go_first),
        TEST(names_of_others_stay),
        TEST(what_is_being_made_stays),
        TEST(only_one_that_has_grown_is_trimmed),
        TEST(who_trims_already_is_left_to_it),
        TEST(a_limit_that_is_none_is_the_usual_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
