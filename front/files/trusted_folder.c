#include "front/files/trusted_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "front/files/below.h"
#include "support/memory.h"
#include "support/private_group.h"

#define MOST_LINKS 40 /* as the kernel follows */

/* The way so far, and what is left of it. */
struct walk {
    struct trusted_folder *at;
    char *left;
    unsigned links;
    bool makes; /* what is missing */
};

/* --- judging --- */

/* Owned by whom this user trusts anyway. */
static bool is_ours(const struct stat *status)
{
    return status->st_uid == geteuid() || status->st_uid == 0;
}

/* Whoever an access list names, the mode does not say. Where it cannot be read, it is there. */
static bool has_access_list(int file)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    return getxattr(path, "system.posix_acl_access", NULL, 0) >= 0 ||
           (errno != ENODATA && errno != EOPNOTSUPP);
}

/* Sticky: who may write there can rename nothing of ours. */
static bool can_be_replaced(int above, const struct stat *status)
{
    if (!is_ours(status))
        return true;
    if (status->st_mode & S_ISVTX)
        return false;
    return status->st_mode & 002 ||
           (status->st_mode & 020 &&
            (has_access_list(above) || !group_is_private(status->st_gid, geteuid())));
}

/* Whoever could change files there could change what this user executes. */
static const char *why_not_trusted(int file)
{
    struct statvfs system;
    struct stat status;

    if (fstat(file, &status) < 0)
        return strerror(errno);
    if (!is_ours(&status))
        return "belongs to another user";
    if (status.st_mode & 022)
        return "may be written by others";
    if (fstatvfs(file, &system) == 0 && system.f_flag & ST_NOEXEC)
        return "is on a file system that executes nothing (noexec)";
    return NULL;
}

/* --- the way --- */

static bool refuse(struct trusted_folder *at, const char *why)
{
    at->found = memory_copy_string(why);
    return false;
}

static void step(struct trusted_folder *at, int next)
{
    close(at->folder);
    at->folder = next;
}

static void add_name(struct trusted_folder *at, const char *name)
{
    char *path = memory_print("%s%s%s", at->path, at->path[1] ? "/" : "", name);

    free(at->path);
    at->path = path;
}

static bool begin_at_root(struct trusted_folder *at)
{
    *at = (struct trusted_folder){.folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
                                  .path = memory_copy_string("/")};
    return at->folder >= 0 || refuse(at, strerror(errno));
}

