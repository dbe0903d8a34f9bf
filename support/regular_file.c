#include "support/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOT_REGULAR EINVAL /* which opening a file never fails with */

/* Without /proc it is the path that is opened again. */
static int open_again(int name, const char *path)
{
    char link[64];
    int fd;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", name);
    fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd;
}

static void close_quietly(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
}

int regular_file_take(int name, const char *path)
{
    struct stat looked_at, opened;
    int fd;

    if (fstat(name, &looked_at) < 0)
        return -1;
    if (!S_ISREG(looked_at.st_mode)) {
        errno = NOT_REGULAR;
        return -1;
    }
    fd = open_again(name, path);
    if (fd < 0)
        return -1;
    if (fstat(fd, &opened) == 0 && opened.st_dev == looked_at.st_dev &&
        opened.st_ino == looked_at.st_ino)
        return fd;
    errno = NOT_REGULAR;
    close_quietly(fd);
    return -1;
}

int regular_file_open(const char *path)
{
    int name = open(path, O_PATH | O_CLOEXEC), fd;

    if (name < 0)
        return -1;
    fd = regular_file_take(name, path);
    close_quietly(name);
    return fd;
}

const char *regular_file_error(void)
{
    return errno == NOT_REGULAR ? "is not a regular file" : strerror(errno);
}
