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

#include "front/base/say.h"
#include "front/recording/recording.h"
#include "front/test_ground/ended.h"
#include "front/test_ground/own_folder.h"

#include <cmocka.h>

static struct recording recording;

static int enter(void **state)
{
    if (own_folder_enter(state) < 0 || mkdir("r", 0700) < 0 || mkdir("r/traces", 0700) < 0)
        return -1;
    own_file_write("r/recording", RECORDING_FIRST_LINE);
    recording_open(&recording, "r/");
    return 0;
}

static int leave(void **state)
{
    recording_free(&recording);
    return own_folder_leave(state);
}

/* --- opening --- */

static void open_named(void *name)
{
    struct recording opened;

    recording_open(&opened, name);
}

static void expect_refused(char *name, const char *why)
{
    struct ended ended = ended_by(open_named, name);

    assert_int_equal(ended.status, STATUS_FAILED);
    assert_non_null(strstr(ended.said, why));
}

static void a_recording_begins_with_its_line(void **state)
{
    char folder[4096];

    (void)state;
    snprintf(folder, sizeof(folder), "%s/r", own_folder_path());
    assert_string_equal(recording.name, "r");
    assert_string_equal(recording.folder, folder);
    assert_true(recording_is_in(AT_FDCWD, "r"));
    assert_false(recording_is_in(AT_FDCWD, "r/traces"));
    assert_false(recording_is_in(AT_FDCWD, "r/recording"));
    own_file_write("r/recording", "umbra recording 2\n");
    assert_false(recording_is_in(AT_FDCWD, "r"));
    expect_refused("r", "found another folder");
    expect_refused("r/recording", "found another file");
    expect_refused("none", "make a recording with");
}

static void expect_name(const char *name, const char *expected)
{
    char *found = recording_name(name);

    assert_string_equal(found, expected);
    free(found);
}

static void a_name_ends_without_slashes(void **state)
{
    (void)state;
    expect_name("a/b//", "a/b");
    expect_name("a", "a");
    expect_name("//", "/");
    expect_name("", "");
}

/* --- values --- */

static void expect_noted(const char *name, const char *expected)
{
    char *value = recording_value(&recording, name);

    if (expected)
        assert_string_equal(value, expected);
    else
        assert_null(value);
    free(value);
}

static void the_last_value_counts(void **state)
{
    (void)state;
    recording_note(&recording, "status", "1");
    recording_note(&recording, "statuses", "2");
    recording_note(&recording, "why", "a\nstatus\t3\033[2J");
    expect_noted("status", "1");
    expect_noted("why", "a?status?3?[2J");
    recording_note(&recording, "status", "4");
    expect_noted("status", "4");
    expect_noted("pid", NULL);
    recording_note(&recording, "pid", "");
    expect_noted("pid", "");
}

static void expect_arguments(const char *noted, const char *expected)
{
    char *arguments;

    recording_note(&recording, "arguments", noted);
    arguments = recording_arguments(&recording);
    if (expected)
        assert_string_equal(arguments, expected);
    else
        assert_null(arguments);
    free(arguments);
}

static void arguments_are_an_array_of_strings(void **state)
{
    char *arguments = recording_arguments(&recording);

    (void)state;
    assert_null(arguments);
    recording_note_arguments(&recording, (char *[]){"sh", "-c", "echo \"a\\b\"", "", NULL});
    arguments = recording_arguments(&recording);
    assert_string_equal(arguments, "[\"sh\",\"-c\",\"echo \\\"a\\\\b\\\"\",\"\"]");
    free(arguments);
    expect_arguments("[\"a\"]", "[\"a\"]");
    expect_arguments("[\"a\",\"b\"]", "[\"a\",\"b\"]");
    expect_arguments("[\"a\",]", NULL);
    expect_arguments("[\"a\"", NULL);
    expect_arguments("[\"a]", NULL);
    expect_arguments("[\"a\\", NULL);
    expect_arguments("[\"a\\n\"]", NULL);
    expect_arguments("[1]", NULL);
    expect_arguments("[\"a\"],\"x\":1", NULL);
    expect_arguments("[[\"a\"]]", NULL);
    expect_arguments("", NULL);
}

/* --- files --- */

