#include "front/recorded_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/memory.h"
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
                         const char *reason)
{
    char *list = recording_path(recording, "files");
    FILE *file = fopen(list, "ae");

    free(list);
    if (!file)
        return;
    if (reason)
        fprintf(file, "%s\t%s\t%s\n", what, path, reason);
    else
        fprintf(file, "%s\t%s\n", what, path);
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

char *recorded_image_keep(const struct recording *recording, const char *path, const char *copy)
{
    char *image = memory_print("%s/images%s", recording->folder, path);

    make_folders_of(image, strlen(recording->folder) + 1);
    unlink(image);
    if (link(copy, image) == 0 || symlink(copy, image) == 0)
        return image;
    free(image);
    return NULL;
}
