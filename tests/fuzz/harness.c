#include "tests/fuzz/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int memory_file(const uint8_t *data, size_t size)
{
    int file = memfd_create("fuzzed", MFD_CLOEXEC);

    if (file < 0 || (size && write(file, data, size) != (ssize_t)size)) {
        perror("memory_file");
        abort();
    }
    return file;
}

void check_refusal(const char *text)
{
    if (*text && !strchr(text, '\n'))
        return;
    fprintf(stderr, "a refusal is not one line: '%s'\n", text);
    abort();
}
