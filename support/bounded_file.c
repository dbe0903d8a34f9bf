#include "support/bounded_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/regular_file.h"

static bool begin(struct bounded_file *file, int fd, struct failure *failure)
{
    struct stat status;

    *file = (struct bounded_file){.fd = fd};
    if (fd < 0 || fstat(fd, &status) < 0) {
        fail_because(failure, "%s", regular_file_error());
        bounded_file_close(file);
        return false;
    }
    file->size = (uint64_t)status.st_size;
    return true;
}

bool bounded_file_open(struct bounded_file *file, const char *path, struct failure *failure)
{
    return begin(file, regular_file_open(path), failure);
}

bool bounded_file_take(struct bounded_file *file, int name, const char *path,
                       struct failure *failure)
{
    return begin(file, regular_file_take(name, path), failure);
}

void bounded_file_close(struct bounded_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct bounded_file){.fd = -1};
}

struct bounded_file bounded_file_of(const void *bytes, uint64_t size)
{
    return (struct bounded_file){.fd = -1, .size = size, .bytes = bytes};
}

int bounded_file_read(const struct bounded_file *file, void *bytes, uint64_t size, uint64_t offset)
{
    uint64_t done = 0;

    if (offset > file->size || size > file->size - offset)
        return -1;
    if (file->bytes) {
        memcpy(bytes, file->bytes + offset, size);
        return 0;
    }
    while (done < size) {
        ssize_t count = pread(file->fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return -1;
        done += (uint64_t)count;
    }
    return 0;
}

void *bounded_file_copy(const struct bounded_file *file, uint64_t offset, uint64_t size)
{
    char *bytes;

    if (offset > file->size || size > file->size - offset)
        return NULL;
    bytes = malloc(size + 1);
    if (!bytes)
        return NULL;
    if (bounded_file_read(file, bytes, size, offset) < 0) {
        free(bytes);
        return NULL;
    }
    bytes[size] = 0;
    return bytes;
}
