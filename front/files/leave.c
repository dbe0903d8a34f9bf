#include "front/files/leave.h"

#include <fnmatch.h>
#include <string.h>

static bool matches(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

bool leave_matches(const struct words *patterns, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

    for (size_t i = patterns->count; i-- > 0;) {
        const char *pattern = patterns->list[i];
        bool takes_back = *pattern == '!';
        if (matches(pattern + takes_back, path) || matches(pattern + takes_back, base))
            return !takes_back;
    }
    return false;
}
