#include "service/traces/part_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/base/file.h"

#define PART ".part-"

bool part_file_begin(struct part_file *part, int directory, const char *name)
{
    int length = snprintf(part->name, sizeof(part->name), ".%s" PART "%d", name, (int)getpid());

    part->fd = -1;
    part->directory = directory;
    if (length < 0 || length >= (int)sizeof(part->name)) {
        errno = ENAMETOOLONG;
        return false;
    }
    unlinkat(directory, part->name, 0); /* of a dead process that had our pid */
    part->fd = file_create(directory, part->name);
    if (part->fd >= 0 && flock(part->fd, LOCK_EX | LOCK_NB) < 0)
        errno = 0; /* a file system without locks: nothing is cleaned there */
    return part->fd >= 0;
}

bool part_file_finish(struct part_file *part, const char *name)
{
    if (renameat(part->directory, part->name, part->directory, name) < 0) {
        part_file_abandon(part);
        return false;
    }
    file_close(part->fd);
    part->fd = -1;
    return true;
}

void part_file_abandon(struct part_file *part)
{
    int error = errno;

    if (part->fd >= 0) {
        unlinkat(part->directory, part->name, 0);
        file_close(part->fd);
    }
    part->fd = -1;
    errno = error;
}

/* Is it a part of ours that nobody writes to? Some file systems have no locks: then it is not. */
static bool is_left(int directory, const char *name)
{
    bool is_part = name[0] == '.' && (strstr(name, ".bin" PART) || strstr(name, ".ring" PART));
    int file = -1;
    struct stat stat;
    bool left;

    if (is_part)
        file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    left = fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
           flock(file, LOCK_EX | LOCK_NB) == 0;
    close(file);
    return left;
}

void part_file_clean(int directory)
{
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        if (is_left(directory, entry->d_name))
            unlinkat(directory, entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
    else if (again >= 0)
        close(again);
}
