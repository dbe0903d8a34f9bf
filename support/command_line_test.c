/* Command lines: what is read, what is refused, and what --help and shells show of the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command_line.h"

#include <cmocka.h>

enum {
    RECORD = 1 << 0,
    TOP = 1 << 1,
};

static const struct command_option options[] = {
    {"output", 'o', "FOLDER", NULL, RECORD, 'o', 0, "the recording"},
    {"output-format", 0, "NAME", "table tsv", TOP, 2, 0, "table, tsv"},
    {"how", 0, "WAY", "auto prologue copy", RECORD, 3, 0, "auto (default):\ncopies"},
    {"quiet", 'q', NULL, NULL, RECORD | TOP, 'q', 0,
     "no progress on the terminal, nor at the end how many files the … recording holds"},
    {"a-long-name-that-takes", 0, "VALUES", NULL, TOP, 4, 1, "text"},
    {NULL, 'x', "OUT", NULL, RECORD, 'x', 1, "only a letter"},
    {"samples", 0, "HZ", "perf 0 2..10000", TOP, 5, 2, "samples"},
    {"size", 0, "BYTES", "64K..4G", TOP, 6, 2, "bytes"},
    {"interval", 0, "SECONDS", "0.1..", TOP, 7, 2, "seconds"},
    {NULL, 'e', "EVENT", NULL, RECORD, 'e', COMMAND_LINE_HIDDEN, NULL},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL},
};

/* --- what is read --- */

/* The options in a line as "NAME=VALUE ", then "| " and the words that are none. */
static char text[1024];

static void add(const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, sizeof(text) - length, format, arguments);
    va_end(arguments);
}

static int count_of(char **words)
{
    int count = 0;

    while (words[count])
        count++;
    return count;
}

static const char *read_line(unsigned verbs, bool is_ended_by_word, bool has_whole_names,
                             char **words)
{
    struct command_line line;
    struct failure failure;

    text[0] = 0;
    command_line_begin(&line, options, verbs, count_of(words), words);
    line.is_ended_by_word = is_ended_by_word;
    line.has_whole_names = has_whole_names;
    while (command_line_next(&line)) {
        if (!command_line_check(&line, &failure)) {
            add("%s", failure.text);
            return text;
        }
        add("%s", line.option->name ? line.option->name : (char[]){line.option->letter, 0});
        add("%s%s ", line.value ? "=" : "", line.value ? line.value : "");
    }
    add("|");
    for (char **word = line.rest; *word; word++)
        add(" %s", *word);
    return text;
}

#define WORDS(...) ((char *[]){"tool", __VA_ARGS__, NULL})

static void options_and_words_are_told_apart(void **state)
{
    (void)state;
    assert_string_equal(read_line(RECORD, false, false, WORDS("a", "-q", "b", "--output", "c")),
                        "quiet output=c | a b");
    assert_string_equal(read_line(RECORD, false, false, WORDS("--how=copy", "--", "-q", "a")),
                        "how=copy | -q a");
}

static void a_program_ends_them(void **state)
{
    (void)state;
    assert_string_equal(read_line(RECORD, true, false, WORDS("-q", "ls", "-o", "x")),
                        "quiet | ls -o x");
    assert_string_equal(read_line(RECORD, true, false, WORDS("--", "-q")), "| -q");
    assert_string_equal(read_line(RECORD, false, false, (char *[]){"tool", NULL}), "|");
}

static void letters_stand_together(void **state)
{
    (void)state;
    assert_string_equal(
        read_line(RECORD, false, false, WORDS("-qoa", "-x", "b", "-e=c", "-o", "=d")),
        "quiet output=a x=b e=c output==d |");
}

static void names_may_have_to_be_whole(void **state)
{
    (void)state;
    assert_string_equal(read_line(RECORD, false, false, WORDS("--out=a", "--qu")),
                        "output=a quiet |");
    assert_string_equal(read_line(RECORD, false, true, WORDS("--output=a", "--quiet")),
                        "output=a quiet |");
    assert_string_equal(read_line(RECORD, false, true, WORDS("--output", "a", "b")),
                        "output=a | b");
    assert_string_equal(read_line(RECORD, false, true, WORDS("--out=a")),
                        "--out=a: unknown option (did you mean --output?)");
    assert_string_equal(read_line(RECORD, false, true, WORDS("x", "--out", "a")),
                        "--out: unknown option (did you mean --output?)");
}

/* --- what is refused --- */

static void an_option_that_is_none_is_named(void **state)
{
    (void)state;
    assert_string_equal(read_line(RECORD, false, false, WORDS("a", "--queit", "b")),
                        "--queit: unknown option (did you mean --quiet?)");
    assert_string_equal(read_line(TOP, false, false, WORDS("--how=copy")),
                        "--how=copy: unknown option");
    assert_string_equal(read_line(TOP, false, false, WORDS("--quiet", "-qo")),
                        "quiet quiet -o: unknown option");
    assert_string_equal(read_line(RECORD, true, false, WORDS("-zq", "-z")), "-z: unknown option");
}

static void a_value_that_is_wrong_is_told(void **state)
{
    (void)state;
    assert_string_equal(read_line(RECORD, false, false, WORDS("--quiet=1")),
                        "--quiet=1: unexpected value, --quiet takes none");
    assert_string_equal(read_line(RECORD, false, false, WORDS("a", "--output")),
                        "--output: expected FOLDER behind it, found nothing");
    assert_string_equal(read_line(RECORD, false, false, WORDS("-qo")),
                        "quiet -o: expected FOLDER behind it, found nothing");
}

/* --- the table --- */

