#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "front/supervisor/known_files.h"
#include "front/test_ground/own_folder.h"

#include <cmocka.h>

static struct known_files files, all[16]; /* nothing of any is freed */
static struct stat original, copy, other;

static int enter(void **state)
{
    static size_t count;

    if (own_folder_enter(state) < 0)
        return -1;
    files = all[count++] = known_files_new();
    own_file_write("original", "");
    own_file_write("copy", "");
    own_file_write("other", "");
    return stat("original", &original) | stat("copy", &copy) | stat("other", &other);
}

static int open_name(const char *name)
{
    int file = open(name, O_PATH | O_CLOEXEC);

    assert_true(file >= 0);
    return file;
}

static void nothing_is_known_at_first(void **state)
{
    (void)state;
    assert_null(known_copy(&files, &copy));
    assert_null(known_copy_of(&files, &original));
    assert_false(known_is_left(&files, &original));
    assert_true(known_is_same(&copy, &copy));
    assert_false(known_is_same(&copy, &original));
}

static void a_copy_knows_its_original(void **state)
{
    char image[] = "images/original";
    const struct known_file *found;
    struct stat status;

    (void)state;
    known_add_copy(&files, &copy, open_name("original"), image);
    memset(image, 0, sizeof(image));
    found = known_copy(&files, &copy);
    assert_non_null(found);
    assert_string_equal(found->image, "images/original");
    assert_int_equal(fstat(found->original, &status), 0);
    assert_true(known_is_same(&status, &original));
    assert_ptr_equal(known_copy_of(&files, &original), found);
    assert_null(known_copy(&files, &original));
    assert_null(known_copy_of(&files, &copy));
    assert_false(known_is_left(&files, &copy));
}

static void what_is_known_already_stays(void **state)
{
    const struct known_file *found;
    int again;

    (void)state;
    known_add_copy(&files, &copy, open_name("original"), "images/original");
    found = known_copy(&files, &copy);
    again = open_name("original");
    known_add_copy(&files, &copy, again, "images/original~2");
    assert_ptr_equal(known_copy(&files, &copy), found);
    assert_true(fcntl(again, F_GETFD) < 0); /* it was taken over, and is not needed */
}

static void the_newest_copy_of_several_lies_over_the_original(void **state)
{
    (void)state;
    known_add_copy(&files, &copy, open_name("original"), "images/original");
    known_add_copy(&files, &other, open_name("original"), "images/original~2");
    assert_string_equal(known_copy_of(&files, &original)->image, "images/original~2");
    assert_string_equal(known_copy(&files, &copy)->image, "images/original");
}

/* The inode of a file that was removed is given to another. */
static void a_copy_of_another_file_is_another(void **state)
{
    const struct known_file *before;

    (void)state;
    known_add_copy(&files, &copy, open_name("original"), "images/original");
    before = known_copy(&files, &copy);
    known_add_copy(&files, &copy, open_name("other"), "images/other");
    assert_string_equal(known_copy(&files, &copy)->image, "images/other");
    assert_string_equal(before->image, "images/original");
    assert_null(known_copy_of(&files, &original));
}

static void what_changes_is_no_longer_left(void **state)
{
    struct stat changed = original;

    (void)state;
    known_add_left(&files, &original);
    assert_true(known_is_left(&files, &original));
    assert_false(known_is_left(&files, &other));
    assert_null(known_copy(&files, &original));
    changed.st_ctim.tv_nsec ^= 1;
    assert_false(known_is_left(&files, &changed));
    changed = original;
    changed.st_ctim.tv_sec++;
    assert_false(known_is_left(&files, &changed));
    known_add_left(&files, &changed);
    assert_true(known_is_left(&files, &changed));
    assert_false(known_is_left(&files, &original));
}

static void a_left_file_may_become_a_copy(void **state)
{
    (void)state;
    known_add_left(&files, &copy);
    known_add_copy(&files, &copy, open_name("original"), "images/original");
    assert_false(known_is_left(&files, &copy));
    assert_non_null(known_copy(&files, &copy));
}

/* --- one thread at a time --- */

#define THREADS 4
#define TURNS   500

static atomic_int makers, met_another;

static void *make(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        known_begin(&files, &original);
        if (atomic_fetch_add(&makers, 1) > 0)
            atomic_store(&met_another, 1);
        sched_yield();
        atomic_fetch_sub(&makers, 1);
        known_end(&files, &original);
    }
    return unused;
}

static void one_thread_makes_it_and_others_wait(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&met_another), 0);
}

static void other_files_do_not_wait(void **state)
{
    (void)state;
    known_begin(&files, &original);
    known_begin(&files, &other);
    known_begin(&files, &copy);
    known_end(&files, &other);
    known_begin(&files, &other);
    known_end(&files, &original);
    known_end(&files, &copy);
    known_end(&files, &other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, own_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_known_at_first),
        TEST(a_copy_knows_its_original),
        TEST(what_is_known_already_stays),
        TEST(the_newest_copy_of_several_lies_over_the_original),
        TEST(a_copy_of_another_file_is_another),
        TEST(what_changes_is_no_longer_left),
        TEST(a_left_file_may_become_a_copy),
        TEST(one_thread_makes_it_and_others_wait),
        TEST(other_files_do_not_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
