#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "front/cache/cached_image.h"
#include "image/sample_image.h"

#include <cmocka.h>

static struct sample_image image;
static struct cached_origin origin;

static int make(void **state)
{
    uint8_t original[SAMPLE_ADDED];

    (void)state;
    sample_image_make(&image, original);
    origin = (struct cached_origin){image.added.head.original_size, image.added.head.original_hash,
                                    image.added.path};
    return 0;
}

static bool is_of_origin(size_t size)
{
    FILE *file = tmpfile();
    bool is;

    assert_non_null(file);
    assert_int_equal(fwrite(&image, 1, size, file), size);
    fflush(file);
    is = cached_image_is_of(fileno(file), &origin);
    fclose(file);
    return is;
}

static void it_is_of_what_its_manifest_says(void **state)
{
    (void)state;
    assert_true(is_of_origin(sizeof(image)));
    origin.size++;
    assert_false(is_of_origin(sizeof(image)));
    origin.size--;
    origin.hash ^= 1;
    assert_false(is_of_origin(sizeof(image)));
    origin.hash ^= 1;
    assert_true(is_of_origin(sizeof(image)));
}

static void the_path_is_all_of_it(void **state)
{
    (void)state;
    assert_string_equal(origin.path, "/bin/program");
    origin.path = "/bin/progra";
    assert_false(is_of_origin(sizeof(image)));
    origin.path = "/bin/programs";
    assert_false(is_of_origin(sizeof(image)));
    origin.path = "/bin/program";
    assert_true(is_of_origin(sizeof(image)));
}

static void another_version_made_another(void **state)
{
    (void)state;
    image.added.head.version++;
    assert_false(is_of_origin(sizeof(image)));
    image.added.head.version--;
    image.added.head.magic ^= 1;
    assert_false(is_of_origin(sizeof(image)));
}

static void what_is_cut_off_is_none(void **state)
{
    (void)state;
    assert_false(is_of_origin(0));
    assert_false(is_of_origin(SAMPLE_ADDED));
    assert_false(is_of_origin(offsetof(struct sample_image, added.path)));
    assert_false(cached_image_is_of(-1, &origin));
}

/* What the manifest says of the path may be anything. */
static void a_path_outside_the_file_is_none(void **state)
{
    (void)state;
    image.added.head.original_path = UINT32_MAX;
    assert_false(is_of_origin(sizeof(image)));
    image.added.head.original_path = sizeof(image);
    assert_false(is_of_origin(sizeof(image)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_of_what_its_manifest_says, make),
        cmocka_unit_test_setup(the_path_is_all_of_it, make),
        cmocka_unit_test_setup(another_version_made_another, make),
        cmocka_unit_test_setup(what_is_cut_off_is_none, make),
        cmocka_unit_test_setup(a_path_outside_the_file_is_none, make),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
