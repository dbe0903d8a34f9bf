/* The grinder's reading of a baseline, and its comparing of one with another. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "grinder/profile/baseline.h"
#include "grinder/profile/symbolize.h"
#include "grinder/views/diff.h"
#include "grinder/views/same_build.h"
#include "tests/fuzz/harness.h"

/* One that a recording left behind, as what is compared. */
static const char other[] = BASELINE_FIRST_LINE "\n" BASELINE_HEADINGS "\n"
                                                "demo\t0000000000000aaa\t1\t10\tmain\n"
                                                "demo\t0000000000000bbb\t2\t600\n"
                                                "demo\t0000000000000bbb\t3\t400\n"
                                                "lib\t-\t1\t7\tcrc32\n" BASELINE_BUILDS "\n"
                                                "5f0c1e93b2a87d64\tdemo\n" BASELINE_CONTEXTS "\n"
                                                "1\t1\t10\tmain\n"
                                                "2\t2\t600\t0000000000000bbb\n"
                                                "3\t3\t400\t0000000000000bbb#2\n";

static bool read_bytes(const void *bytes, size_t size, struct profile *profile,
                       struct images *images, struct failure *failure)
{
    static char path[64]; /* the profile borrows it */
    int file = memory_file(bytes, size);
    bool is_read;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    is_read = baseline_read(profile, path, images, failure);
    close(file);
    return is_read;
}

/* No function is left out, or counted twice. */
static void check_sums(const struct diff *diff, const struct profile profiles[SIDES])
{
    struct costs whole[SIDES];

    diff_whole(diff, whole);
    for (int side = 0; side < SIDES; side++)
        if (whole[side].calls != profiles[side].parts[0].calls ||
            whole[side].self_instructions != profiles[side].parts[0].instructions)
            abort();
}

static void compare(const struct profile profiles[SIDES + 1], const struct images *images,
                    enum weight weight)
{
    static const char *const formats[] = {"table", "tsv"};
    FILE *stream = fopen("/dev/null", "w");
    struct diff diff;

    if (!stream)
        abort();
    diff_begin(&diff, profiles, images, weight);
    check_sums(&diff, profiles);
    if (same_build(images, &profiles[BEFORE], &profiles[AGAIN]))
        diff_note_noise(&diff, profiles);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        diff_format_named(formats[i], false)->write(stream, &diff, 10);
    diff_exceeds(&diff, 0.1);
    diff_free(&diff);
    if (same_build(images, &profiles[BEFORE], &profiles[AFTER]))
        free(same_build_causes(images, &profiles[BEFORE], &profiles[AFTER]));
    fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct profile one = {.merged = true}, same = {.merged = true}, another = {.merged = true};
    struct failure failure = {""};
    struct images images;

    images_begin(&images);
    if (!read_bytes(data, size, &one, &images, &failure)) {
        check_refusal(failure.text);
    } else {
        if (!read_bytes(data, size, &same, &images, &failure) ||
            !read_bytes(other, sizeof(other) - 1, &another, &images, &failure))
            abort();
        symbolize(&images, &one, NULL);
        compare((const struct profile[]){one, another, same}, &images, WEIGHT_INSTRUCTIONS);
        compare((const struct profile[]){another, one, another}, &images, WEIGHT_CALLS);
        compare((const struct profile[]){one, same, another}, &images, WEIGHT_INSTRUCTIONS);
    }
    profile_free(&one);
    profile_free(&same);
    profile_free(&another);
    images_free(&images);
    return 0;
}
