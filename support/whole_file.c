#include "support/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of path, opened; *name is what follows it. */
static int open_folder(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    *name = slash ? slash + 1 : path;
    if (*name - path >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(*name - path) : 1, slash ? path : ".");
    return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Once, as long as the next file is in the same folder: it may have many. */
static void sweep_folder(int directory)
{
    static dev_t last_device;
    static ino_t last_folder;
    struct stat status;

    if (fstat(directory, &status) < 0 ||
        (status.st_dev == last_device && status.st_ino == last_folder))
        return;
    last_device = status.st_dev;
    last_folder = status.st_ino;
    temporary_sweep_files(directory);
}

/* Without /proc, a file that has no name cannot get one. */
static int open_unnamed(int directory, mode_t mode)
{
    if (access("/proc/self/fd", X_OK) == 0)
        return openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    errno = EOPNOTSUPP;
    return -1;
}

static int open_named(struct whole_file *file, mode_t mode)
{
    mode_t mask = umask(0);
    int fd;

    umask(mask);
    fd = temporary_file(file->directory, file->name, file->temporary);
    file->has_name = fd >= 0;
    if (fd >= 0)
        fchmod(fd, mode & ~mask);
    return fd;
}

static void close_folder(struct whole_file *file)
{
    int error = errno;

    close(file->directory);
    file->directory = -1;
    errno = error;
}

static int begin(struct whole_file *file, mode_t mode)
{
    if (file->directory < 0)
        return -1;
    sweep_folder(file->directory);
    file->fd = open_unnamed(file->directory, mode);
    if (file->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        file->fd = open_named(file, mode);
    if (file->fd >= 0)
        return 0;
    close_folder(file);
    return -1;
}

int whole_file_begin(struct whole_file *file, const char *path, mode_t mode)
{
    *file = (struct whole_file){.fd = -1};
    file->directory = open_folder(path, &file->name);
    return begin(file, mode);
}

int whole_file_begin_in(struct whole_file *file, int directory, const char *name, mode_t mode)
{
    *file = (struct whole_file){
        .fd = -1, .directory = fcntl(directory, F_DUPFD_CLOEXEC, 0), .name = name};
    return begin(file, mode);
}

/* True if the file has the name now that it is to have. */
static bool name_at_once(const struct whole_file *file)
{
    char link[sizeof("/proc/self/fd/-2147483648")];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, link, file->directory, file->name, AT_SYMLINK_FOLLOW) == 0;
}

static bool name_it(struct whole_file *file)
{
    if (!file->has_name) {
        if (name_at_once(file))
            return true;
        file->has_name = errno == EEXIST &&
                         temporary_link(file->directory, file->name, file->fd, file->temporary);
        if (!file->has_name)
            return false;
    }
    if (renameat(file->directory, file->temporary, file->directory, file->name) < 0)
        return false;
    file->has_name = false;
    return true;
}

int whole_file_commit(struct whole_file *file)
{
    if (name_it(file)) {
        close_folder(file);
        return 0;
    }
    whole_file_abandon(file);
    return -1;
}

void whole_file_abandon(struct whole_file *file)
{
    int error = errno;

    if (file->has_name)
        unlinkat(file->directory, file->temporary, 0);
    file->has_name = false;
    errno = error;
    if (file->directory >= 0)
        close_folder(file);
}