static void files_are_counted_by_their_paths(void **state)
{
    struct words paths = {0};

    (void)state;
    own_file_write("r/files", "instrumented\t/b\timages/b\n"
                              "left\t/c\tit has no code\n"
                              "no fields\n"
                              "instrumented\t/a\timages/a\n"
                              "instrumented\t/b\timages/b~2\n");
    assert_int_equal(recording_count_files(&recording, "instrumented"), 2);
    assert_int_equal(recording_count_files(&recording, "left"), 1);
    assert_int_equal(recording_count_files(&recording, "confined"), 0);
    recording_list_files(&recording, "instrumented", &paths);
    assert_int_equal(paths.count, 2);
    assert_string_equal(paths.list[0], "/a");
    assert_string_equal(paths.list[1], "/b");
    words_free(&paths);
}

static void expect_why(const char *path, const char *expected)
{
    char *why = recording_why_left(&recording, path);

    if (expected)
        assert_string_equal(why, expected);
    else
        assert_null(why);
    free(why);
}

static void the_first_reason_counts(void **state)
{
    (void)state;
    expect_why(NULL, NULL);
    own_file_write("r/files", "instrumented\t/a\timages/a\n"
                              "left\t/b\n"
                              "left\t/c\tone\nleft\t/d\ttwo\nleft\t/d\tthree\n");
    expect_why(NULL, "/c: one");
    expect_why("/d", "/d: two");
    expect_why("/a", NULL);
    expect_why("/b", NULL);
}

static void what_was_left_is_shown_without_control_characters(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    own_file_write("r/files",
                   "left\t/a\033\tone\001\nconfined\t/b\t\ninstrumented\t/c\timages/c\n");
    recording_note(&recording, "why", "nothing");
    recording_show_left(&recording, stream);
    fclose(stream);
    assert_non_null(strstr(text, "umbra: /a?: left as it is: one?\n"));
    assert_non_null(strstr(text, "umbra: /b: has confined itself"));
    assert_non_null(strstr(text, "umbra: r: no process was recorded: nothing\n"));
    assert_null(strstr(text, "/c"));
    free(text);
}

/* Only images that are there, and below the recording, are named to the grinder. */
static void maps_lead_to_images(void **state)
{
    struct words words = {0}, coming = {0};
    char expected[4200];

    (void)state;
    mkdir("r/images", 0700);
    own_file_write("r/images/a=b", "");
    own_file_write("outside", "");
    assert_int_equal(symlink("a=b", "r/images/link"), 0);
    own_file_write("r/files", "instrumented\t/a=b\timages/a=b\n"
                              "instrumented\t/missing\timages/missing\n"
                              "instrumented\t/out\t../outside\n"
                              "instrumented\t/etc\t/etc/passwd\n"
                              "instrumented\t/link\timages/link\n"
                              "instrumented\t/folder\timages\n"
                              "left\t/left\timages/a=b\n");
    recording_add_path_maps(&recording, &words);
    snprintf(expected, sizeof(expected), "--path-map=/a==b=%s/images/a=b", recording.folder);
    assert_int_equal(words.count, 1);
    assert_string_equal(words.list[0], expected);
    recording_add_coming_path_map(&recording, &coming);
    snprintf(expected, sizeof(expected), "--path-map=/=%s/images/", recording.folder);
    assert_string_equal(coming.list[0], expected);
    words_free(&words);
    words_free(&coming);
}

/* --- traces --- */

static void processes_have_traces(void **state)
{
    (void)state;
    assert_int_equal(recording_count_processes(&recording), 0);
    own_file_write("r/traces/lua5.4-12-1.bin", "");
    own_file_write("r/traces/lua5.4-12-2.bin", "");
    own_file_write("r/traces/a-b-3-1.bin", "");
    own_file_write("r/traces/lua5.4-12-1.stacks", "");
    own_file_write("r/traces/sh-99-1.bin.part", "");
    own_file_write("r/traces/.bin", "");
    own_file_write("r/traces/x-1.bin", "");
    assert_int_equal(recording_count_processes(&recording), 2);
    recording_keep_process(&recording, "12");
    assert_true(own_file_is("r/traces/lua5.4-12-2.bin"));
    assert_true(own_file_is("r/traces/lua5.4-12-1.stacks"));
    assert_false(own_file_is("r/traces/a-b-3-1.bin"));
    assert_false(own_file_is("r/traces/sh-99-1.bin.part"));
    assert_int_equal(recording_count_processes(&recording), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_recording_begins_with_its_line),
        TEST(a_name_ends_without_slashes),
        TEST(the_last_value_counts),
        TEST(arguments_are_an_array_of_strings),
        TEST(files_are_counted_by_their_paths),
        TEST(the_first_reason_counts),
        TEST(what_was_left_is_shown_without_control_characters),
        TEST(maps_lead_to_images),
        TEST(processes_have_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
