/* No harness: each mutation of a file goes to a file of its own, 0, 1, 2 … in the working
   directory. 0 is the file itself. */
#include "tests/fuzz/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned number;
    char name[16];
    FILE *file;

    snprintf(name, sizeof(name), "%u", number++);
    file = fopen(name, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fchmod(fileno(file), 0755) < 0 ||
        fclose(file) != 0) {
        perror(name);
        abort();
    }
    return 0;
}
