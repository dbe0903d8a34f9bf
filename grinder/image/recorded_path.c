#include "grinder/image/recorded_path.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "support/memory.h"

static int is_separator(char c, enum trace_system system)
{
    return c == '/' || (system == TRACE_SYSTEM_WINDOWS && c == '\\');
}

static int is_same(char a, char b, enum trace_system system)
{
    if (system != TRACE_SYSTEM_WINDOWS)
        return a == b;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ||
           (is_separator(a, system) && is_separator(b, system));
}

/* Whether path lies at or below the folder that is the first length bytes of from. */
static int is_below(const char *path, const char *from, size_t length, enum trace_system system)
{
    for (size_t i = 0; i < length; i++)
        if (!path[i] || !is_same(path[i], from[i], system))
            return 0;
    return !path[length] || is_separator(path[length], system) ||
           (length && is_separator(from[length - 1], system));
}

/* Adds a component to folder, a path in a buffer of PATH_MAX: the name as spelt if it is there,
   else one of another case. 0, or -1 if the path gets too long. */
static int enter(char *folder, const char *component)
{
    size_t length = strlen(folder);
    struct dirent *entry;
    DIR *directory;

    if (length + 1 + strlen(component) >= PATH_MAX)
        return -1;
    sprintf(folder + length, "/%s", component);
    if (access(folder, F_OK) == 0)
        return 0;
    folder[length] = 0;
    directory = opendir(length ? folder : "/");
    sprintf(folder + length, "/%s", component);
    while (directory && (entry = readdir(directory))) {
        if (strcasecmp(entry->d_name, component) != 0)
            continue;
        strcpy(folder + length + 1, entry->d_name);
        break;
    }
    if (directory)
        closedir(directory);
    return 0;
}

/* root, and below it the rest of a Windows path. */
static char *find_below(const char *root, const char *rest)
{
    char path[PATH_MAX], component[NAME_MAX + 1];

    if (snprintf(path, sizeof(path), "%s", root) >= (int)sizeof(path))
        return NULL;
    for (size_t length; *rest; rest += length) {
        length = strcspn(rest, "\\/");
        if (!length) {
            length = 1;
            continue;
        }
        if (length > NAME_MAX)
            return NULL;
        memcpy(component, rest, length);
        component[length] = 0;
        if (enter(path, component) < 0)
            return NULL;
    }
    return memory_copy_string(path);
}

static char *find_on_drive(char drive, const char *rest)
{
    const char *prefix = getenv("WINEPREFIX"), *home = getenv("HOME");
    char root[PATH_MAX];
    int length;

    drive = (char)tolower((unsigned char)drive);
    if (drive == 'z')
        return find_below("", rest);
    if (prefix && *prefix)
        length = snprintf(root, sizeof(root), "%s/dosdevices/%c:", prefix, drive);
    else
        length = snprintf(root, sizeof(root), "%s/.wine/dosdevices/%c:", home ? home : "", drive);
    if (length >= (int)sizeof(root) || access(root, F_OK) < 0)
        return NULL;
    return find_below(root, rest);
}

static int has_drive(const char *path)
{
    return isalpha((unsigned char)*path) && path[1] == ':';
}

/* Prefixes that only switch the parsing of paths off, and Wine's for what lies on no drive. */
static char *find_on_windows(const char *path)
{
    if (!strncmp(path, "\\\\?\\", 4) || !strncmp(path, "\\??\\", 4))
        path += 4;
    if (!strncasecmp(path, "unix\\", 5))
        return find_below("", path + 5);
    return has_drive(path) ? find_on_drive(*path, path + 2) : NULL;
}

char *recorded_path_map(const char *text)
{
    char *map = memory_zeroed(strlen(text) + 2, 1), *to = map;

    for (; *text; *to++ = *text++) {
        if (*text != '=')
            continue;
        if (text[1] != '=')
            break;
        text++;
    }
    if (to > map && *text) {
        strcpy(to + 1, text + 1);
        return map;
    }
    free(map);
    return NULL;
}

static char *apply_map(const char *map, const char *path, enum trace_system system)
{
    size_t length = strlen(map);
    const char *to = map + length + 1, *rest = path + length;
    size_t size = strlen(to) + strlen(rest) + 2;
    char *whole;

    if (system == TRACE_SYSTEM_WINDOWS)
        return find_below(to, rest);
    whole = memory_zeroed(size, 1);
    snprintf(whole, size, "%s%s%s", to, *rest && *rest != '/' ? "/" : "", rest);
    return whole;
}

char *recorded_path_find(const char *path, enum trace_system system, const char *const *path_maps)
{
    const char *best = NULL;

    for (; path_maps && *path_maps; path_maps++)
        if (is_below(path, *path_maps, strlen(*path_maps), system) &&
            (!best || strlen(*path_maps) > strlen(best)))
            best = *path_maps;
    if (best)
        return apply_map(best, path, system);
    return system == TRACE_SYSTEM_WINDOWS ? find_on_windows(path) : memory_copy_string(path);
}

const char *recorded_path_name(const char *path, enum trace_system system)
{
    const char *name = path;

    for (const char *at = path; *at; at++)
        if (is_separator(*at, system) && at[1])
            name = at + 1;
    return name;
}

enum trace_system recorded_path_system(const char *path)
{
    return has_drive(path) || !strncmp(path, "\\\\", 2) ? TRACE_SYSTEM_WINDOWS : TRACE_SYSTEM_LINUX;
}
