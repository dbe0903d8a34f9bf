/* A program is instrumented, and one byte or another of the result is changed: each is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/tool/rewrite.h"
#include "rewriter/verify/verify_image.h"
#include "trace/image_manifest.h"

#include <cmocka.h>

static const char *agent, *sample; /* the command line names them */

static char folder[] = "/tmp/verify_image_test.XXXXXX";
static char original_path[64], image_path[64];
static struct input_file original, image;

/* Copies the sample to where it can be taken away, and instruments that. */
static int make_image(void **state)
{
    struct rewrite_options options = {
        .input = original_path, .output = image_path, .agent = agent, .no_verify = true};
    struct rewrite_result result;
    struct failure failure;
    FILE *copy;

    (void)state;
    if (!mkdtemp(folder) || !input_file_open(&original, sample, &failure))
        return -1;
    snprintf(original_path, sizeof(original_path), "%s/original", folder);
    snprintf(image_path, sizeof(image_path), "%s/image", folder);
    copy = fopen(original_path, "w");
    if (!copy || fwrite(original.bytes, 1, original.size, copy) != original.size || fclose(copy))
        return -1;
    if (rewrite_file(&options, &result, &failure) && input_file_open(&image, image_path, &failure))
        return 0;
    fprintf(stderr, "%s\n", failure.text);
    return -1;
}

static int remove_image(void **state)
{
    (void)state;
    input_file_close(&original);
    input_file_close(&image);
    unlink(original_path);
    unlink(image_path);
    return rmdir(folder);
}

/* A copy of the image's bytes, of which `size` are there. */
struct trial {
    struct input_file file;
    struct instrumented instrumented;
};

static void trial_begin(struct trial *trial)
{
    struct failure failure;

    trial->file = (struct input_file){.path = "image", .size = image.size};
    trial->file.bytes = malloc(image.size);
    assert_non_null(trial->file.bytes);
    memcpy(trial->file.bytes, image.bytes, image.size);
    if (!instrumented_open(&trial->instrumented, &processor_x86_64, &trial->file, &failure))
        fail_msg("%s", failure.text);
}

static void trial_end(struct trial *trial)
{
    instrumented_close(&trial->instrumented);
    free(trial->file.bytes);
}

/* The first function that is hooked by a patch of its own. */
static const struct manifest_function *hooked(const struct trial *trial)
{
    const struct manifest *manifest = &trial->instrumented.manifest;

    for (uint32_t i = 0; i < manifest->function_count; i++)
        if (manifest->functions[i].state == FUNCTION_HOOKED && manifest->functions[i].patch_size)
            return &manifest->functions[i];
    fail_msg("no function of %s is hooked", sample);
    return NULL;
}

static uint8_t *at(struct trial *trial, uint32_t rva)
{
    uint64_t offset;

    assert_true(loaded_ranges_find(&trial->instrumented.ranges, rva, 1, &offset));
    return trial->file.bytes + offset;
}

/* Ends the trial. */
static void check_refusal(struct trial *trial, const char *text)
{
    struct verify_result result;
    struct failure failure = {{0}};

    assert_false(instrumented_verify(&trial->instrumented, &result, &failure));
    if (strncmp(failure.text, "image: ", 7) != 0 || !strstr(failure.text, text))
        fail_msg("'%s' does not say '%s'", failure.text, text);
    trial_end(trial);
}

static void test_what_was_written_is_proven(void **state)
{
    struct trial trial;
    struct verify_result result;
    struct failure failure;

    (void)state;
    trial_begin(&trial);
    if (!instrumented_verify(&trial.instrumented, &result, &failure))
        fail_msg("%s", failure.text);
    assert_int_equal(result.original_size, original.size);
    assert_int_equal(result.original_hash, trial.instrumented.manifest.head->original_hash);
    assert_true(result.hooked > 0 && result.hooked <= result.functions);
    assert_true(result.copied > 0);
    assert_memory_equal(trial.file.bytes, original.bytes, original.size);
    trial_end(&trial);
}

static void test_a_jump_that_leads_elsewhere(void **state)
{
    const struct manifest_function *function;
    struct trial trial;

    (void)state;
    trial_begin(&trial);
    function = hooked(&trial);
    at(&trial, function->rva + function->patch_offset)[0] ^= 1;
    check_refusal(&trial, "expected a jump to a stub at address");
    trial_begin(&trial);
    function = hooked(&trial);
    at(&trial, function->rva + function->patch_offset)[1] ^= 1;
    check_refusal(&trial, "expected a jump to a stub at address");
}

