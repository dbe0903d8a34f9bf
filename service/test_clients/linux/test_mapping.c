#include "service/test_clients/test_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *test_mapping_open(const char *path, uint64_t size)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *mapping =
        file < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (file >= 0)
        close(file);
    return mapping == MAP_FAILED ? NULL : mapping;
}
