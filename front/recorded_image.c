#include "front/recorded_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/memory.h"
#include "support/utf8.h"
#include "trace/image_manifest.h"

bool image_is_never_instrumented(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    return !strcmp(name, IMAGE_AGENT_NAME) || (!strncmp(name, "ld-", 3) && strstr(name, ".so"));
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
    char *list = recording_path(recording, "files");
    FILE *file = fopen(list, "ae");

    free(list);
    if (!file)
        return;
    fprintf(file, "%s\t", what);
    utf8_write_plain(file, path);
    putc('\t', file);
    utf8_write_plain(file, rest);
    putc('\n', file);
    fclose(file);
}

static void make_folders_of(char *path, size_t begin)
{
    for (char *slash = strchr(path + begin, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
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

static bool copy_file(const char *copy, const char *image)
{
    const int from = open(copy, O_RDONLY | O_CLOEXEC);
    struct stat status;
    bool ok = false;
    int to;

    if (from < 0 || fstat(from, &status) < 0)
        return false;
    to = open(image, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (to >= 0) {
        ok = copy_content(to, from) &&
             (fchown(to, status.st_uid, status.st_gid) == 0 || geteuid() != 0) &&
             fchmod(to, status.st_mode & 0777) == 0 &&
             futimens(to, (const struct timespec[]){status.st_atim, status.st_mtim}) == 0;
        close(to);
    }
    close(from);
    return ok;
}

/* A link to it, or a copy from another file system. */
static bool is_copy(const struct stat *image, const struct stat *copy)
{
    if (image->st_dev == copy->st_dev)
        return image->st_ino == copy->st_ino;
    return image->st_size == copy->st_size && image->st_uid == copy->st_uid &&
           image->st_mtim.tv_sec == copy->st_mtim.tv_sec &&
           image->st_mtim.tv_nsec == copy->st_mtim.tv_nsec;
}

static bool is_same(const char *image, const char *copy)
{
    struct stat a, b;

    return lstat(image, &a) == 0 && stat(copy, &b) == 0 && is_copy(&a, &b);
}

int recorded_image_open(const char *image, const char *copy, struct stat *status)
{
    const int file = open(image, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat expected;

    if (file < 0)
        return -1;
    if (fstat(file, status) == 0 && stat(copy, &expected) == 0 && is_copy(status, &expected))
        return file;
    close(file);
    errno = ESTALE;
    return -1;
}

/* Returns false with EEXIST if another is there. */
static bool put(const char *copy, const char *image)
{
    if (link(copy, image) == 0)
        return true;
    if (errno == EEXIST)
        return is_same(image, copy) || (errno = EEXIST, false);
    return copy_file(copy, image);
}

/* From the root, and no way out of it. */
static bool leads_inside(const char *path)
{
    const size_t length = strlen(path);

    return *path == '/' && !strstr(path, "/../") &&
           (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

char *recorded_image_keep(const struct recording *recording, const char *path, const char *copy)
{
    char *image;

    if (!leads_inside(path))
        return errno = EINVAL, NULL;
    image = memory_print("%s/images%s", recording->folder, path);
    make_folders_of(image, strlen(recording->folder) + 1);
    for (unsigned version = 2; !put(copy, image); version++) {
        free(image);
        if (errno != EEXIST)
            return NULL;
        image = memory_print("%s/images%s~%u", recording->folder, path, version);
    }
    return image;
}
