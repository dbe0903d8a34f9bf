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
    char *line;

    free(list);
    if (!file)
        return;
    line = memory_copy_string(path); /* what is instrumented has a plain one already */
    utf8_sanitise(line);
    fprintf(file, "%s\t%s\t%s\n", what, line, rest);
    fclose(file);
    free(line);
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
static bool is_same(const char *image, const char *copy)
{
    struct stat a, b;

    if (stat(image, &a) < 0 || stat(copy, &b) < 0)
        return false;
    if (a.st_dev == b.st_dev)
        return a.st_ino == b.st_ino;
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
           a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
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

char *recorded_image_keep(const struct recording *recording, const char *path, const char *copy)
{
    char *image = memory_print("%s/images%s", recording->folder, path);

    make_folders_of(image, strlen(recording->folder) + 1);
    for (unsigned version = 2; !put(copy, image); version++) {
        free(image);
        if (errno != EEXIST)
            return NULL;
        image = memory_print("%s/images%s~%u", recording->folder, path, version);
    }
    return image;
}
