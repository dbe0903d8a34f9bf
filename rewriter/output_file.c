#include "rewriter/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char pending[PATH_MAX]; /* what is to be removed if the process ends now */

static void remove_pending(void)
{
    if (*pending)
        unlink(pending);
}

static void on_signal(int number)
{
    remove_pending();
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_the_end(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE};
    static bool is_watching;
    struct sigaction old, action = {.sa_handler = on_signal};

    if (is_watching)
        return;
    is_watching = true;
    atexit(remove_pending);
    signal(SIGXFSZ, SIG_IGN); /* have write say so */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

static bool exists_fail(const char *path, struct failure *failure)
{
    return fail(failure, path,
                "expected a new file, found one that exists; --overwrite replaces it");
}

bool output_file_begin(struct output_file *file, const char *path, bool overwrite,
                       struct failure *failure)
{
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path + 1) : 0;
    struct stat status;

    *file = (struct output_file){.path = path, .descriptor = -1};
    if (lstat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return fail(failure, path, "expected a file to write, found a directory");
        if (!overwrite)
            return exists_fail(path, failure);
    }
    if (snprintf(file->temporary, sizeof file->temporary, "%.*s.%.200s.XXXXXX", directory, path,
                 path + directory) >= (int)sizeof file->temporary)
        return fail(failure, path, "cannot write it: %s", strerror(ENAMETOOLONG));
    watch_the_end();
    file->descriptor = mkostemp(file->temporary, O_CLOEXEC);
    if (file->descriptor < 0)
        return fail(failure, path, "cannot write there: %s", strerror(errno));
    memcpy(pending, file->temporary, sizeof pending);
    return true;
}

bool output_file_write(struct output_file *file, uint64_t offset, const void *bytes, size_t size,
                       struct failure *failure)
{
    const char *from = bytes;

    while (size) {
        ssize_t written = pwrite(file->descriptor, from, size, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail(failure, file->path, "cannot write it: %s; nothing was left there",
                        strerror(written < 0 ? errno : ENOSPC));
        from += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return true;
}

/* Bits that lend out an identity are kept only where the identity stays the same. */
static mode_t permissions(int descriptor, const struct stat *like)
{
    mode_t mode = like->st_mode & 0777;
    struct stat own;

    if (fstat(descriptor, &own) == 0 && own.st_uid == like->st_uid && own.st_gid == like->st_gid)
        mode |= like->st_mode & 07000;
    return mode;
}

bool output_file_settle(struct output_file *file, const struct stat *like, struct failure *failure)
{
    if (fchmod(file->descriptor, permissions(file->descriptor, like)) < 0)
        return fail(failure, file->path, "cannot set its permissions: %s", strerror(errno));
    if (fsync(file->descriptor) < 0)
        return fail(failure, file->path, "cannot write it: %s; nothing was left there",
                    strerror(errno));
    return true;
}

bool output_file_commit(struct output_file *file, bool overwrite, struct failure *failure)
{
    unsigned flags = overwrite ? 0 : RENAME_NOREPLACE;

    if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, flags) < 0) {
        if (errno == EEXIST)
            return exists_fail(file->path, failure);
        if (errno != EINVAL || rename(file->temporary, file->path) < 0)
            return fail(failure, file->path, "cannot put it there: %s", strerror(errno));
    }
    *pending = 0;
    close(file->descriptor);
    file->descriptor = -1;
    return true;
}

void output_file_abandon(struct output_file *file)
{
    if (file->descriptor < 0)
        return;
    unlink(file->temporary);
    *pending = 0;
    close(file->descriptor);
    file->descriptor = -1;
}
