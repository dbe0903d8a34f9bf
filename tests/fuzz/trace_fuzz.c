/* The trace reader, and the grinder's trees, profiles and figures made of what it hands over. */
#include "grinder/message.h"
#include "grinder/profile.h"
#include "tests/fuzz/harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* In place of the grinder's own: images that the trace names and that are not there. */
void message(const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!*text)
        check_refusal(text);
}

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
