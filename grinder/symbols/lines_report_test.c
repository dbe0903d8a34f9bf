/* What is taken over of a child's report of lines and of what is inlined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grinder/symbols/lines.h"
#include "grinder/symbols/lines_sample.h"
#include "support/memory.h"

#include <cmocka.h>

/* A report, and what is said of three addresses, the last of which is no spot. */
struct told {
    int pipe;
    struct line_table table;
};

static void tell_begin(struct told *told)
{
    uint64_t *addresses = memory_zeroed(3, sizeof(*addresses));

    told->pipe = memfd_create("report", MFD_CLOEXEC);
    assert_true(told->pipe >= 0);
    for (size_t i = 0; i < 3; i++)
        addresses[i] = 0x1000 + i;
    line_table_begin(&told->table, addresses, 3);
    line_table_add_spot(&told->table, 0x1000);
    line_table_add_spot(&told->table, 0x1001);
}

static void tell_bytes(const struct told *told, const void *bytes, size_t size)
{
    assert_int_equal(write(told->pipe, bytes, size), (ssize_t)size);
}

static void tell(const struct told *told, char kind, size_t count, const uint32_t *words)
{
    tell_bytes(told, &kind, 1);
    tell_bytes(told, words, count * sizeof(*words));
}

#define TELL(told, kind, ...)                                                                      \
    tell(told, kind, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
         (uint32_t[]){__VA_ARGS__})

static void tell_name(const struct told *told, char kind, const char *name)
{
    TELL(told, kind, (uint32_t)strlen(name));
    tell_bytes(told, name, strlen(name));
}

/* Takes it; returns what line_table_take does. The table is to be freed. */
static bool tell_end(struct told *told)
{
    struct failure failure = {""};
    bool is_taken;

    lseek(told->pipe, 0, SEEK_SET);
    is_taken = line_table_take(&told->table, told->pipe, &failure);
    close(told->pipe);
    expect_sound(&told->table);
    return is_taken;
}

static void tell_names(struct told *told)
{
    tell_begin(told);
    tell_name(told, LINES_FILE, "a.c");
    tell_name(told, LINES_FUNCTION, "inner\n");
}

static void a_report_as_drawn(void **state)
{
    struct told told;
    const struct inlined *inlined;

    (void)state;
    tell_names(&told);
    TELL(&told, LINES_LINE, 0, 1, 7);
    TELL(&told, LINES_LINE, 1, 1, 8);
    TELL(&told, LINES_SPOT, 1, 1, 9);
    TELL(&told, LINES_INLINED, 0, 0, 1, 70);
    TELL(&told, LINES_INLINED, 1, 1, 0, 71);
    TELL(&told, LINES_INNERMOST, 0, 2);
    assert_true(tell_end(&told));
    inlined = line_table_inlined(&told.table, 0x1000);
    assert_string_equal(inlined->name, "inner?");
    assert_int_equal(inlined->call.line, 71);
    assert_int_equal(inlined->depth, 2);
    assert_string_equal(inlined->outer->name, "???");
    assert_int_equal(inlined->outer->call.file, 1);
    assert_null(inlined->outer->outer);
    assert_null(line_table_inlined(&told.table, 0x1001));
    assert_int_equal(line_table_find_spot(&told.table, 0x1000).line, 7);
    assert_int_equal(line_table_find_spot(&told.table, 0x1001).line, 9);
    assert_int_equal(line_table_find(&told.table, 0x1001).line, 8);
    line_table_free(&told.table);
}

static void records_that_lie_end_a_report(void **state)
{
    static const struct {
        char kind;
        size_t count;
        uint32_t words[4];
    } lies[] = {
        {LINES_INLINED, 4, {2, 1, 1, 1}},          /* within itself */
        {LINES_INLINED, 4, {UINT32_MAX, 1, 1, 1}}, /* within none that is there */
        {LINES_INLINED, 4, {0, 2, 1, 1}},          /* of a name to come */
        {LINES_INLINED, 4, {0, 1, 2, 1}},          /* in a file to come */
        {LINES_INNERMOST, 2, {3, 1}},              /* at no address */
        {LINES_INNERMOST, 2, {2, 1}},              /* at an address that is no spot */
        {LINES_INNERMOST, 2, {1, 2}},              /* of a call to come */
        {LINES_FUNCTION, 1, {0}},                  /* no name */
        {LINES_FUNCTION, 1, {LINES_MAX_NAME + 1}}, /* too long a name */
        {LINES_FUNCTION, 1, {3}},                  /* a name that ends early */
        {LINES_INLINED, 3, {0, 1, 1}},             /* a record that ends early */
        {'?', 0, {0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct told told;
        tell_names(&told);
        TELL(&told, LINES_INLINED, 0, 1, 1, 1);
        TELL(&told, LINES_INNERMOST, 0, 1);
        tell(&told, lies[i].kind, lies[i].count, lies[i].words);
        if (tell_end(&told))
            fail_msg("lie %zu is believed", i);
        assert_non_null(line_table_inlined(&told.table, 0x1000)); /* what came before is kept */
        assert_null(line_table_inlined(&told.table, 0x1001));
        line_table_free(&told.table);
    }
}

static void a_name_is_not_empty(void **state)
{
    static const char kinds[] = {LINES_FILE, LINES_FUNCTION};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds); i++) {
        struct told told;
        tell_begin(&told);
        TELL(&told, kinds[i], 2);
        tell_bytes(&told, "\0n", 2);
        assert_false(tell_end(&told));
        line_table_free(&told.table);
    }
}

static void reports_have_limits(void **state)
{
    struct told told;
    char name[LINES_MAX_NAME + 1] = {0};

    (void)state;
    for (uint32_t depth = LINES_MAX_DEPTH; depth <= LINES_MAX_DEPTH + 1; depth++) {
        tell_names(&told);
        for (uint32_t i = 0; i < depth; i++)
            TELL(&told, LINES_INLINED, i, 1, 1, 1);
        TELL(&told, LINES_INNERMOST, 0, LINES_MAX_DEPTH);
        assert_int_equal(tell_end(&told), depth <= LINES_MAX_DEPTH);
        line_table_free(&told.table);
    }
    memset(name, 'n', LINES_MAX_NAME);
    tell_begin(&told);
    for (size_t text = 0; text <= LINES_MAX_TEXT; text += lines_name_cost(LINES_MAX_NAME))
        tell_name(&told, text % 2 ? LINES_FILE : LINES_FUNCTION, name);
    assert_false(tell_end(&told));
    line_table_free(&told.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_as_drawn),
        cmocka_unit_test(records_that_lie_end_a_report),
        cmocka_unit_test(a_name_is_not_empty),
        cmocka_unit_test(reports_have_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
