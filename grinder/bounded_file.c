#include "grinder/bounded_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bounded_file_open(struct bounded_file *file, const char *path, const char **why)
{
    struct stat status;

    *file = (struct bounded_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file->fd < 0 || fstat(file->fd, &status) < 0) {
        *why = strerror(errno);
        goto err;
    }
    if (!S_ISREG(status.st_mode)) {
        *why = "is not a regular file";
        goto err;
    }
    file->size = (uint64_t)status.st_size;
    return 0;

err:
    bounded_file_close(file);
    return -1;
}

void bounded_file_close(struct bounded_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct bounded_file){.fd = -1};
}

int bounded_file_read(const struct bounded_file *file, void *bytes, uint64_t size, uint64_t offset)
{
    uint64_t done = 0;

    if (offset > file->size || size > file->size - offset)
        return -1;
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
