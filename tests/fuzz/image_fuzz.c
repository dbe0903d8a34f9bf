/*
 * The rewriter's whole way: reading, discovery, planning, writing; listing, verifying and
 * undoing what it wrote, and what looks as if it had. AGENT in the environment names the agent to
 * be put into static executables; without it they are refused when it is looked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rewriter/tool/image_formats.h"
#include "rewriter/tool/listing.h"
#include "rewriter/tool/rewrite.h"
#include "rewriter/tool/verify.h"
#include "tests/fuzz/harness.h"

#define ITSELF "/proc/self/exe" /* a path that exists, which the manifest is to name */

static const struct rewrite_options options = {.how = REWRITE_PROLOGUE};
static const struct rewrite_options copying = {.how = REWRITE_AUTO, .poison = true};

static void silence(void)
{
    static bool is_silent;

    if (!is_silent && !freopen("/dev/null", "w", stdout))
        abort();
    is_silent = true;
}

/* A copy of its own size: a read past its end is seen. */
static struct input_file input_of(const uint8_t *data, size_t size)
{
    struct input_file input = {.path = ITSELF, .bytes = malloc(size), .size = size};

    if (!input.bytes)
        abort();
    memcpy(input.bytes, data, size);
    return input;
}

static void list(const uint8_t *data, size_t size)
{
    struct input_file input = input_of(data, size);
    struct failure failure = {{0}};
    struct image image;
    bool is_listed = false;

    if (image_open(&image, &input, &failure)) {
        is_listed = list_image(&image, &options, &failure);
        image_close(&image);
    }
    if (!is_listed)
        check_refusal(failure.text);
    free(input.bytes);
}

/* An instrumented one that was changed: it is verified and undone, or refused. */
static void undo(const uint8_t *data, size_t size)
{
    struct output_file output = {.path = "undone", .descriptor = memory_file(NULL, 0)};
    struct input_file input = input_of(data, size), again = input_of(data, size);
    struct verify_result result;
    struct failure failure = {{0}};

    if (!verify_image(&input, &result, &failure))
        check_refusal(failure.text);
    if (!undo_image(&again, &output, &failure))
        check_refusal(failure.text);
    close(output.descriptor);
    free(input.bytes);
    free(again.bytes);
}

/* It must give back the original, too. */
static void verify(const uint8_t *data, size_t size)
{
    struct input_file input = input_of(data, size);
    struct verify_result result;
    struct failure failure = {{0}};

    if (!verify_image(&input, &result, &failure)) {
        fprintf(stderr, "what was written does not verify: %s\n", failure.text);
        abort();
    }
    free(input.bytes);
}

static uint8_t *map(int file, size_t *size)
{
    void *bytes;

    *size = (size_t)lseek(file, 0, SEEK_END);
    bytes = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        abort();
    return bytes;
}

/* What was written must be an instrumented image, and list as one. */
static void check_output(int file)
{
    size_t size;
    uint8_t *bytes = map(file, &size);

    if (image_format_of(bytes, size)->kind(bytes, size) != IMAGE_KIND_INSTRUMENTED) {
        fputs("what was written is no instrumented image\n", stderr);
        abort();
    }
    list(bytes, size);
    verify(bytes, size);
    munmap(bytes, size);
}

/* Undone, it must be what it was. */
static void check_undo(int file, const uint8_t *data, size_t size)
{
    struct output_file output = {.path = "undone", .descriptor = memory_file(NULL, 0)};
    struct input_file input = {.path = "written"};
    struct failure failure = {{0}};
    size_t undone_size;
    uint8_t *undone;

    input.bytes = map(file, &input.size);
    if (!undo_image(&input, &output, &failure)) {
        fprintf(stderr, "what was written cannot be undone: %s\n", failure.text);
        abort();
    }
    undone = map(output.descriptor, &undone_size);
    if (undone_size != size || memcmp(undone, data, size) != 0) {
        fputs("what was undone is not the original\n", stderr);
        abort();
    }
    munmap(undone, undone_size);
    munmap(input.bytes, input.size);
    close(output.descriptor);
}

static void rewrite(const uint8_t *data, size_t size, const struct rewrite_options *how)
{
    const char *path = getenv("AGENT");
    struct agent agent = {.needed = "/agent.so"};
    struct input_file input = input_of(data, size);
    struct output_file output = {.path = "output", .descriptor = memory_file(NULL, 0)};
    struct judge_expectation expected;
    struct rewrite_result result;
    struct failure failure = {{0}};
    struct image image;
    bool is_written = false;

    snprintf(agent.path, sizeof(agent.path), "%s", path ? path : agent.needed);
    if (image_open(&image, &input, &failure)) {
        is_written = image.format->require_fit(&image, &failure) &&
                     rewrite_image(&image, how, &agent, &output, &result, &expected, &failure);
        image_close(&image);
    }
    if (is_written) {
        check_output(output.descriptor);
        check_undo(output.descriptor, data, size);
    } else {
        check_refusal(failure.text);
    }
    close(output.descriptor);
    free(input.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    silence();
    if (size == 0) /* input_file_open refuses it */
        return 0;
    list(data, size);
    undo(data, size);
    rewrite(data, size, &options);
    rewrite(data, size, &copying);
    return 0;
}
