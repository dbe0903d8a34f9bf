#include "rewriter/base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the last part of a path begins, and where it ends: slashes may follow. */
static void last_part(const char *path, size_t *start, size_t *end)
{
    *end = strlen(path);
    while (*end > 1 && path[*end - 1] == '/')
        --*end;
    for (*start = *end; *start && path[*start - 1] != '/';)
        --*start;
}

bool place_open(struct place *place, const char *path, struct failure *failure)
{
    size_t start, end;
    char directory[PATH_MAX];

    place->directory = -1;
    last_part(path, &start, &end);
    if (start >= sizeof(directory) - 1 || end - start >= sizeof(place->name))
        return fail(failure, path, "cannot write it: %s", strerror(ENAMETOOLONG));
    snprintf(place->name, sizeof(place->name), "%.*s", (int)(end - start), path + start);
    if (!*place->name || strcmp(place->name, ".") == 0 || strcmp(place->name, "..") == 0)
        return fail(failure, path, "expected a name to write to, found '%s'", place->name);
    snprintf(directory, sizeof(directory), "%.*s.", (int)start, path);
    place->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place->directory < 0)
        return fail(failure, path, "cannot write there: %s", strerror(errno));
    return true;
}

void place_close(struct place *place)
{
    if (place->directory >= 0)
        close(place->directory);
    place->directory = -1;
}

bool place_status(const struct place *place, struct stat *status)
{
    return fstatat(place->directory, place->name, status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool path_beside(char result[PATH_MAX], const char *path, const char *name)
{
    size_t start, end;

    last_part(path, &start, &end);
    return snprintf(result, PATH_MAX, "%.*s%s", (int)start, path, name) < PATH_MAX;
}

bool descriptor_path(char path[PATH_MAX], int descriptor)
{
    snprintf(path, PATH_MAX, "/proc/self/fd/%d", descriptor);
    return access(path, F_OK) == 0;
}

const char *kind_text(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "a file";
    case S_IFDIR:
        return "a directory";
    case S_IFLNK:
        return "a symbolic link";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}
