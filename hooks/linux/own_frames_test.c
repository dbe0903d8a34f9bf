/* Where own_frame finds a frame: in, before, between and behind the functions of an index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks/linux/own_frames.h"

#include <cmocka.h>

/* | index | FDE of 0x1000 … 0x1010 | FDE of 0x1010 … 0x1018 | FDE of 0x2000 … 0x10002000 | */
static struct {
    struct {
        uint8_t version, as[3];
        int32_t frames;
        uint32_t count;
        int32_t entries[3][2];
    } index;
    uint32_t frames[3][4];
} image;

static int begin(void **state)
{
    static const uint32_t codes[3] = {0x1000, 0x1010, 0x2000};
    static const uint32_t sizes[3] = {0x10, 8, 0x10000000};

    (void)state;
    image.index.count = 3;
    for (int i = 0; i < 3; i++) {
        image.index.entries[i][0] = (int32_t)codes[i];
        image.index.entries[i][1] = (int32_t)((char *)image.frames[i] - (char *)&image);
        image.frames[i][3] = sizes[i];
    }
    return 0;
}

/* frame: its number; -1: none. */
static void check(uint64_t distance, int frame, uint64_t function)
{
    struct frame_bases bases = {1, 1, 1};
    const void *found =
        own_frame((const struct frame_index *)&image.index, (uint64_t)&image + distance, &bases);

    if (frame < 0) {
        assert_null(found);
        return;
    }
    assert_ptr_equal(found, image.frames[frame]);
    assert_int_equal(bases.text | bases.data, 0);
    assert_int_equal(bases.function, (uint64_t)&image + function);
}

static void test_the_function_that_has_the_address(void **state)
{
    (void)state;
    check(0x1000, 0, 0x1000);
    check(0x100f, 0, 0x1000);
    check(0x1010, 1, 0x1010);
    check(0x2000, 2, 0x2000);
    check(0x10001fff, 2, 0x2000);
}

static void test_no_function(void **state)
{
    (void)state;
    check(0xfff, -1, 0);
    check(0x1018, -1, 0);
    check(0x1fff, -1, 0);
    check(0x10002000, -1, 0);
    image.index.count = 0;
    check(0x1000, -1, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_function_that_has_the_address),
        TEST(test_no_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