/* What is above is above by the way that was judged: no link was followed by the kernel. */
static bool go_up(struct trusted_folder *at)
{
    int above = openat(at->folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *slash = strrchr(at->path, '/');

    if (above < 0)
        return refuse(at, strerror(errno));
    step(at, above);
    slash[slash == at->path] = 0;
    return true;
}

/* 0700, whatever the mask is. Another process of this user may have made it just now. */
static int make(int above, const char *name)
{
    bool is_made = mkdirat(above, name, 0700) == 0;
    int folder = is_made || errno == EEXIST
                     ? openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                     : -1;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
    if (folder >= 0 && is_made)
        chmod(path, 0700);
    return folder;
}

/* Puts what the link says before what is left. */
static bool follow(struct walk *walk, int link)
{
    char target[PATH_MAX], *left;
    ssize_t length = readlinkat(link, "", target, sizeof(target) - 1);
    struct stat status;

    if (length <= 0 || fstat(link, &status) < 0)
        return refuse(walk->at, strerror(errno));
    if (!is_ours(&status))
        return refuse(walk->at, "is reached by a link of another user");
    if (++walk->links > MOST_LINKS)
        return refuse(walk->at, strerror(ELOOP));
    target[length] = 0;
    left = memory_print("%s/%s", target, walk->left);
    free(walk->left);
    walk->left = left;
    if (*target != '/')
        return true;
    trusted_folder_close(walk->at);
    return begin_at_root(walk->at);
}

static bool enter_link(struct walk *walk, const char *name)
{
    int link = openat(walk->at->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    bool ok;

    if (link >= 0 && fstat(link, &status) == 0 && S_ISLNK(status.st_mode))
        ok = follow(walk, link);
    else
        ok = refuse(walk->at, link < 0 ? strerror(errno) : "is not a directory");
    if (link >= 0)
        close(link);
    return ok;
}

static bool require_kept(struct trusted_folder *at)
{
    struct stat status;

    if (fstat(at->folder, &status) < 0)
        return refuse(at, strerror(errno));
    if (!can_be_replaced(at->folder, &status))
        return true;
    at->found =
        memory_print("is in a directory in which another user can rename things, %s", at->path);
    return false;
}

static bool enter(struct walk *walk, const char *name)
{
    struct trusted_folder *at = walk->at;
    int next;

    next = openat(at->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0 && errno == ENOTDIR)
        return enter_link(walk, name);
    if (next < 0 && errno == ENOENT && walk->makes)
        next = make(at->folder, name);
    if (next < 0)
        return refuse(at, strerror(errno));
    step(at, next);
    add_name(at, name);
    return true;
}

static bool go_on(struct walk *walk)
{
    char *rest = walk->left, *name = memory_copy_string(strsep(&rest, "/"));
    char *left = memory_copy_string(rest ? rest : "");
    bool ok = true;

    free(walk->left);
    walk->left = left;
    if (!strcmp(name, ".."))
        ok = go_up(walk->at);
    else if (*name && strcmp(name, ".") != 0)
        ok = require_kept(walk->at) && enter(walk, name);
    free(name);
    return ok;
}

static bool judge(struct trusted_folder *at)
{
    const char *why = why_not_trusted(at->folder);

    return !why || refuse(at, why);
}

static bool walk(struct trusted_folder *at, const char *path, bool makes)
{
    struct walk walk = {.at = at, .left = memory_copy_string(path), .makes = makes};
    bool ok = true;

    while (ok && *walk.left)
        ok = go_on(&walk);
    free(walk.left);
    return ok;
}

static bool keep_if(bool ok, struct trusted_folder *folder)
{
    if (!ok && folder->folder >= 0) {
        close(folder->folder);
        folder->folder = -1;
    }
    return ok;
}

bool trusted_folder_open(struct trusted_folder *folder, const char *path)
{
    return keep_if(begin_at_root(folder) && walk(folder, path, true) && judge(folder), folder);
}

bool trusted_folder_open_apart(struct trusted_folder *folder, const char *path)
{
    *folder =
        (struct trusted_folder){.folder = make(AT_FDCWD, path), .path = memory_copy_string(path)};
    return keep_if(folder->folder < 0 ? refuse(folder, strerror(errno)) : judge(folder), folder);
}

bool trusted_folder_open_in(struct trusted_folder *folder, const struct trusted_folder *in,
                            const char *name)
{
    *folder = (struct trusted_folder){.folder = fcntl(in->folder, F_DUPFD_CLOEXEC, 0),
                                      .path = memory_copy_string(in->path)};
    return keep_if(walk(folder, name, true) && judge(folder), folder);
}

int trusted_folder_reach(const struct trusted_folder *folder)
{
    int reached = open(folder->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat ours, theirs;

    if (reached < 0)
        return -1;
    if (fstat(reached, &theirs) == 0 && fstat(folder->folder, &ours) == 0 &&
        ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
        return reached;
    close(reached);
    errno = ESTALE;
    return -1;
}

bool trusted_folder_is_way(const char *path)
{
    struct trusted_folder folder;
    bool is = begin_at_root(&folder) && walk(&folder, path, false) && require_kept(&folder);

    trusted_folder_close(&folder);
    return is;
}

static bool can_be_replaced_in(int folder)
{
    struct stat status;

    return fstat(folder, &status) < 0 || can_be_replaced(folder, &status);
}

bool trusted_folder_is_kept(int directory)
{
    int folder = openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool is_kept = folder >= 0, is_top = false;

    while (is_kept && !is_top) {
        int above = openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        is_kept = above >= 0 && !can_be_replaced_in(folder);
        is_top = above >= 0 && below_is_same(folder, above);
        close(folder);
        folder = above;
    }
    if (folder >= 0)
        close(folder);
    return is_kept;
}

void trusted_folder_close(struct trusted_folder *folder)
{
    if (folder->folder >= 0)
        close(folder->folder);
    free(folder->path);
    free(folder->found);
    *folder = (struct trusted_folder){.folder = -1};
}
