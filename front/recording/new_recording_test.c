/* The table of new_recording.h, row by row. Each recording says which one it is in its `pid`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/recording/new_recording.h"
#include "front/test_ground/ended.h"
#include "front/test_ground/own_folder.h"
#include "support/memory.h"

#include <cmocka.h>

static struct new_recording new;

static void write_in(const char *folder, const char *name, const char *text)
{
    char *path = memory_print("%s/%s", folder, name);

    own_file_write(path, text);
    free(path);
}

static void add_trace(const char *folder)
{
    char *traces = memory_print("%s/traces", folder);

    mkdir(traces, 0700);
    write_in(traces, "sh-1-1.bin", "");
    free(traces);
}

static void add(const char *folder, const char *which)
{
    char *text = memory_print(RECORDING_FIRST_LINE "pid\t%s\n", which);

    assert_int_equal(mkdir(folder, 0700), 0);
    write_in(folder, "recording", text);
    free(text);
}

static void make(void)
{
    char *why = new_recording_make(&new, "data");

    assert_null(why);
    recording_note(&new.recording, "pid", "new");
}

/* Null: nothing is there. */
static void expect(const char *folder, const char *which)
{
    struct recording recording;
    char *value;

    if (!which) {
        assert_false(own_file_is(folder));
        return;
    }
    recording_open(&recording, folder);
    value = recording_value(&recording, "pid");
    assert_string_equal(value, which);
    free(value);
    recording_free(&recording);
}

static void expect_all(const char *data, const char *old, const char *older, const char *failed)
{
    expect("data", data);
    expect("data.old", old);
    expect("data/older", older);
    expect("data.failed", failed);
}

static void end(enum new_recording_end expected)
{
    assert_int_equal(new_recording_end(&new), expected);
}

static void let_go(void)
{
    recording_free(&new.recording);
    close(new.parent);
    free(new.base);
}

static void the_first_is_made(void **state)
{
    struct stat status;

    (void)state;
    make();
    expect_all("new", NULL, NULL, NULL);
    assert_int_equal(stat("data", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    end(NEW_RECORDING_STAYS);
    expect_all("new", NULL, NULL, NULL);
    let_go();
}

static void make_with_two_earlier(void)
{
    add("data", "B");
    add_trace("data");
    add("data.old", "A");
    make();
    expect_all("new", "B", "A", NULL);
}

static void an_earlier_one_becomes_old(void **state)
{
    (void)state;
    make_with_two_earlier();
    add_trace("data");
    end(NEW_RECORDING_STAYS);
    expect_all("new", "B", NULL, NULL);
    assert_string_equal(new.recording.name, "data");
    let_go();
}

static void a_failed_one_gives_the_names_back(void **state)
{
    (void)state;
    make_with_two_earlier();
    end(NEW_RECORDING_FAILED);
    expect_all("B", "A", NULL, "new");
    assert_string_equal(new.recording.name, "data.failed");
    let_go();
}

static void a_failed_one_takes_the_place_of_a_failed_one(void **state)
{
    (void)state;
    add("data.failed", "before");
    add("data", "B");
    add_trace("data");
    make();
    end(NEW_RECORDING_FAILED);
    expect_all("B", NULL, NULL, "new");
    let_go();
}

static void what_else_is_called_failed_stays(void **state)
{
    (void)state;
    own_file_write("data.failed", "notes");
    add("data", "B");
    add_trace("data");
    make();
    end(NEW_RECORDING_GONE);
    expect("data", "B");
    expect("data.old", NULL);
    free(own_file_read("data.failed"));
    let_go();
}

static void one_that_is_taken_back_leaves_nothing(void **state)
{
    (void)state;
    make_with_two_earlier();
    new_recording_take_back(&new);
    expect_all("B", "A", NULL, NULL);
    let_go();
    make();
    new_recording_take_back(&new);
    let_go();
    expect("data", "B");
}

static void make_with_an_empty_earlier(void)
{
    add("data", "B");
    add("data.old", "A");
    make();
    expect_all("new", "A", "B", NULL);
}

static void one_of_no_process_gives_its_place(void **state)
{
    (void)state;
    make_with_an_empty_earlier();
    end(NEW_RECORDING_STAYS);
    expect_all("new", "A", NULL, NULL);
    let_go();
}

static void one_of_no_process_comes_back_too(void **state)
{
    (void)state;
    make_with_an_empty_earlier();
    new_recording_take_back(&new);
    expect_all("B", "A", NULL, NULL);
    let_go();
}

/* --- what is refused --- */

static void make_named(void *name)
{
    char *why = new_recording_make(&new, name);

    if (why)
        say_and_exit(STATUS_FAILED, "returned: %s", why);
}

static void expect_refused(char *name, int status, const char *why)
{
    struct ended ended = ended_by(make_named, name);

    assert_int_equal(ended.status, status);
    assert_non_null(strstr(ended.said, why));
}

static void what_is_no_recording_stays(void **state)
{
    (void)state;
    mkdir("folder", 0700);
    own_file_write("file", "");
    expect_refused("folder", STATUS_FAILED, "found something else");
    expect_refused("file", STATUS_FAILED, "found something else");
    expect_refused(".", STATUS_FAILED, "found something else");
    expect_refused("folder/..", STATUS_FAILED, "found something else");
    expect_refused("", STATUS_USAGE, "expected the name of a folder");
    expect_refused("none/data", STATUS_FAILED, "returned: none/data: cannot be made");
    add("data", "B");
    mkdir("data.old", 0700);
    expect_refused("data", STATUS_FAILED, "data.old: expected a recording or nothing");
    expect("data", "B");
}

static void one_that_goes_on_stays(void **state)
{
    (void)state;
    make();
    expect_refused("data", STATUS_FAILED, "is being recorded by another");
    expect("data", "new");
    let_go();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, own_folder_enter, own_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_is_made),
        TEST(an_earlier_one_becomes_old),
        TEST(a_failed_one_gives_the_names_back),
        TEST(a_failed_one_takes_the_place_of_a_failed_one),
        TEST(what_else_is_called_failed_stays),
        TEST(one_that_is_taken_back_leaves_nothing),
        TEST(one_of_no_process_gives_its_place),
        TEST(one_of_no_process_comes_back_too),
        TEST(what_is_no_recording_stays),
        TEST(one_that_goes_on_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
