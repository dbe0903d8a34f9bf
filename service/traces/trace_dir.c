#include "service/traces/trace_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/message.h"

#define BY_DESCRIPTOR "/proc/self/fd/"

bool trace_dir_open(struct trace_dir *directory, const char *path)
{
    *directory = (struct trace_dir){
        .fd = -1, .is_fixed = !strncmp(path, BY_DESCRIPTOR, sizeof(BY_DESCRIPTOR) - 1)};
    if (!file_make_directory(path)) {
        message("%s: cannot make the trace directory: %s", path, strerror(errno));
        return false;
    }
    directory->fd = file_open_directory(path, &directory->path);
    if (directory->fd < 0)
        message("%s: cannot open the trace directory: %s", path, strerror(errno));
    return directory->fd >= 0;
}

void trace_dir_find_again(struct trace_dir *directory)
{
    char *path;
    int fd;

    if (directory->is_fixed || file_is_directory(directory->fd, directory->path))
        return;
    fd = file_open_directory(directory->path, &path);
    if (fd < 0)
        return;
    trace_dir_close(directory);
    directory->fd = fd;
    directory->path = path;
}

bool trace_dir_path(const struct trace_dir *directory, const char *name, char *path, size_t size)
{
    int length = snprintf(path, size, "%s/%s", directory->path, name);

    if (length > 0 && (size_t)length < size)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

void trace_dir_close(struct trace_dir *directory)
{
    file_close(directory->fd);
    free(directory->path);
    directory->fd = -1;
    directory->path = NULL;
}
