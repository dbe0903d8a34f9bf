#include "front/files/below.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary.h"

#define NOT_REGULAR EINVAL /* as support/regular_file.h has it */

static void close_quietly(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
}

/* The next component, without what stands behind it. Returns what stands there, or null with errno
   if there is none that may be used. */
static const char *take_component(const char *path, char component[NAME_MAX + 1])
{
    size_t length = strcspn(path, "/");

    if (length > NAME_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(component, path, length);
    component[length] = 0;
    if (!length || !strcmp(component, ".") || !strcmp(component, "..")) {
        errno = EINVAL;
        return NULL;
    }
    return path + length;
}

/* Takes over `folder`, a descriptor. */
static int enter(int folder, const char *component, bool makes)
{
    int next;

    if (makes)
        mkdirat(folder, component, 0700);
    next = openat(folder, component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close_quietly(folder);
    return next;
}

/* The folder of what the path ends with, and that name. */
static int open_folder(int directory, const char *path, bool makes, char name[NAME_MAX + 1])
{
    int folder = fcntl(directory, F_DUPFD_CLOEXEC, 0);

    while (folder >= 0) {
        path = take_component(path, name);
        if (!path) {
            close_quietly(folder);
            return -1;
        }
        if (!*path)
            break;
        path++;
        folder = enter(folder, name, makes);
    }
    return folder;
}

int below_open(int directory, const char *path, int flags, mode_t mode)
{
    char name[NAME_MAX + 1];
    int folder = open_folder(directory, path, false, name);
    int file;

    if (folder < 0)
        return -1;
    file = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    close_quietly(folder);
    return file;
}

int below_make_folders(int directory, const char *path, const char **name)
{
    char end[NAME_MAX + 1];
    const char *slash = strrchr(path, '/');

    *name = slash ? slash + 1 : path;
    return open_folder(directory, path, true, end);
}

/* A pipe is opened without waiting, and closed again. */
static int open_regular(int directory, const char *path, int flags)
{
    int file = below_open(directory, path, flags | O_NONBLOCK | O_NOCTTY, 0600);
    struct stat status;

    if (file < 0 && errno == ENXIO)
        errno = NOT_REGULAR; /* a pipe that nobody reads, or a socket */
    if (file < 0 || (fstat(file, &status) == 0 && S_ISREG(status.st_mode)))
        return file;
    close(file);
    errno = NOT_REGULAR;
    return -1;
}

int below_open_file(int directory, const char *path)
{
    return open_regular(directory, path, O_RDONLY);
}

int below_open_to_append(int directory, const char *path)
{
    return open_regular(directory, path, O_WRONLY | O_APPEND | O_CREAT);
}

void below_empty(int directory)
{
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = again < 0 ? NULL : fdopendir(again);
    struct dirent *entry;

    while (stream && (entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(directory, entry->d_name, AT_REMOVEDIR) < 0)
            temporary_remove(directory, entry->d_name);
    if (stream)
        closedir(stream);
}

bool below_is_same(int one, int other)
{
    struct stat a, b;

    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}
