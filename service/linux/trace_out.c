#include "service/recorder/trace_out.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/recorder/part_file.h"
#include "service/recorder/rescue.h"

#define CHUNK_SIZE (64u << 10)

static bool copy(int to, int from, uint64_t size)
{
    unsigned char chunk[CHUNK_SIZE];

    for (uint64_t at = 0; at < size; at += CHUNK_SIZE) {
        size_t length = size - at < CHUNK_SIZE ? (size_t)(size - at) : CHUNK_SIZE;

        if (!file_read_at(from, chunk, length, at) || !file_write_at(to, chunk, length, at))
            return false;
    }
    return true;
}

static bool write_whole(int trace, const char *name, int directory, uint64_t used)
{
    struct part_file part;

    if (part_file_begin(&part, directory, name) && copy(part.fd, trace, used))
        return part_file_finish(&part, name);
    part_file_abandon(&part);
    return false;
}

/* Of the name in the trace directory, if it can be: its few bytes may fit where a trace did not. */
static void link_to(const char *name, const struct trace_dir *directory, const char *path)
{
    unlinkat(directory->fd, name, 0);
    if (symlinkat(path, directory->fd, name) < 0)
        errno = 0;
}

static bool rescue(int trace, const char *name, uint64_t used, char *path, size_t size)
{
    char folder[4096];
    int directory;

    for (int which = 0; (directory = rescue_open(which, folder, sizeof(folder))) != -2; which++) {
        bool ok = directory >= 0 && write_whole(trace, name, directory, used);

        file_close(directory);
        if (ok && snprintf(path, size, "%s/%s", folder, name) < (int)size)
            return true;
    }
    path[0] = 0;
    return false;
}

bool trace_out(int trace, const char *name, const struct trace_dir *directory, uint64_t used,
               char *elsewhere, size_t size)
{
    int error;

    if (write_whole(trace, name, directory->fd, used))
        return true;
    error = errno;
    if (!rescue(trace, name, used, elsewhere, size)) {
        errno = error;
        return false;
    }
    message("%s/%s: cannot write the trace: %s; it is in %s", directory->path, name,
            strerror(error), elsewhere);
    link_to(name, directory, elsewhere);
    return true;
}
