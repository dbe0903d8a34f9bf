#include "rewriter/base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rewriter/base/place.h"
#include "rewriter/base/rights.h"
#include "support/regular_file.h"

static bool check_kind(const struct input_file *file, struct failure *failure)
{
    if (S_ISREG(file->status.st_mode))
        return file->status.st_size > 0 ||
               fail(failure, file->path, "expected an ELF image, found an empty file");
    return fail(failure, file->path, "expected a file, found %s%s", kind_text(file->status.st_mode),
                S_ISDIR(file->status.st_mode) ? "; name the files in it" : "");
}

static bool fail_to_read(struct input_file *file, const char *why, struct failure *failure)
{
    file->problem = INPUT_UNREADABLE;
    return fail(failure, file->path, "cannot read it: %s", why);
}

static int open_regular(struct input_file *file, struct failure *failure)
{
    int place = open(file->path, O_PATH | O_CLOEXEC), descriptor = -1;

    if (place < 0 || fstat(place, &file->status) < 0) {
        fail_to_read(file, strerror(errno), failure);
    } else if (check_kind(file, failure)) {
        descriptor = regular_file_take(place, file->path);
        if (descriptor < 0)
            fail_to_read(file, regular_file_error(), failure);
    }
    if (place >= 0)
        close(place);
    return descriptor;
}

bool input_file_take(struct input_file *file, const char *path, int descriptor,
                     struct failure *failure)
{
    void *bytes;

    *file = (struct input_file){.path = path};
    if (fstat(descriptor, &file->status) < 0)
        return fail_to_read(file, strerror(errno), failure);
    if (!check_kind(file, failure))
        return false;
    file->size = (size_t)file->status.st_size;
    bytes =
        mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
    if (bytes == MAP_FAILED) {
        file->problem = errno == ENOMEM ? INPUT_TOO_LARGE : INPUT_UNREADABLE;
        return fail(failure, path, "cannot map its %zu bytes: %s", file->size, strerror(errno));
    }
    file->bytes = bytes;
    file->rights = rights_of(descriptor, &file->status);
    return true;
}

bool input_file_open(struct input_file *file, const char *path, struct failure *failure)
{
    int descriptor;
    bool is_open;

    *file = (struct input_file){.path = path};
    descriptor = open_regular(file, failure);
    if (descriptor < 0)
        return false;
    is_open = input_file_take(file, path, descriptor, failure);
    close(descriptor);
    return is_open;
}

void input_file_close(struct input_file *file)
{
    if (file->bytes)
        munmap(file->bytes, file->size);
    file->bytes = NULL;
}
