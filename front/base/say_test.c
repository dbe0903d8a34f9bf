#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/base/say.h"
#include "front/test_ground/ended.h"

#include <cmocka.h>

static const struct {
    const char *word, *quoted;
} words[] = {
    {"--leave=/usr/lib/x86_64-linux-gnu/libc.so.6", "--leave=/usr/lib/x86_64-linux-gnu/libc.so.6"},
    {"a:b,c+d@e%f_g", "a:b,c+d@e%f_g"},
    {"", "''"},
    {"two words", "'two words'"},
    {"!x", "'!x'"},
    {"*", "'*'"},
    {"$HOME", "'$HOME'"},
    {"a\\b", "'a\\b'"},
    {"it's", "'it'\\''s'"},
    {"'", "''\\'''"},
    {"größe", "'größe'"},
};

#define WORDS (sizeof(words) / sizeof(*words))

static void words_are_quoted_as_for_a_shell(void **state)
{
    (void)state;
    for (size_t i = 0; i < WORDS; i++) {
        char *quoted = say_quoted(words[i].word);
        assert_string_equal(quoted, words[i].quoted);
        free(quoted);
    }
}

/* What a shell takes for one word is the word. */
static void a_shell_reads_the_words(void **state)
{
    char command[256], read[64];

    (void)state;
    for (size_t i = 0; i < WORDS; i++) {
        char *quoted = say_quoted(words[i].word);
        FILE *shell;
        snprintf(command, sizeof(command), "printf '%%s|' %s", quoted);
        shell = popen(command, "r");
        assert_non_null(shell);
        read[fread(read, 1, sizeof(read) - 1, shell)] = 0;
        assert_int_equal(pclose(shell), 0);
        assert_int_equal(strlen(read), strlen(words[i].word) + 1);
        assert_memory_equal(read, words[i].word, strlen(words[i].word));
        free(quoted);
    }
}

static void speak(void *text)
{
    char *const command[] = {"grinder", "two words", NULL};

    say_command(command);
    say("%s", (const char *)text);
    say_commands();
    say_command(command);
    say_and_exit(STATUS_USAGE, "%d of %d", 1, 2);
}

static void a_line_has_no_control_characters(void **state)
{
    struct ended ended = ended_by(speak, "a\033[2Jb\nc");

    (void)state;
    assert_int_equal(ended.status, STATUS_USAGE);
    assert_string_equal(ended.said, "umbra: a?[2Jb?c\n"
                                    "umbra: + grinder 'two words'\n"
                                    "umbra: 1 of 2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_quoted_as_for_a_shell),
        cmocka_unit_test(a_shell_reads_the_words),
        cmocka_unit_test(a_line_has_no_control_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