static void values_have_places(void **state)
{
    const struct command_option *how = command_line_named(options, RECORD, "how=", 3);

    (void)state;
    assert_int_equal(command_line_find_value(how, "auto"), 0);
    assert_int_equal(command_line_find_value(how, "copy"), 2);
    assert_int_equal(command_line_find_value(how, "prologues"), -1);
    assert_int_equal(command_line_find_value(how, ""), -1);
    assert_int_equal(command_line_find_value(options, "x"), -1);
    assert_string_equal(command_line_list_values(how, text, sizeof(text)),
                        "auto, prologue or copy");
    assert_string_equal(command_line_list_values(how, text, 10), "auto, pro");
    assert_string_equal(command_line_list_values(options + 1, text, sizeof(text)), "table or tsv");
    assert_null(command_line_named(options, TOP, "how", 3));
    assert_null(command_line_lettered(options, TOP, 'o'));
    assert_ptr_equal(command_line_lettered(options, RECORD, 'o'), options);
}

static bool takes(const char *name, const char *word, double expected)
{
    double number;

    return command_line_number(command_line_named(options, TOP, name, strlen(name)), word,
                               &number) &&
           number >= expected && number <= expected;
}

static bool refuses(const char *name, const char *word)
{
    double number;

    return !command_line_number(command_line_named(options, TOP, name, strlen(name)), word,
                                &number);
}

static void numbers_have_ranges(void **state)
{
    (void)state;
    assert_true(takes("samples", "0", 0) && takes("samples", "10000", 10000));
    assert_true(refuses("samples", "1") && refuses("samples", "10001"));
    assert_true(refuses("samples", "perf") && refuses("samples", "") && refuses("samples", "-2"));
    assert_true(refuses("samples", "2.5") && refuses("samples", "2K"));
    assert_true(takes("size", "65536", 65536) && takes("size", "64k", 65536));
    assert_true(takes("size", "4G", 4294967296.) && refuses("size", "4294967297"));
    assert_true(refuses("size", "1KB") && refuses("size", "K") && refuses("size", "1"));
    assert_true(refuses("size", "99999999999999999999"));
    assert_true(takes("interval", "0.5", 0.5) && takes("interval", "1000000", 1000000));
    assert_true(refuses("interval", "0") && refuses("interval", "nan") &&
                refuses("interval", "1e"));
}

static const char *listed(const char *name)
{
    return command_line_list_values(command_line_named(options, TOP, name, strlen(name)), text,
                                    sizeof(text));
}

static void ranges_are_named(void **state)
{
    (void)state;
    assert_string_equal(listed("samples"), "perf, 0 or a number from 2 to 10000");
    assert_string_equal(listed("size"), "bytes from 64K to 4G");
    assert_string_equal(listed("interval"), "seconds from 0.1");
}

/* --- what is printed --- */

/* What is on stdout from here to printed(). */
static int stdout_before;
static FILE *stdout_file;

static void catch_stdout(void)
{
    fflush(stdout);
    stdout_before = dup(STDOUT_FILENO);
    stdout_file = tmpfile();
    assert_non_null(stdout_file);
    dup2(fileno(stdout_file), STDOUT_FILENO);
}

static const char *printed(void)
{
    size_t length;

    fflush(stdout);
    dup2(stdout_before, STDOUT_FILENO);
    close(stdout_before);
    rewind(stdout_file);
    length = fread(text, 1, sizeof(text) - 1, stdout_file);
    text[length] = 0;
    fclose(stdout_file);
    return text;
}

static void help_is_aligned(void **state)
{
    (void)state;
    catch_stdout();
    command_line_print_help(options, RECORD, 0, 24);
    assert_string_equal(printed(), "  -o, --output=FOLDER   the recording\n"
                                   "  --how=WAY             auto (default):\n"
                                   "                        copies\n"
                                   "  -q, --quiet           no progress on the terminal, nor at "
                                   "the end how many\n"
                                   "                        files the … recording holds\n");
    catch_stdout();
    command_line_print_help(options, RECORD | TOP, 1, 24);
    assert_string_equal(printed(), "  --a-long-name-that-takes=VALUES\n"
                                   "                        text\n"
                                   "  -x OUT                only a letter\n");
}

static void shells_get_each_spelling(void **state)
{
    (void)state;
    catch_stdout();
    command_line_print_options(options, RECORD);
    assert_string_equal(printed(), "--output=\tFOLDER\tthe recording\n"
                                   "-o\tFOLDER\tthe recording\n"
                                   "--how=\tauto prologue copy\tauto (default): copies\n"
                                   "--quiet\t-\tno progress on the terminal, nor at the end how "
                                   "many files the … recording holds\n"
                                   "-q\t-\tno progress on the terminal, nor at the end how "
                                   "many files the … recording holds\n"
                                   "-x\tOUT\tonly a letter\n");
}

static void ranges_are_not_completed(void **state)
{
    (void)state;
    catch_stdout();
    for (const struct command_option *row = options; row->name || row->letter; row++)
        if (row->section == 2)
            command_line_print_options((struct command_option[]){*row, {.name = NULL}}, TOP);
    assert_string_equal(printed(), "--samples=\tperf 0\tsamples\n--size=\tBYTES\tbytes\n"
                                   "--interval=\tSECONDS\tseconds\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_words_are_told_apart),
        cmocka_unit_test(a_program_ends_them),
        cmocka_unit_test(letters_stand_together),
        cmocka_unit_test(names_may_have_to_be_whole),
        cmocka_unit_test(an_option_that_is_none_is_named),
        cmocka_unit_test(a_value_that_is_wrong_is_told),
        cmocka_unit_test(values_have_places),
        cmocka_unit_test(numbers_have_ranges),
        cmocka_unit_test(ranges_are_named),
        cmocka_unit_test(help_is_aligned),
        cmocka_unit_test(shells_get_each_spelling),
        cmocka_unit_test(ranges_are_not_completed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