static void test_a_stub_that_is_none(void **state)
{
    struct trial trial;

    (void)state;
    trial_begin(&trial);
    at(&trial, hooked(&trial)->stub_rva)[0] ^= 1;
    check_refusal(&trial, "expected a stub for the function at");
}

static void test_a_header_that_leads_elsewhere(void **state)
{
    struct trial trial;
    struct image_header *header;

    (void)state;
    trial_begin(&trial);
    header = &trial.instrumented.place.header;
    header->hook_rva = header->image_size;
    check_refusal(&trial, "malformed image header at address");
    trial_begin(&trial);
    trial.instrumented.place.header.entry_hook = 1; /* as in a process */
    check_refusal(&trial, "malformed image header at address");
    trial_begin(&trial);
    trial.instrumented.place.header.image_size++;
    check_refusal(&trial, "malformed image header at address");
    trial_begin(&trial);
    trial.instrumented.manifest.head->preferred_base += 0x1000;
    check_refusal(&trial, "expected base address");
    trial_begin(&trial);
    trial.instrumented.manifest.head->agent_path = UINT32_MAX;
    check_refusal(&trial, "a path lies outside it");
}

/* A byte of the original that no hook has to do with: of its ELF header's padding, its last one. */
static void test_a_byte_of_the_original(void **state)
{
    struct trial trial;
    char text[128];

    (void)state;
    trial_begin(&trial);
    trial.file.bytes[15] ^= 1;
    snprintf(text, sizeof(text), "byte 0xf is not that of the original, %s/original", folder);
    check_refusal(&trial, text);

    assert_int_equal(truncate(original_path, (off_t)original.size - 1), 0);
    trial_begin(&trial);
    trial.file.bytes[15] ^= 1;
    check_refusal(&trial, "which is not there to tell where");
}

static void test_a_byte_of_what_was_added(void **state)
{
    struct trial trial;
    uint8_t *copy;

    (void)state;
    trial_begin(&trial);
    trial.file.bytes[image.size - 1] ^= 1;
    check_refusal(&trial, "something differs in what was added");
    trial_begin(&trial);
    copy = at(&trial, trial.instrumented.manifest.copies[0].rva);
    copy[0] ^= 1;
    check_refusal(&trial, "something differs in what was added");
}

static void test_what_is_not_instrumented(void **state)
{
    struct instrumented instrumented;
    struct input_file text = {.path = "text", .bytes = (uint8_t *)"text", .size = 4};
    struct failure failure;

    (void)state;
    assert_false(instrumented_open(&instrumented, &processor_x86_64, &original, &failure));
    assert_non_null(strstr(failure.text, "expected an instrumented image"));
    assert_false(instrumented_open(&instrumented, &processor_x86_64, &text, &failure));
    assert_string_equal(failure.text, "text: malformed headers");
}

/* However much of it is left, it is refused, and nothing beyond it is read. */
static void test_an_image_that_is_cut_off(void **state)
{
    size_t step = image.size / 61 + 1;

    (void)state;
    for (size_t size = step; size < image.size; size += step) {
        struct input_file file = {.path = "image", .size = size, .bytes = malloc(size)};
        struct instrumented instrumented;
        struct verify_result result;
        struct failure failure;

        assert_non_null(file.bytes);
        memcpy(file.bytes, image.bytes, size);
        if (instrumented_open(&instrumented, &processor_x86_64, &file, &failure)) {
            if (instrumented_verify(&instrumented, &result, &failure))
                fail_msg("%zu of %zu bytes pass", size, image.size);
            instrumented_close(&instrumented);
        }
        free(file.bytes);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_proven),
        cmocka_unit_test(test_a_jump_that_leads_elsewhere),
        cmocka_unit_test(test_a_stub_that_is_none),
        cmocka_unit_test(test_a_header_that_leads_elsewhere),
        cmocka_unit_test(test_a_byte_of_the_original),
        cmocka_unit_test(test_a_byte_of_what_was_added),
        cmocka_unit_test(test_what_is_not_instrumented),
        cmocka_unit_test(test_an_image_that_is_cut_off),
    };

    if (count != 3) {
        fprintf(stderr, "verify_image_test AGENT PROGRAM\n");
        return 2;
    }
    agent = arguments[1];
    sample = arguments[2];
    return cmocka_run_group_tests(tests, make_image, remove_image);
}
