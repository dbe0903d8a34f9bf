/*
 * The rewriter's whole way: reading, discovery, planning, writing; listing and verifying what it
 * wrote. AGENT in the environment names the agent to be put into static executables; without it
 * they are refused when it is looked for.
 */
#include "rewriter/elf/elf_manifest.h"
#include "rewriter/elf/elf_rewrite.h"
#include "rewriter/elf/elf_verify.h"
#include "tests/fuzz/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ITSELF "/proc/self/exe" /* a path that exists, which the manifest is to name */

static const struct rewrite_options options;

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

    if (!elf_list(&input, &options, &failure))
        check_refusal(failure.text);
    free(input.bytes);
}

/* It must give back the original, too. */
static void verify(const uint8_t *data, size_t size)
{
    struct input_file input = input_of(data, size);
    struct verify_result result;
    struct failure failure = {{0}};

    if (!elf_verify(&input, &result, &failure)) {
        fprintf(stderr, "what was written does not verify: %s\n", failure.text);
        abort();
    }
    free(input.bytes);
}

/* What was written must be an instrumented image, and list as one. */
static void check_output(int file)
{
    size_t size = (size_t)lseek(file, 0, SEEK_END);
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    struct failure failure = {{0}};
    struct elf_image image;

    if (bytes == MAP_FAILED || !elf_image_read(&image, ITSELF, bytes, size, &failure) ||
        !elf_is_instrumented(&image)) {
        fprintf(stderr, "what was written is no instrumented image: %s\n", failure.text);
        abort();
    }
    elf_image_free(&image);
    list(bytes, size);
    verify(bytes, size);
    munmap(bytes, size);
}

static void rewrite(const uint8_t *data, size_t size)
{
    const char *path = getenv("AGENT");
    struct agent agent = {.needed = "/agent.so"};
    struct input_file input = input_of(data, size);
    struct output_file output = {.path = "output", .descriptor = memory_file(NULL, 0)};
    struct judge_expectation expected;
    struct rewrite_result result;
    struct failure failure = {{0}};

    snprintf(agent.path, sizeof agent.path, "%s", path ? path : agent.needed);
    if (elf_check(&input, &failure) &&
        elf_rewrite(&input, &options, &agent, &output, &result, &expected, &failure))
        check_output(output.descriptor);
    else
        check_refusal(failure.text);
    close(output.descriptor);
    free(input.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    silence();
    if (size == 0) /* input_file_open refuses it */
        return 0;
    list(data, size);
    rewrite(data, size);
    return 0;
}
