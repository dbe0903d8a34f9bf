#include "support/neighbour.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATTERN_SIZE (2 * PATH_MAX)

bool neighbour_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;

    if (length < 0)
        return false;
    folder[length] = 0;
    slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

/* False: it would be too long. */
static bool make_pattern(char pattern[PATTERN_SIZE], const char *folder, const char *place)
{
    size_t size = 0;

    for (; *folder && size < PATTERN_SIZE - 2; folder++) {
        if (strchr("*?[\\", *folder))
            pattern[size++] = '\\';
        pattern[size++] = *folder;
    }
    return !*folder &&
           snprintf(pattern + size, PATTERN_SIZE - size, "/%s", place) < (int)(PATTERN_SIZE - size);
}

static bool find_place(const char *pattern, int mode, char path[PATH_MAX])
{
    glob_t matches;
    bool is_found = glob(pattern, 0, NULL, &matches) == 0 && realpath(*matches.gl_pathv, path) &&
                    access(path, mode) == 0;

    globfree(&matches);
    return is_found;
}

bool neighbour_find(const char *folder, const char *const *places, int mode, char path[PATH_MAX])
{
    char pattern[PATTERN_SIZE];

    for (; *places; places++)
        if (make_pattern(pattern, folder, *places) && find_place(pattern, mode, path))
            return true;
    return false;
}
