/* The grinder's reading of an instrumented image: its sections, its manifest. */
#include "grinder/manifest.h"
#include "tests/fuzz/harness.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memory_file(data, size);
    struct image_file image;
    struct manifest manifest;
    const char *why = "";
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    if (image_file_open(&image, path, &why) < 0) {
        check_refusal(why);
        goto done;
    }
    if (manifest_load(&manifest, &image, &why) < 0)
        check_refusal(why);
    else
        manifest_free(&manifest);
    image_file_close(&image);
done:
    close(file);
    return 0;
}
