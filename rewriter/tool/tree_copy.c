#include "rewriter/tool/tree_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rewriter/base/rights.h"

#define CHUNK (1u << 30)

static bool set_times(const char *to, const struct stat *status)
{
    struct timespec times[2] = {status->st_atim, status->st_mtim};

    return utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool same_owner(const char *to, const struct stat *status)
{
    struct stat own;

    if (lstat(to, &own) == 0 && own.st_uid == status->st_uid && own.st_gid == status->st_gid)
        return true;
    return lchown(to, status->st_uid, status->st_gid) == 0;
}

bool copy_attributes(const char *to, const struct stat *status, struct failure *failure)
{
    bool keeps_group = same_owner(to, status) && S_ISDIR(status->st_mode);
    mode_t mode = status->st_mode & (keeps_group ? 07777 : 0777);

    if (chmod(to, mode) < 0 || !set_times(to, status))
        return fail(failure, to, "cannot set its permissions and times: %s", strerror(errno));
    return true;
}

bool copy_symlink(const char *from, const char *to, const struct stat *status,
                  struct failure *failure)
{
    char target[PATH_MAX];
    ssize_t length = readlink(from, target, sizeof(target) - 1);

    if (length < 0)
        return fail(failure, from, "cannot read the link: %s", strerror(errno));
    target[length] = 0;
    if (symlink(target, to) < 0)
        return fail(failure, to, "cannot write it: %s", strerror(errno));
    same_owner(to, status);
    set_times(to, status);
    return true;
}

static bool copy_plainly(int from, int to)
{
    static char buffer[1 << 16];
    ssize_t size, written;

    while ((size = read(from, buffer, sizeof(buffer))) > 0)
        for (ssize_t at = 0; at < size; at += written)
            if ((written = write(to, buffer + at, (size_t)(size - at))) < 0)
                return false;
    return size == 0;
}

static bool copy_content(int from, int to)
{
    ssize_t size;
    bool is_begun = false;

    while ((size = copy_file_range(from, NULL, to, NULL, CHUNK, 0)) > 0)
        is_begun = true;
    /* Some file systems cannot, and those in /proc say that they are at the end. */
    return is_begun ? size == 0 : copy_plainly(from, to);
}

bool copy_file(int descriptor, const char *from, const char *to, const struct stat *status,
               struct failure *failure)
{
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_done = out >= 0 && copy_content(descriptor, out);

    if (!is_done)
        fail(failure, to, "cannot copy %s there: %s", from, strerror(errno));
    if (out >= 0 && close(out) < 0 && is_done)
        is_done = fail(failure, to, "cannot write it: %s", strerror(errno));
    is_done = is_done && copy_attributes(to, status, failure);
    if (is_done)
        rights_say_dropped(from, rights_of(descriptor, status));
    return is_done;
}
