#include "service/launch/command_kind.h"

#include <limits.h>
#include <string.h>

#include "image/manifest.h"
#include "service/launch/linux/command_file.h"
#include "support/bounded_file.h"

static enum command_kind kind_of(const struct bounded_file *file)
{
    char start[2];

    if (manifest_is_in(file))
        return COMMAND_INSTRUMENTED;
    if (bounded_file_read(file, start, sizeof(start), 0) < 0)
        return COMMAND_UNKNOWN;
    return memcmp(start, "#!", sizeof(start)) ? COMMAND_NOT_INSTRUMENTED : COMMAND_IS_SCRIPT;
}

enum command_kind command_kind(const char *name)
{
    char path[PATH_MAX];
    struct bounded_file file;
    struct failure failure;
    enum command_kind kind;

    if (!command_file_find(path, sizeof(path), name) || !bounded_file_open(&file, path, &failure))
        return COMMAND_UNKNOWN;
    kind = kind_of(&file);
    bounded_file_close(&file);
    return kind;
}
