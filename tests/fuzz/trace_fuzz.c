/* The trace reader, and the grinder's trees, profiles and figures made of what it hands over. */
#include "grinder/profile.h"
#include "tests/fuzz/harness.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memory_file(data, size);
    struct profile profile = {0};
    struct trace_error error = {{0}};
    struct images images;
    struct tree tree;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    images_begin(&images);
    if (tree_load(&tree, path, &images, &error) < 0) {
        check_refusal(error.text);
    } else {
        profile_add(&profile, &tree, &images);
        tree_free(&tree);
    }
    profile_free(&profile);
    images_free(&images);
    close(file);
    return 0;
}
