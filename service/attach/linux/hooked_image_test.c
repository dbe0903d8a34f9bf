#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/attach/linux/attached_agent.h"
#include "service/attach/linux/hooked_image.h"
#include "service/attach/linux/instrumenting.h"
#include "support/bounded_file.h"

#include <cmocka.h>

#define AWAY      0x40000000ull
#define JUMP      0xe9
#define JUMP_SIZE 5

static char folder[] = "/tmp/umbra-hooked_image.XXXXXX";
static char own[PATH_MAX], hooked[64], other[64];
static uint64_t base; /* of this program, which is the image */

__attribute__((noinline)) static int of_ours(int number)
{
    __asm__ volatile("");
    return number * 3 + 1;
}

static bool instrument(void)
{
    struct instrumenting one = {.original = own, .output = hooked, .away = AWAY};
    struct attached_agent agent;
    struct failure failure;

    if (!attached_agent_read(&agent, &failure))
        return false;
    instrumenting_run(&one, 1, agent.path, NULL);
    attached_agent_free(&agent);
    return one.is_done;
}

/* The first mapping of this program's. */
static uint64_t find_base(void)
{
    struct address_space space;
    struct failure failure;
    uint64_t found = 0;

    if (!address_space_read(&space, getpid(), &failure))
        return 0;
    for (size_t i = space.count; i-- > 0;)
        if (strstr(space.ranges[i].path, "hooked_image_test"))
            found = space.ranges[i].start;
    address_space_free(&space);
    return found;
}

