#include "front/files/bind_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/memory.h"

static bool write_text(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

    if (file >= 0)
        close(file);
    return ok;
}

static bool map_one(const char *path, unsigned id)
{
    char *line = memory_print("%u %u 1", id, id);
    bool ok = write_text(path, line);

    free(line);
    return ok;
}

/* A group can be mapped only by who cannot give groups up. */
static const char *enter_as_user(void)
{
    uid_t user = geteuid();
    gid_t group = getegid();

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return "user namespaces are not allowed here";
    if (!write_text("/proc/self/setgroups", "deny") && errno != ENOENT)
        return "/proc/self/setgroups cannot be written";
    if (!map_one("/proc/self/uid_map", user) || !map_one("/proc/self/gid_map", group))
        return "/proc/self/uid_map cannot be written";
    return NULL;
}

const char *mounts_enter(void)
{
    const char *why = unshare(CLONE_NEWNS) == 0 ? NULL : enter_as_user();

    if (!why && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        why = "mounts are not allowed here";
    return why;
}

static bool is_own(int namespace, const char *own)
{
    struct stat theirs, ours;

    return fstat(namespace, &theirs) == 0 && stat(own, &ours) == 0 &&
           theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static bool join(pid_t pid, const char *name, int kind)
{
    char *path = memory_print("/proc/%d/ns/%s", (int)pid, name);
    char *own = memory_print("/proc/self/ns/%s", name);
    int namespace = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = namespace >= 0 && (is_own(namespace, own) || setns(namespace, kind) == 0);

    if (namespace >= 0)
        close(namespace);
    free(own);
    free(path);
    return ok;
}

bool mounts_join(pid_t pid)
{
    return join(pid, "user", CLONE_NEWUSER) && join(pid, "mnt", CLONE_NEWNS);
}

bool mounts_move(int bound, int target)
{
    return move_mount(bound, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) ==
           0;
}

/* Read-only before it is seen: nobody writes into the cache. */
bool mounts_bind(int file, int target)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
    int tree = open_tree(file, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    bool ok;
    int error;

    if (tree < 0)
        return false;
    ok = mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof(attributes)) == 0 &&
         mounts_move(tree, target);
    error = errno;
    close(tree);
    errno = error;
    return ok;
}

bool mounts_unbind(int bound)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", bound);
    return umount2(path, MNT_DETACH) == 0;
}
