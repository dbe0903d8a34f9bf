#include "service/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/whole_file.h"

bool file_make_directory(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

int file_open_directory(const char *path, char **absolute)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error;

    *absolute = directory < 0 ? NULL : realpath(path, NULL);
    if (*absolute && faccessat(directory, ".", W_OK | X_OK, AT_EACCESS) == 0)
        return directory;
    error = errno;
    free(*absolute);
    *absolute = NULL;
    file_close(directory);
    errno = error;
    return -1;
}

bool file_is_directory(int directory, const char *path)
{
    struct stat ours, there;

    return fstat(directory, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

int file_create(int directory, const char *name)
{
    return openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int file_open_identified(const char *path, uint64_t identity)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (file < 0 || file_identity(file) == identity)
        return file;
    file_close(file);
    errno = ESTALE;
    return -1;
}

bool file_extend(int file, uint64_t size)
{
    return ftruncate(file, (off_t)size) == 0;
}

/* A write lease is given only to the one process that has the file, mapped or open, fcntl(2). */
static bool lease(int file)
{
    if (fcntl(file, F_SETLEASE, F_WRLCK) == 0)
        return true;
    if (errno == EAGAIN)
        errno = EBUSY;
    return errno != EBUSY; /* a file system without leases */
}

bool file_cut(int file, uint64_t size, bool if_unused)
{
    bool ok;

    if (if_unused && !lease(file))
        return false;
    ok = ftruncate(file, (off_t)size) == 0;
    if (if_unused)
        fcntl(file, F_SETLEASE, F_UNLCK);
    return ok;
}

bool file_read_at(int file, void *bytes, size_t size, uint64_t offset)
{
    ssize_t got = pread(file, bytes, size, (off_t)offset);

    if (got >= 0 && (size_t)got < size)
        errno = ENODATA;
    return got == (ssize_t)size;
}

bool file_write_at(int file, const void *bytes, size_t size, uint64_t offset)
{
    ssize_t written = pwrite(file, bytes, size, (off_t)offset);

    if (written >= 0 && (size_t)written < size)
        errno = ENOSPC;
    return written == (ssize_t)size;
}

uint64_t file_identity(int file)
{
    struct stat stat;

    return fstat(file, &stat) == 0 ? stat.st_ino : 0;
}

bool file_sync(int directory, const char *name)
{
    int file = openat(directory, name ? name : ".", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ok;

    if (file < 0)
        return errno == ENOENT || errno == ELOOP;
    ok = fsync(file) == 0;
    file_close(file);
    return ok;
}

bool file_sync_all(int directory)
{
    return syncfs(directory) == 0;
}

void *file_map(int file, size_t size)
{
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    return mapping == MAP_FAILED ? NULL : mapping;
}

void file_unmap(void *mapping, size_t size)
{
    munmap(mapping, size);
}

void file_close(int file)
{
    if (file >= 0)
        close(file);
}

void file_remove(int directory, const char *name)
{
    unlinkat(directory, name, 0);
}

/* begun: what whole_file_begin returned. */
static bool replace(struct whole_file *file, int begun, const void *bytes, size_t size)
{
    bool ok;

    if (begun < 0)
        return false;
    ok = file_write_at(file->fd, bytes, size, 0) && whole_file_commit(file) == 0;
    if (!ok)
        whole_file_abandon(file);
    file_close(file->fd);
    return ok;
}

bool file_replace(const char *path, const void *bytes, size_t size)
{
    struct whole_file file;

    return replace(&file, whole_file_begin(&file, path, 0600), bytes, size);
}

bool file_replace_in(int directory, const char *name, const void *bytes, size_t size)
{
    struct whole_file file;

    return replace(&file, whole_file_begin_in(&file, directory, name, 0600), bytes, size);
}

ssize_t file_read_own(const char *path, void *bytes, size_t size)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat stat;
    ssize_t length = -1;

    if (file < 0)
        return -1;
    if (fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
        !(stat.st_mode & 077))
        length = pread(file, bytes, size, 0);
    else
        errno = EPERM;
    file_close(file);
    return length;
}

void file_remove_path(const char *path)
{
    unlink(path);
}
