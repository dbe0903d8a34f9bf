#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grinder/profile/unhooked.h"
#include "trace/unhooked_format.h"

#include <cmocka.h>

#define CREATED_NS 12345
#define PID        678
#define FUNCTIONS  8 /* of each module's file, all recorded */

/* A trace of two modules, of files of their own: the first has the functions 1 to 8, the second
 * those from 5 on. */
struct sample {
    struct tree_module modules[3];
    struct tree tree;
    struct images images;
    struct {
        struct unhooked_header header;
        struct unhooked records[4];
    } file;
};

static void begin(struct sample *sample)
{
    memset(sample, 0, sizeof(*sample));
    images_begin(&sample->images);
    for (uint32_t i = 1; i < 3; i++) {
        uint32_t image = images_add_listed(&sample->images, "module");

        sample->modules[i] = (struct tree_module){
            .first_function = i == 1 ? 1 : 5, .function_count = FUNCTIONS, .image = image};
        for (uint32_t j = 0; j < FUNCTIONS; j++)
            images_function(&sample->images, image, j);
    }
    sample->tree = (struct tree){.header = {.created_ns = CREATED_NS, .pid = PID},
                                 .modules = sample->modules,
                                 .module_count = 3};
    sample->file.header = (struct unhooked_header){.version = UNHOOKED_VERSION,
                                                   .created_ns = CREATED_NS,
                                                   .pid = PID,
                                                   .percent_256 = 2 * 256 + 128};
    memcpy(sample->file.header.magic, UNHOOKED_MAGIC, sizeof(sample->file.header.magic));
}

static void add(struct sample *sample, uint32_t function, bool by_user)
{
    sample->file.records[sample->file.header.count++] =
        (struct unhooked){.function = function, .by_user = by_user};
}

static bool take(struct sample *sample, size_t size)
{
    const struct bounded_file file = bounded_file_of(&sample->file, size);

    return unhooked_take(&sample->tree, &sample->images, &file);
}

static size_t whole(const struct sample *sample)
{
    return sizeof(struct unhooked_header) + sample->file.header.count * sizeof(struct unhooked);
}

static bool is_marked(const struct sample *sample, uint32_t module, uint32_t index)
{
    const struct images *images = &sample->images;

    return images->functions[images_recorded(images, sample->modules[module].image, index)]
        .has_more_calls;
}

static size_t marked(const struct sample *sample)
{
    size_t count = 0;

    for (uint32_t module = 1; module < 3; module++)
        for (uint32_t i = 0; i < FUNCTIONS; i++)
            count += is_marked(sample, module, i);
    return count;
}

static void functions_are_marked_once(void **state)
{
    struct sample sample;

    (void)state;
    begin(&sample);
    add(&sample, 9, true);
    add(&sample, 2, false);
    add(&sample, 9, false);
    add(&sample, 1000, false); /* of no module */
    assert_true(take(&sample, whole(&sample)));
    assert_int_equal(sample.tree.unhooked.times, 4);
    assert_int_equal(sample.tree.unhooked.functions, 3);
    assert_true(sample.tree.unhooked.percent == 2.5);
    assert_true(sample.tree.unhooked.by_user);
    assert_true(is_marked(&sample, 1, 1));
    assert_true(is_marked(&sample, 2, 4));
    assert_int_equal(marked(&sample), 2);
    images_free(&sample.images);
}

/* Where two modules have a number, it is that of the one whose calls the trace's contexts are. */
static void a_number_is_of_the_module_that_its_calls_are_of(void **state)
{
    struct sample sample;

    (void)state;
    begin(&sample);
    add(&sample, 6, false);
    assert_true(take(&sample, whole(&sample)));
    assert_int_equal(tree_module_of(&sample.tree, 6), 2);
    assert_true(is_marked(&sample, 2, 1));
    assert_int_equal(marked(&sample), 1);
    images_free(&sample.images);
}

static void expect_refused(struct sample *sample, size_t size)
{
    static const struct unhooked_facts none;

    assert_false(take(sample, size));
    assert_memory_equal(&sample->tree.unhooked, &none, sizeof(none));
    assert_int_equal(marked(sample), 0);
}

static void what_is_not_of_the_trace_is_refused(void **state)
{
    struct sample sample;

    (void)state;
    begin(&sample);
    add(&sample, 2, true);
    expect_refused(&sample, whole(&sample) - 1);
    expect_refused(&sample, sizeof(sample.file.header) - 1);
    expect_refused(&sample, 0);
    sample.file.header.created_ns++;
    expect_refused(&sample, whole(&sample));
    sample.file.header.created_ns--;
    sample.file.header.pid++;
    expect_refused(&sample, whole(&sample));
    sample.file.header.pid--;
    sample.file.header.version++;
    expect_refused(&sample, whole(&sample));
    sample.file.header.version--;
    *sample.file.header.magic = 'X';
    expect_refused(&sample, whole(&sample));
    *sample.file.header.magic = 'U';
    sample.file.header.count = UINT32_MAX;
    expect_refused(&sample, sizeof(sample.file));
    images_free(&sample.images);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_marked_once),
        cmocka_unit_test(a_number_is_of_the_module_that_its_calls_are_of),
        cmocka_unit_test(what_is_not_of_the_trace_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
