#include "rewriter/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is to be removed if the process ends now. */
static struct {
    int directory;
    char name[TEMPORARY_NAME_SIZE];
} pending;

static void remove_pending(void)
{
    if (*pending.name)
        unlinkat(pending.directory, pending.name, 0);
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
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

static void note_pending(const struct output_file *file)
{
    pending.directory = file->place.directory;
    memcpy(pending.name, file->temporary, sizeof(pending.name));
}

static bool fail_existing(const char *path, struct failure *failure)
{
    return fail(failure, path,
                "expected a new file, found one that exists; --overwrite replaces it");
}

/* A file is replaced if that is wanted; a pipe, a device or a link never by a file. */
static bool check_place(const struct output_file *file, bool overwrite, struct failure *failure)
{
    struct stat status;

    if (!place_status(&file->place, &status))
        return file->path[strlen(file->path) - 1] != '/' ||
               fail(failure, file->path,
                    "expected the name of a file to write, found a directory's");
    if (!S_ISREG(status.st_mode))
        return fail(failure, file->path, "expected a file to write, found %s; %s",
                    kind_text(status.st_mode),
                    S_ISDIR(status.st_mode)   ? "name a file in it"
                    : S_ISLNK(status.st_mode) ? "name what it leads to, or remove it"
                                              : "name a new file");
    return overwrite || fail_existing(file->path, failure);
}

/* A file without a name, which has a path all the same: that of its descriptor. */
static bool open_nameless(struct output_file *file)
{
    file->descriptor = openat(file->place.directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file->descriptor < 0)
        return false;
    if (descriptor_path(file->readable, file->descriptor))
        return true;
    close(file->descriptor);
    file->descriptor = -1;
    return false;
}

static bool open_named(struct output_file *file, struct failure *failure)
{
    file->descriptor = temporary_file(file->place.directory, file->place.name, file->temporary);
    if (file->descriptor < 0)
        return fail(failure, file->path, "cannot write there: %s", strerror(errno));
    note_pending(file);
    if (path_beside(file->readable, file->path, file->temporary))
        return true;
    return fail(failure, file->path, "cannot write it: %s", strerror(ENAMETOOLONG));
}

bool output_file_begin(struct output_file *file, const char *path, bool overwrite,
                       struct failure *failure)
{
    *file = (struct output_file){.path = path, .descriptor = -1};
    if (!place_open(&file->place, path, failure))
        return false;
    watch_the_end();
    if (check_place(file, overwrite, failure) && (open_nameless(file) || open_named(file, failure)))
        return true;
    output_file_abandon(file);
    return false;
}

bool output_file_write(struct output_file *file, uint64_t offset, const void *bytes, size_t size,
                       struct failure *failure)
{
    const char *from = bytes;

    while (size) {
        ssize_t written = pwrite(file->descriptor, from, size, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            file->error = written < 0 ? errno : ENOSPC;
            return fail(failure, file->path, "cannot write it: %s; nothing was left there",
                        strerror(file->error));
        }
        from += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return true;
}

bool output_file_settle(struct output_file *file, const struct stat *like, struct failure *failure)
{
    if (fchmod(file->descriptor, like->st_mode & 0777) < 0)
        return fail(failure, file->path, "cannot set its permissions: %s", strerror(errno));
    if (!file->is_passing && fsync(file->descriptor) < 0)
        return fail(failure, file->path, "cannot write it: %s; nothing was left there",
                    strerror(errno));
    return true;
}

/* Gives what has no name its final one; or, if a file has that, a temporary one. */
static bool name(struct output_file *file, bool overwrite, struct failure *failure)
{
    if (linkat(AT_FDCWD, file->readable, file->place.directory, file->place.name,
               AT_SYMLINK_FOLLOW) == 0)
        return true;
    if (errno == EEXIST && !overwrite)
        return fail_existing(file->path, failure);
    if (errno != EEXIST ||
        !temporary_link(file->place.directory, file->place.name, file->descriptor, file->temporary))
        return fail(failure, file->path, "cannot put it there: %s", strerror(errno));
    note_pending(file);
    return true;
}

static bool rename_temporary(struct output_file *file, bool overwrite, struct failure *failure)
{
    int directory = file->place.directory;
    unsigned flags = overwrite ? 0 : RENAME_NOREPLACE;
    struct stat status;

    if (!check_place(file, overwrite, failure))
        return false;
    if (renameat2(directory, file->temporary, directory, file->place.name, flags) == 0)
        return true;
    if (errno == EEXIST)
        return fail_existing(file->path, failure);
    if (errno == EINVAL && !place_status(&file->place, &status) && /* a file system without flags */
        renameat(directory, file->temporary, directory, file->place.name) == 0)
        return true;
    return fail(failure, file->path, "cannot put it there: %s", strerror(errno));
}

static void end(struct output_file *file)
{
    *file->temporary = *pending.name = 0;
    if (file->descriptor >= 0)
        close(file->descriptor);
    file->descriptor = -1;
    place_close(&file->place);
}

bool output_file_commit(struct output_file *file, bool overwrite, struct failure *failure)
{
    if (!*file->temporary && !name(file, overwrite, failure))
        return false;
    if (*file->temporary && !rename_temporary(file, overwrite, failure))
        return false;
    end(file);
    return true;
}

void output_file_abandon(struct output_file *file)
{
    if (*file->temporary)
        unlinkat(file->place.directory, file->temporary, 0);
    end(file);
}

void output_file_sweep(const char *path)
{
    struct place place;
    struct failure ignored;

    if (place_open(&place, path, &ignored))
        temporary_sweep(place.directory, place.name);
    place_close(&place);
}
