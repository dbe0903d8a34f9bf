#include "support/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK        ".umbra-"
#define CHANCE      6   /* letters */
#define NAME_LENGTH 200 /* bytes of the final name at most, for NAME_MAX */
#define TRIES       100

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* All of a temporary name but the letters at its end; returns the length. */
static size_t put_start(char temporary[TEMPORARY_NAME_SIZE], const char *name)
{
    return (size_t)snprintf(temporary, TEMPORARY_NAME_SIZE, ".%.*s" MARK, NAME_LENGTH, name);
}

static bool put_name(char temporary[TEMPORARY_NAME_SIZE], const char *name)
{
    char *end = temporary + put_start(temporary, name);
    uint8_t chance[CHANCE];

    if (getrandom(chance, sizeof(chance), 0) != sizeof(chance))
        return false;
    for (int i = 0; i < CHANCE; i++)
        *end++ = letters[chance[i] % (sizeof(letters) - 1)];
    *end = 0;
    return true;
}

static bool is_temporary(const char *name)
{
    size_t length = strlen(name), end = strlen(MARK) + CHANCE;

    return name[0] == '.' && length > end + 1 &&
           strncmp(name + length - end, MARK, strlen(MARK)) == 0 &&
           strspn(name + length - CHANCE, letters) == CHANCE;
}

static bool is_temporary_of(const char *temporary, const char *name)
{
    char start[TEMPORARY_NAME_SIZE];
    size_t length = put_start(start, name);

    return strncmp(temporary, start, length) == 0 &&
           strspn(temporary + length, letters) == CHANCE && !temporary[length + CHANCE];
}

bool temporary_is(int descriptor, int directory, const char *temporary)
{
    struct stat opened, named;

    return fstat(descriptor, &opened) == 0 &&
           fstatat(directory, temporary, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static bool is_own(int descriptor)
{
    struct stat status;

    return fstat(descriptor, &status) == 0 && status.st_uid == geteuid();
}

/* Between the making and the lock, a sweep may have taken it for a leftover; and whoever owns the
 * directory may have put something else there. */
static bool claim(int descriptor, int directory, const char *temporary)
{
    if (flock(descriptor, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return false;
    return is_own(descriptor) && temporary_is(descriptor, directory, temporary);
}

static int make(int directory, const char *temporary, bool is_directory)
{
    if (!is_directory)
        return openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0600);
    if (mkdirat(directory, temporary, 0700) < 0)
        return -1;
    return openat(directory, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int make_claimed(int directory, const char *name, char temporary[TEMPORARY_NAME_SIZE],
                        bool is_directory)
{
    errno = EEXIST;
    for (int try = 0; try < TRIES && put_name(temporary, name); try++) {
        int descriptor = make(directory, temporary, is_directory);

        if (descriptor < 0 && errno != EEXIST)
            return -1;
        if (descriptor < 0)
            continue;
        if (claim(descriptor, directory, temporary))
            return descriptor;
        close(descriptor);
        errno = EEXIST;
    }
    return -1;
}

int temporary_file(int directory, const char *name, char temporary[TEMPORARY_NAME_SIZE])
{
    return make_claimed(directory, name, temporary, false);
}

int temporary_directory(int directory, const char *name, char temporary[TEMPORARY_NAME_SIZE])
{
    return make_claimed(directory, name, temporary, true);
}

bool temporary_link(int directory, const char *name, int descriptor,
                    char temporary[TEMPORARY_NAME_SIZE])
{
    char path[sizeof("/proc/self/fd/-2147483648")];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    flock(descriptor, LOCK_EX | LOCK_NB); /* while nobody else can have it open */
    errno = EEXIST;
    for (int try = 0; try < TRIES && put_name(temporary, name); try++) {
        if (linkat(AT_FDCWD, path, directory, temporary, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    return false;
}

/* By its last name, in the directory that the walk is in: fts makes sure that it is that one. */
static void remove_entry(FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_D: /* one that may not be read cannot be emptied: give oneself the right first */
        fchmodat(AT_FDCWD, entry->fts_accpath, entry->fts_statp->st_mode | 0700,
                 AT_SYMLINK_NOFOLLOW);
        break;
    case FTS_DP:
    case FTS_DNR:
        unlinkat(AT_FDCWD, entry->fts_accpath, AT_REMOVEDIR);
        break;
    default:
        unlinkat(AT_FDCWD, entry->fts_accpath, 0);
        break;
    }
}

static void remove_tree(int directory, const char *name)
{
    char *names[] = {(char *)(uintptr_t)name, NULL};
    FTS *tree = fchdir(directory) < 0 ? NULL : fts_open(names, FTS_PHYSICAL, NULL);
    FTSENT *entry;

    while (tree && (entry = fts_read(tree)))
        remove_entry(entry);
}

/* A tree in a child, whose working directory may change. */
void temporary_remove(int directory, const char *temporary)
{
    pid_t child;

    if (unlinkat(directory, temporary, 0) == 0 || errno != EISDIR)
        return;
    child = fork();
    if (child == 0) {
        remove_tree(directory, temporary);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static bool is_file_or_directory(int directory, const char *name, bool file_alone)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           (S_ISREG(status.st_mode) || (!file_alone && S_ISDIR(status.st_mode)));
}

static void remove_if_left(int directory, const char *temporary, bool file_alone)
{
    int descriptor = -1;

    if (is_file_or_directory(directory, temporary, file_alone))
        descriptor = openat(directory, temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (is_own(descriptor) && flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
        temporary_is(descriptor, directory, temporary))
        temporary_remove(directory, temporary);
    close(descriptor);
}

/* A null name: files of any. */
static void sweep(int directory, const char *name)
{
    int readable = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = readable < 0 ? NULL : fdopendir(readable);
    struct dirent *entry;

    if (!stream) {
        if (readable >= 0)
            close(readable);
        return;
    }
    while ((entry = readdir(stream)))
        if (name ? is_temporary_of(entry->d_name, name) : is_temporary(entry->d_name))
            remove_if_left(directory, entry->d_name, !name);
    closedir(stream);
}

void temporary_sweep(int directory, const char *name)
{
    sweep(directory, name);
}

void temporary_sweep_files(int directory)
{
    sweep(directory, NULL);
}
