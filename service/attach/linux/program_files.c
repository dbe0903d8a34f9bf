#include "service/attach/linux/program_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_same(const char *theirs, const char *ours)
{
    struct stat one, other;

    return stat(theirs, &one) == 0 && stat(ours, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool program_files_find(struct program_files *files, pid_t pid, struct failure *failure)
{
    char root[64], namespace[64];
    ssize_t length;

    *files = (struct program_files){.pid = pid};
    snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
    snprintf(namespace, sizeof(namespace), "/proc/%d/ns/mnt", (int)pid);
    files->is_our_namespace = is_same(namespace, "/proc/self/ns/mnt");
    files->are_ours = files->is_our_namespace && is_same(root, "/");
    if (files->are_ours)
        return true;
    length = readlink(root, files->root, sizeof(files->root) - 1);
    if (length < 0)
        return fail_because(failure, "has files that cannot be looked at: %s", strerror(errno));
    files->root[length == 1 ? 0 : length] = 0;
    return true;
}

/* Whether the process can reach it by its own root; else it had it open before that changed. */
static bool is_below_root(const struct program_files *files, const char *path)
{
    size_t length = strlen(files->root);

    return !strncmp(path, files->root, length) && path[length] == '/';
}

const char *program_files_name(const struct program_files *files, const char *path)
{
    return is_below_root(files, path) ? path + strlen(files->root) : path;
}

static bool is_that_file(const char *path, const struct address_range *range)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_ino == range->inode;
}

bool program_files_reach(const struct program_files *files, const struct address_range *range,
                         char path[PATH_MAX])
{
    int pid = (int)files->pid;

    if (!files->are_ours && is_below_root(files, range->path) &&
        snprintf(path, PATH_MAX, "/proc/%d/root%s", pid, program_files_name(files, range->path)) <
            PATH_MAX &&
        is_that_file(path, range))
        return true;
    if (files->is_our_namespace && snprintf(path, PATH_MAX, "%s", range->path) < PATH_MAX &&
        is_that_file(path, range))
        return true;
    snprintf(path, PATH_MAX, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, range->start,
             range->end);
    return !files->are_ours && is_that_file(path, range);
}
