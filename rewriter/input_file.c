#include "rewriter/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool input_file_open(struct input_file *file, const char *path, struct failure *failure)
{
    int descriptor;
    void *bytes;

    *file = (struct input_file){.path = path};
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return fail(failure, path, "cannot read it: %s", strerror(errno));
    if (fstat(descriptor, &file->status) < 0) {
        fail(failure, path, "cannot read it: %s", strerror(errno));
        goto err;
    }
    if (!S_ISREG(file->status.st_mode)) {
        fail(failure, path, "expected a file, found %s",
             S_ISDIR(file->status.st_mode) ? "a directory; name the files in it" : "a device");
        goto err;
    }
    if (file->status.st_size == 0) {
        fail(failure, path, "expected an ELF image, found an empty file");
        goto err;
    }
    file->size = (size_t)file->status.st_size;
    bytes =
        mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (bytes == MAP_FAILED) {
        fail(failure, path, "cannot map its %zu bytes: %s", file->size, strerror(errno));
        goto err;
    }
    file->bytes = bytes;
    close(descriptor);
    return true;

err:
    close(descriptor);
    return false;
}

void input_file_close(struct input_file *file)
{
    if (file->bytes)
        munmap(file->bytes, file->size);
    file->bytes = NULL;
}
