#include "service/traces/trace_write_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/traces/part_file.h"
#include "trace/trace_format.h"

#define CHUNK_SIZE (64u << 10)

/* From byte `at` on. */
static bool copy(int to, int from, uint64_t at, uint64_t size)
{
    unsigned char chunk[CHUNK_SIZE];

    for (; at < size; at += CHUNK_SIZE) {
        size_t length = size - at < CHUNK_SIZE ? (size_t)(size - at) : CHUNK_SIZE;

        if (!file_read_at(from, chunk, length, at) || !file_write_at(to, chunk, length, at))
            return false;
    }
    return true;
}

static bool write_whole(int trace, const char *name, int directory, uint64_t used)
{
    struct part_file part;

    if (part_file_begin(&part, directory, name) && copy(part.fd, trace, 0, used))
        return part_file_finish(&part, name);
    part_file_abandon(&part);
    return false;
}

static bool is_first(const struct stat *stat, uint64_t first)
{
    return S_ISREG(stat->st_mode) && stat->st_ino == first && stat->st_nlink == 1;
}

/*
 * Most programs end before the keeper has taken a snapshot. Then no second file is made beside the
 * first, which some file systems take long for. The header comes last: until then the file is what
 * it was, a snapshot of the beginning, whatever follows it.
 */
static bool complete_first(int trace, const char *name, int directory, uint64_t first,
                           uint64_t used)
{
    struct stat stat;
    int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ok;

    if (file < 0)
        return false;
    ok = fstat(file, &stat) == 0 && is_first(&stat, first) && stat.st_size == TRACE_HEADER_SIZE;
    if (ok) {
        ok = copy(file, trace, TRACE_HEADER_SIZE, used) && copy(file, trace, 0, TRACE_HEADER_SIZE);
        if (!ok && ftruncate(file, TRACE_HEADER_SIZE) < 0)
            errno = 0; /* then it is longer than it says */
    }
    close(file);
    /* A snapshot that came meanwhile has its name. */
    return ok && fstatat(directory, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_first(&stat, first);
}

/* Makes a link of the trace's name in the trace directory, if it can be: its few bytes may fit
   where a trace did not. */
static void link_to(const char *name, const struct trace_dir *directory, const char *path)
{
    unlinkat(directory->fd, name, 0);
    if (symlinkat(path, directory->fd, name) < 0)
        errno = 0;
}

/* Checked on the descriptor, behind which nobody can put something else. */
static int open_own(const char *path)
{
    struct stat stat;
    int directory;

    mkdir(path, 0700);
    directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return -1;
    if (fstat(directory, &stat) == 0 && stat.st_uid == geteuid() && !(stat.st_mode & 077))
        return directory;
    close(directory);
    return -1;
}

/*
 * Where a trace goes that its directory has no room for. The folders that are tried, in this order,
 * made for this user alone if they are not there:
 *
 *      0   $XDG_RUNTIME_DIR/umbra/rescued
 *      1   /dev/shm/umbra-UID
 *      2   /var/tmp/umbra-UID
 *
 * Opens number `which`. Returns -1 if that is none to write to: of another user, no folder, not
 * there; -2 behind the last one.
 */
static int open_rescue_folder(int which, char *path, size_t size)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int length;

    switch (which) {
    case 0:
        if (!runtime || *runtime != '/')
            return -1;
        length = snprintf(path, size, "%s/umbra/rescued", runtime);
        break;
    case 1:
        length = snprintf(path, size, "/dev/shm/umbra-%u", (unsigned)geteuid());
        break;
    case 2:
        length = snprintf(path, size, "/var/tmp/umbra-%u", (unsigned)geteuid());
        break;
    default:
        return -2;
    }
    return length > 0 && (size_t)length < size ? open_own(path) : -1;
}

static bool rescue(int trace, const char *name, uint64_t used, char *path, size_t size)
{
    char folder[4096];
    int directory;

    for (int which = 0; (directory = open_rescue_folder(which, folder, sizeof(folder))) != -2;
         which++) {
        bool ok = directory >= 0 && write_whole(trace, name, directory, used);

        file_close(directory);
        if (ok && snprintf(path, size, "%s/%s", folder, name) < (int)size)
            return true;
    }
    path[0] = 0;
    return false;
}

bool trace_write_out(int trace, const char *name, const struct trace_dir *directory, uint64_t first,
                     uint64_t used, char *elsewhere, size_t size)
{
    int error;

    if (first && complete_first(trace, name, directory->fd, first, used))
        return true;
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