static int begin(void **state)
{
    (void)state;
    base = find_base();
    if (!base || readlink("/proc/self/exe", own, sizeof(own) - 1) < 0 || !mkdtemp(folder))
        return -1;
    snprintf(hooked, sizeof(hooked), "%s/hooked", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    return instrument() ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    unlink(hooked);
    return rmdir(folder);
}

static bool is_code(const struct address_space *space, uint64_t address)
{
    const struct address_range *range = address_space_at(space, address);

    return range && range->is_executable;
}

/* The process, which is this one, has what each hook takes the place of. */
static void test_hooks_are_of_the_code_in_memory(void **state)
{
    struct hooked_image image;
    struct address_space space;
    struct failure failure;
    unsigned long functions = 0;

    (void)state;
    assert_true(hooked_image_read(&image, hooked, base, base + AWAY, &failure));
    assert_true(address_space_read(&space, getpid(), &failure));
    assert_true(image.hook_count > 10);
    for (size_t i = 0; i < image.hook_count; i++) {
        const struct hook *hook = &image.hooks[i];

        assert_true(is_code(&space, hook->at));
        assert_memory_equal((const void *)hook->at, hook->before, hook->size);
        assert_true(memcmp(hook->before, hook->after, hook->size) != 0);
        assert_int_equal(hook->state, HOOK_OUT);
        assert_true(i == 0 || hook[-1].at + hook[-1].size <= hook->at);
        assert_true(hook->at >= image.low && hook->at + hook->size <= image.high);
        assert_true(!hook->moved || hook->moved > base + AWAY);
        if (!hook_hole(hook))
            functions++;
    }
    assert_true(image.functions <= image.hook_count && image.functions <= functions);
    address_space_free(&space);
    hooked_image_free(&image);
}

/* The jump in a hole leads to a stub, as the jump of a hook does; it is of no function. */
static void test_holes_lead_to_stubs(void **state)
{
    struct hooked_image image;
    struct failure failure;

    (void)state;
    assert_true(hooked_image_read(&image, hooked, base, base + AWAY, &failure));
    for (size_t i = 0; i < image.hook_count; i++) {
        const struct hook *hook = &image.hooks[i], *hole;
        int32_t distance;

        assert_true(!hook->hole_target || hook->hole_target > base + AWAY);
        if (!hook->hole_target)
            assert_ptr_equal(hooked_image_hook_of(&image, hook->place), hook);
        if (!hook->hole_target)
            assert_ptr_equal(hooked_image_hook_at(&image, hook->at - hook->behind), hook);
        if (!hook_hole(hook))
            continue;
        hole = hooked_image_at(&image, hook_hole(hook));
        assert_non_null(hole);
        memcpy(&distance, hole->after + 1, sizeof(distance));
        assert_int_equal(hole->hole_target, hole->at + JUMP_SIZE + (uint64_t)(int64_t)distance);
    }
    hooked_image_free(&image);
}

static void test_a_closed_image_has_no_hooks(void **state)
{
    struct hooked_image image;
    struct failure failure;
    uint64_t at;
    uint32_t place;

    (void)state;
    assert_true(hooked_image_read(&image, hooked, base, base + AWAY, &failure));
    at = image.hooks[0].at;
    place = image.hooks[0].place;
    hooked_image_close(&image);
    assert_null(hooked_image_at(&image, at));
    assert_null(hooked_image_hook_at(&image, at));
    assert_null(hooked_image_amid(&image, at + 1));
    assert_null(hooked_image_hook_of(&image, place));
    assert_int_equal(image.added_count, HOOK_RANGES);
    hooked_image_free(&image);
}

static void test_function_is_found(void **state)
{
    struct hooked_image image;
    struct failure failure;
    uint64_t at = (uint64_t)of_ours;
    const struct hook *hook = NULL;

    (void)state;
    assert_int_equal(of_ours(2), 7);
    assert_true(hooked_image_read(&image, hooked, base, base + AWAY, &failure));
    for (unsigned marked = 0; marked <= 4 && !hook; marked += 4) /* behind an endbr64 */
        hook = hooked_image_at(&image, at + marked);
    assert_non_null(hook);
    assert_int_equal(hook->after[0], JUMP);
    assert_null(hooked_image_amid(&image, hook->at));
    assert_ptr_equal(hooked_image_amid(&image, hook->at + 1), hook);
    assert_ptr_equal(hooked_image_amid(&image, hook->at + hook->size - 1), hook);
    assert_ptr_not_equal(hooked_image_amid(&image, hook->at + hook->size), hook);
    assert_null(hooked_image_at(&image, hook->at + 1));
    hooked_image_free(&image);
}

static void test_what_was_added_is_away(void **state)
{
    struct hooked_image image;
    struct failure failure;
    struct stat status;

    (void)state;
    assert_true(hooked_image_read(&image, hooked, base, base + AWAY, &failure));
    assert_int_equal(stat(hooked, &status), 0);
    assert_int_equal(image.added_count, HOOK_RANGES);
    assert_true(image.added[0].is_executable && image.added[2].is_writable);
    assert_int_equal(image.added[0].address, base + AWAY);
    for (size_t i = 0; i < HOOK_RANGES; i++) {
        const struct added_range *range = &image.added[i];

        assert_int_equal(range->address % 4096, 0);
        assert_int_equal(range->size % 4096, 0);
        assert_true(range->file_size <= range->size);
        assert_true(range->offset + range->file_size <= (uint64_t)status.st_size);
        assert_false(range->is_mapped);
    }
    assert_true(image.hook_word - image.added[2].address < image.added[2].size);
    assert_true(image.header - image.added[2].address < image.added[2].size);
    assert_string_equal(image.path, hooked);
    hooked_image_free(&image);
}

static void test_hooks_by_address(void **state)
{
    struct hook hooks[] = {{.at = 100, .size = 5, .after = {JUMP}},
                           {.at = 110, .size = 2, .after = {0xeb, 0x80}},
                           {.at = 112, .size = 5, .after = {JUMP}}};
    const struct hooked_image image = {.hooks = hooks, .hook_count = 3, .low = 100, .high = 117};
    const struct hooked_image none = {0};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(hooked_image_at(&image, hooks[i].at), &hooks[i]);
    assert_null(hooked_image_at(&image, 99));
    assert_null(hooked_image_at(&image, 101));
    assert_null(hooked_image_at(&image, 117));
    assert_null(hooked_image_amid(&image, 100));
    assert_ptr_equal(hooked_image_amid(&image, 104), &hooks[0]);
    assert_null(hooked_image_amid(&image, 105));
    assert_ptr_equal(hooked_image_amid(&image, 111), &hooks[1]);
    assert_null(hooked_image_amid(&image, 112));
    assert_ptr_equal(hooked_image_amid(&image, 116), &hooks[2]);
    assert_null(hooked_image_amid(&image, 117));
    assert_int_equal(hook_hole(&hooks[0]), 0);
    assert_int_equal(hook_hole(&hooks[1]), 110 + 2 - 128);
    assert_null(hooked_image_at(&none, 0));
    assert_null(hooked_image_amid(&none, 1));
}

static void refused(const char *path, const char *why)
{
    struct hooked_image image;
    struct failure failure;

    assert_false(hooked_image_read(&image, path, base, base + AWAY, &failure));
    if (!strstr(failure.text, why))
        fail_msg("expected \"%s\", found \"%s\"", why, failure.text);
    assert_null(image.path);
    assert_null(image.hooks);
}

static void write_other(const void *bytes, size_t size)
{
    int file = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

static void test_bad_files(void **state)
{
    struct bounded_file file;
    struct failure failure;
    uint8_t *bytes;

    (void)state;
    refused("/no/such/file", "No such file");
    refused("/", "/");
    refused(own, "manifest");
    write_other("text", 4);
    refused(other, "ELF");
    assert_true(bounded_file_open(&file, hooked, &failure));
    bytes = bounded_file_copy(&file, 0, file.size);
    assert_non_null(bytes);
    for (uint64_t part = 1; part < 16; part++) { /* cut off */
        write_other(bytes, file.size * part / 16);
        refused(other, "other");
    }
    memset(bytes + file.size / 2, 0xff, file.size - file.size / 2);
    write_other(bytes, file.size);
    refused(other, "other");
    free(bytes);
    bounded_file_close(&file);
    unlink(other);
}

/* It is read at the place that it was made for, or not at all. */
static void test_elsewhere(void **state)
{
    struct hooked_image image;
    struct failure failure;

    (void)state;
    assert_false(hooked_image_read(&image, hooked, base, base + 2 * AWAY, &failure));
    assert_non_null(strstr(failure.text, "away"));
    assert_false(hooked_image_read(&image, hooked, base, base + AWAY + 8, &failure));
    assert_non_null(strstr(failure.text, "away"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hooks_are_of_the_code_in_memory),
        cmocka_unit_test(test_holes_lead_to_stubs),
        cmocka_unit_test(test_a_closed_image_has_no_hooks),
        cmocka_unit_test(test_function_is_found),
        cmocka_unit_test(test_what_was_added_is_away),
        cmocka_unit_test(test_hooks_by_address),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_elsewhere),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
