#include "grinder/profile/match.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/image/original_bytes.h"
#include "support/memory.h"

/* What a function is known by: its name, or "code:HASH". */
struct known {
    uint32_t function;
    char *by;
};

/* Names that symbolize made up: "module!0x…", or with '#' where there is no manifest. */
static int is_nameless(const struct images *images, const struct function *function)
{
    const char *module = image_name(&images->images[function->image]);
    size_t length = strlen(module);

    return !strncmp(function->name, module, length) &&
           (!strncmp(function->name + length, "!0x", 3) ||
            !strncmp(function->name + length, "!#", 2));
}

static char *known_by(const struct images *images, const struct function *function,
                      struct original_bytes *original, int *was_read)
{
    const struct image *image = &images->images[function->image];
    uint64_t hash;
    char text[32];

    if (!is_nameless(images, function))
        return memory_copy_string(function->name);
    if (!*was_read)
        original_bytes_read(original, image->file, &image->manifest);
    *was_read = 1;
    hash = original_bytes_hash(original, &image->manifest, function->index);
    if (!hash)
        return memory_copy_string(function->name);
    snprintf(text, sizeof(text), "code:%016" PRIx64, hash);
    return memory_copy_string(text);
}

/* The original of one image at a time is in memory, if a function of it has no name. */
static void know_image(const struct images *images, uint32_t image, struct known *known)
{
    struct original_bytes original = {0};
    int was_read = 0;

    for (uint32_t i = 1; i < images_function_count(images); i++)
        if (images->functions[i].image == image)
            known[i] =
                (struct known){i, known_by(images, &images->functions[i], &original, &was_read)};
    original_bytes_free(&original);
}

static int compare_known(const void *left, const void *right)
{
    const struct known *a = left, *b = right;
    int order = strcmp(a->by, b->by);

    return order ? order : (a->function > b->function) - (a->function < b->function);
}

uint32_t *match_functions(const struct images *images)
{
    size_t count = images_function_count(images);
    struct known *known = memory_zeroed(count, sizeof(*known));
    uint32_t *same = memory_zeroed(count, sizeof(*same));

    for (uint32_t i = 0; i < images->count; i++)
        know_image(images, i, known);
    qsort(known + 1, count - 1, sizeof(*known), compare_known);
    for (size_t i = 1; i < count; i++) {
        bool begins = i == 1 || strcmp(known[i].by, known[i - 1].by) != 0;
        same[known[i].function] = begins ? known[i].function : same[known[i - 1].function];
    }
    for (size_t i = 1; i < count; i++)
        free(known[i].by);
    free(known);
    return same;
}
