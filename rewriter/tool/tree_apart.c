#include "rewriter/tool/tree_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/base/place.h"

#define DEPTH PATH_MAX /* of directories; one that cannot be reached from the root has no end */

static bool is_same(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

/* Whether a directory is `tree`, or is in it, on the way up to the root. Closes `directory`. */
static bool is_within(int directory, const struct stat *tree)
{
    struct stat status, root;
    bool is_found = false, is_end = stat("/", &root) < 0;

    for (int depth = 0; depth < DEPTH && directory >= 0; depth++) {
        int above = -1;

        is_found = is_found || (fstat(directory, &status) == 0 && is_same(&status, tree));
        is_end = is_end || is_found || is_same(&status, &root);
        if (!is_end)
            above = openat(directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(directory);
        directory = above;
    }
    if (directory >= 0)
        close(directory);
    return is_found;
}

/* The way up from `tree` may be another one than that down to it, over a bind mount. */
static bool leads_to(const char *path, const struct stat *tree)
{
    char *paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    bool is_found = false;

    while (walk && !is_found && (entry = fts_read(walk)))
        is_found = entry->fts_info == FTS_D && is_same(entry->fts_statp, tree);
    if (walk)
        fts_close(walk);
    return is_found;
}

static bool has_mounts(const char *path)
{
    FILE *table = setmntent("/proc/self/mounts", "re");
    char *real = realpath(path, NULL);
    size_t length = real ? strlen(real) : 0;
    struct mntent *entry;
    bool is_found = false;

    while (table && real && !is_found && (entry = getmntent(table)))
        is_found = strncmp(entry->mnt_dir, real, length) == 0 &&
                   (entry->mnt_dir[length] == '/' || entry->mnt_dir[length] == 0);
    if (table)
        endmntent(table);
    free(real);
    return is_found;
}

/* A directory that is to be replaced. */
static bool check_old(const char *input, const char *output, const struct stat *tree,
                      const struct stat *old, struct failure *failure)
{
    if (is_within(open(input, O_PATH | O_DIRECTORY | O_CLOEXEC), old) || leads_to(output, tree))
        return fail(failure, input, "expected -o outside this directory, found %s, which holds it",
                    output);
    return !has_mounts(output) ||
           fail(failure, output, "expected a directory to replace, found one with mounts in it");
}

bool tree_check_apart(const char *input, const char *output, bool overwrite,
                      struct failure *failure)
{
    struct place place;
    struct stat tree, old;
    bool is_apart = false;

    if (stat(input, &tree) < 0)
        return fail(failure, input, "cannot read it: %s", strerror(errno));
    if (!place_open(&place, output, failure))
        return false;
    if (is_within(openat(place.directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), &tree))
        fail(failure, input, "expected -o outside this directory, found %s within it", output);
    else if (!place_status(&place, &old) || !S_ISDIR(old.st_mode))
        is_apart = true;
    else if (is_same(&old, &tree))
        fail(failure, input, "expected -o outside this directory, found the directory itself, %s",
             output);
    else
        is_apart = !overwrite || check_old(input, output, &tree, &old, failure);
    place_close(&place);
    return is_apart;
}
