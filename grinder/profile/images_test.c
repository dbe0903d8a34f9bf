#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/profile/images.h"

#include <cmocka.h>

static unsigned said;

/* In place of the grinder's own. */
void message(const char *format, ...)
{
    said += format[0] != 0;
}

static char folder[] = "/tmp/umbra-images-XXXXXX";
static char self[4096]; /* an image */

static const char *in_folder(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static uint32_t add(struct images *images, const char *path)
{
    return images_add_plain(images, path, (const uint8_t *)"", 0);
}

static void a_file_is_one_image_whatever_it_is_called(void **state)
{
    struct images images;
    char path[sizeof(self) + 4];
    uint32_t number;

    (void)state;
    images_begin(&images);
    number = add(&images, self);
    assert_null(images.images[number].problem);
    assert_true(images.images[number].manifest.function_count > 10);
    assert_int_equal(add(&images, self), number);
    snprintf(path, sizeof(path), "/.%s", self);
    assert_int_equal(add(&images, path), number);
    assert_int_equal(symlink(self, in_folder("link")), 0);
    assert_int_equal(add(&images, in_folder("link")), number);
    assert_int_equal(images.count, 2);
    /* what is not that one is another, with a problem of its own */
    assert_int_not_equal(images_add_plain(&images, path, (const uint8_t *)"other", 5), number);
    assert_string_equal(images.images[2].problem, "has changed since it was recorded");
    images_free(&images);
}

/* None of these is waited for, or opened where that has an effect. */
static void what_is_no_file_is_a_problem(void **state)
{
    static const char *const names[] = {"fifo", "device", "folder", "nothing",
                                        "loop", "text",   "empty"};
    struct images images;
    FILE *text;

    (void)state;
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    assert_int_equal(symlink("/dev/zero", in_folder("device")), 0);
    assert_int_equal(mkdir(in_folder("folder"), 0700), 0);
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    close(open(in_folder("empty"), O_CREAT | O_WRONLY, 0600));
    text = fopen(in_folder("text"), "w");
    assert_non_null(text);
    fputs("text", text);
    fclose(text);
    images_begin(&images);
    said = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        uint32_t number = add(&images, in_folder(names[i]));
        assert_non_null(images.images[number].problem);
        assert_int_equal(images.images[number].ranges.count, 0);
        assert_int_equal(add(&images, in_folder(names[i])), number);
        assert_int_equal(said, i + 1);
    }
    images_free(&images);
}

static int begin(void **state)
{
    (void)state;
    return !mkdtemp(folder) || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0;
}

static int end(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_one_image_whatever_it_is_called),
        cmocka_unit_test(what_is_no_file_is_a_problem),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
