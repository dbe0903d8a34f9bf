#include "front/recording/recorded_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "front/files/below.h"
#include "front/files/resemblance.h"
#include "support/memory.h"
#include "support/utf8.h"
#include "trace/agent_name.h"

#define PIECE (256 << 10) /* bytes that are compared at a time */

bool image_is_never_instrumented(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    return agent_name_is(name) || (!strncmp(name, "ld-", 3) && strstr(name, ".so"));
}

bool image_has_rights(int file)
{
    struct stat status;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    return fstat(file, &status) < 0 || status.st_mode & (S_ISUID | S_ISGID) ||
           getxattr(path, "security.capability", NULL, 0) > 0;
}

void recorded_image_note(const struct recording *recording, const char *what, const char *path,
                         const char *rest)
{
    int list = below_open_to_append(recording->directory, "files");
    FILE *file = list < 0 ? NULL : fdopen(list, "a");

    if (!file) {
        if (list >= 0)
            close(list);
        return;
    }
    fprintf(file, "%s\t", what);
    utf8_write_plain(file, path);
    putc('\t', file);
    utf8_write_plain(file, rest);
    putc('\n', file);
    fclose(file);
}

static bool copy_content(int to, int from)
{
    ssize_t count;

    do
        count = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
    while (count > 0);
    if (count < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS))
        do
            count = sendfile(to, from, NULL, 1 << 30);
        while (count > 0);
    return count == 0;
}

static bool copy_file(int copy, int folder, const char *name)
{
    struct stat status;
    bool ok = false;
    int to;

    if (fstat(copy, &status) < 0 || lseek(copy, 0, SEEK_SET) < 0)
        return false;
    to = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
    if (to >= 0) {
        ok = copy_content(to, copy) && file_resemble(to, copy, &status);
        close(to);
    }
    return ok;
}

/* Whether two files, which both have that many bytes, have the same ones. */
static bool has_same_content(int a, int b, off_t size)
{
    char *bytes = memory_zeroed(2, PIECE);
    ssize_t count = 1;
    off_t at = 0;
    bool is = true;

    for (; is && at < size && count > 0; at += count) {
        count = pread(a, bytes, PIECE, at);
        is = count > 0 && pread(b, bytes + PIECE, (size_t)count, at) == count &&
             !memcmp(bytes, bytes + PIECE, (size_t)count);
    }
    free(bytes);
    return is;
}

/* A link to it, or a copy from another file system or mount. That a file of the same size and time
   is no copy, its content alone tells. */
static bool is_copy(int image, const struct stat *status, int copy)
{
    struct stat expected;
    char path[64];
    int file;
    bool is;

    if (fstat(copy, &expected) < 0)
        return false;
    if (status->st_dev == expected.st_dev && status->st_ino == expected.st_ino)
        return true;
    if (!S_ISREG(status->st_mode) || status->st_size != expected.st_size ||
        status->st_uid != expected.st_uid || status->st_mtim.tv_sec != expected.st_mtim.tv_sec ||
        status->st_mtim.tv_nsec != expected.st_mtim.tv_nsec)
        return false;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", image);
    file = open(path, O_RDONLY | O_CLOEXEC);
    is = file >= 0 && has_same_content(file, copy, expected.st_size);
    if (file >= 0)
        close(file);
    return is;
}

static bool is_same(int folder, const char *name, int copy)
{
    int image = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    bool is = image >= 0 && fstat(image, &status) == 0 && is_copy(image, &status, copy);

    if (image >= 0)
        close(image);
    return is;
}

int recorded_image_open(const struct recording *recording, const char *image, int copy,
                        struct stat *status)
{
    int file = below_open(recording->directory, image, O_PATH, 0);

    if (file < 0)
        return -1;
    if (fstat(file, status) == 0 && is_copy(file, status, copy))
        return file;
    close(file);
    errno = ESTALE;
    return -1;
}

/* By the descriptor, which was judged: under its name may lie another file by now, or none. */
static bool link_open(int copy, int folder, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
    return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Returns false with EEXIST if another is there. */
static bool put(int copy, int folder, const char *name)
{
    if (link_open(copy, folder, name))
        return true;
    if (errno == EEXIST)
        return is_same(folder, name, copy) || (errno = EEXIST, false);
    return copy_file(copy, folder, name);
}

/* From the root, and no way out of it. */
static bool leads_inside(const char *path)
{
    size_t length = strlen(path);

    return *path == '/' && !strstr(path, "/../") &&
           (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

char *recorded_image_keep(const struct recording *recording, const char *path, int copy)
{
    char *image;
    const char *name;
    bool is_kept;
    int folder;

    if (!leads_inside(path))
        return errno = EINVAL, NULL;
    image = memory_print("images%s", path);
    folder = below_make_folders(recording->directory, image, &name);
    is_kept = folder >= 0 && put(copy, folder, name);
    for (unsigned version = 2; folder >= 0 && !is_kept && errno == EEXIST; version++) {
        free(image);
        image = memory_print("images%s~%u", path, version);
        is_kept = put(copy, folder, strrchr(image, '/') + 1);
    }
    if (!is_kept) {
        free(image);
        image = NULL;
    }
    if (folder >= 0)
        close(folder);
    return image;
}
