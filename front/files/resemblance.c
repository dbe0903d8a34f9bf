#include "front/files/resemblance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/memory.h"

#define OVERFLOW_ID     65534 /* what the kernel shows of who has no number in a user namespace */
#define ATTRIBUTE_SIZE  65536 /* the kernel's limit */
#define ATTRIBUTE_ERROR (-2)

const char *const resemblance_attributes[RESEMBLANCE_ATTRIBUTES] = {
    "system.posix_acl_access", "security.selinux",     "security.SMACK64",
    "security.SMACK64EXEC",    "security.SMACK64MMAP",
};

/* --- owners --- */

static bool cannot_give(const struct stat *status)
{
    return geteuid() != 0 || status->st_uid == OVERFLOW_ID || status->st_gid == OVERFLOW_ID;
}

static bool is_exact(const struct stat *copy, const struct stat *original)
{
    return copy->st_uid == original->st_uid && copy->st_gid == original->st_gid;
}

/* What a file that is not ours lets us do: a user namespace gives no rights over that. Without
   /proc it is taken to be nothing. */
static int access_to(int file)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    return (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0) << 1 |
           (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0);
}

/* What ours will let the recorded program do: by the mode, as this process may have rights in a
   user namespace that the program has not. */
static int access_of_owner(mode_t mode)
{
    if (geteuid() == 0)
        return 1 << 1 | ((mode & 0111) != 0);
    return ((mode & 0400) != 0) << 1 | ((mode & 0100) != 0);
}

static bool owner_fits(int copy, int original, const struct stat *status)
{
    struct stat copied;

    if (fstat(copy, &copied) < 0)
        return false;
    if (is_exact(&copied, status))
        return true;
    if (cannot_give(status) && copied.st_uid == geteuid() &&
        (copied.st_uid == status->st_uid || access_of_owner(copied.st_mode) == access_to(original)))
        return true;
    errno = EPERM;
    return false;
}

static bool give(int copy, const struct stat *status)
{
    return fchown(copy, status->st_uid, status->st_gid) == 0 ||
           (cannot_give(status) &&
            (fchown(copy, -1, status->st_gid) == 0 || errno == EPERM || errno == EINVAL));
}

/* --- attributes --- */

struct attribute {
    ssize_t size; /* -1: there is none; ATTRIBUTE_ERROR: that cannot be told */
    char *value;  /* owned */
};

static struct attribute read_attribute(int file, const char *name)
{
    struct attribute attribute = {.value = memory_zeroed(1, ATTRIBUTE_SIZE)};

    attribute.size = fgetxattr(file, name, attribute.value, ATTRIBUTE_SIZE);
    if (attribute.size < 0 && errno != ENODATA && errno != EOPNOTSUPP)
        attribute.size = ATTRIBUTE_ERROR;
    return attribute;
}

static bool is_equal(const struct attribute *a, const struct attribute *b)
{
    return a->size != ATTRIBUTE_ERROR && a->size == b->size &&
           (a->size <= 0 || !memcmp(a->value, b->value, (size_t)a->size));
}

/* A system that labels all files gives one to what has none. */
static bool is_label(const char *name)
{
    return !strncmp(name, "security.", 9);
}

static bool attribute_fits(int copy, int original, const char *name)
{
    struct attribute wanted = read_attribute(original, name), found = read_attribute(copy, name);
    bool fits = (wanted.size == -1 && is_label(name)) || is_equal(&wanted, &found);

    free(wanted.value);
    free(found.value);
    return fits;
}

static bool set_attribute(int file, const char *name, const struct attribute *attribute)
{
    if (attribute->size == ATTRIBUTE_ERROR)
        return false;
    return attribute->size < 0
               ? fremovexattr(file, name) == 0
               : fsetxattr(file, name, attribute->value, (size_t)attribute->size, 0) == 0;
}

static bool copy_attribute(int copy, int original, const char *name)
{
    struct attribute attribute;
    bool ok = attribute_fits(copy, original, name);

    if (ok)
        return true;
    attribute = read_attribute(original, name);
    ok = set_attribute(copy, name, &attribute);
    free(attribute.value);
    return ok;
}

/* Whom an access list names is nobody to who is no root: all that he records runs as himself, and
   what he may do was compared. */
static bool is_demanded(const char *name)
{
    return is_label(name) || geteuid() == 0;
}

static bool copy_attributes(int copy, int original)
{
    for (int i = 0; i < RESEMBLANCE_ATTRIBUTES; i++)
        if (!copy_attribute(copy, original, resemblance_attributes[i]) &&
            is_demanded(resemblance_attributes[i]))
            return false;
    return true;
}

static bool attributes_fit(int copy, int original)
{
    for (int i = 0; i < RESEMBLANCE_ATTRIBUTES; i++)
        if (is_demanded(resemblance_attributes[i]) &&
            !attribute_fits(copy, original, resemblance_attributes[i])) {
            errno = EPERM;
            return false;
        }
    return true;
}

/* --- both --- */

/* Some file systems keep seconds, or every other one. */
static bool time_fits(const struct timespec *copy, const struct timespec *original)
{
    if (copy->tv_nsec)
        return copy->tv_sec == original->tv_sec && copy->tv_nsec == original->tv_nsec;
    return original->tv_sec - copy->tv_sec >= 0 && original->tv_sec - copy->tv_sec < 2;
}

static bool mode_fits(int copy, const struct stat *status)
{
    struct stat copied;

    if (fstat(copy, &copied) < 0)
        return false;
    if (S_ISREG(copied.st_mode) && (copied.st_mode & 07777) == (status->st_mode & 0777) &&
        time_fits(&copied.st_mtim, &status->st_mtim))
        return true;
    errno = EPERM;
    return false;
}

bool file_resembles(int copy, int original, const struct stat *status)
{
    return mode_fits(copy, status) && owner_fits(copy, original, status) &&
           attributes_fit(copy, original);
}

bool file_resemble(int copy, int original, const struct stat *status)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_NOW}, status->st_mtim};

    return give(copy, status) && fchmod(copy, status->st_mode & 0777) == 0 &&
           copy_attributes(copy, original) && futimens(copy, times) == 0 &&
           file_resembles(copy, original, status);
}
