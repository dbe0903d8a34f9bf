#include "grinder/report/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "support/memory.h"

bool source_roots_begin(struct source_roots *roots, const char *const *folders,
                        struct failure *failure)
{
    size_t room = 0;

    *roots = (struct source_roots){0};
    for (; folders && *folders; folders++) {
        char *real = realpath(*folders, NULL);
        struct stat status;

        if (!real || stat(real, &status) < 0 || !S_ISDIR(status.st_mode)) {
            fail_because(failure, "--source-root=%.1000s: expected a folder: %s", *folders,
                         strerror(real ? ENOTDIR : errno));
            free(real);
            source_roots_free(roots);
            return false;
        }
        roots->paths = memory_grow(roots->paths, roots->count, &room, sizeof(*roots->paths));
        roots->paths[roots->count++] = real;
    }
    return true;
}

void source_roots_free(struct source_roots *roots)
{
    for (size_t i = 0; i < roots->count; i++)
        free(roots->paths[i]);
    free(roots->paths);
    *roots = (struct source_roots){0};
}

/* Whether real lies below root with nothing hidden between them; both are absolute, without links.
 */
static bool is_below(const char *real, const char *root)
{
    size_t length = strlen(root);

    if (length == 1)
        length = 0; /* "/" */
    return !strncmp(real, root, length) && real[length] == '/' && !strstr(real + length, "/.");
}

static bool was_asked_for(const char *real, const struct source_roots *roots)
{
    for (size_t i = 0; i < roots->count; i++)
        if (is_below(real, roots->paths[i]))
            return true;
    return false;
}

/* Steps from *folder, a descriptor, to what is called so in it, and looks at its mode: *everybody
   stays true if all may pass, or read. 0, or -1 if there is nothing that is wanted, *folder closed.
 */
static int step(int *folder, const char *component, bool is_last, bool *everybody)
{
    int next = openat(*folder, component, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    close(*folder);
    *folder = next;
    if (next < 0)
        return -1;
    if (fstat(next, &status) < 0 ||
        (is_last ? !S_ISREG(status.st_mode) : !S_ISDIR(status.st_mode))) {
        close(next);
        return -1;
    }
    if (!(status.st_mode & (is_last ? S_IROTH : S_IXOTH)))
        *everybody = false;
    return 0;
}

/* A descriptor (O_PATH) of the file at real, an absolute path without links; -1: there is none. */
static int walk_to(const char *real, bool *everybody)
{
    char path[PATH_MAX], *rest = path, *component;
    int at;

    *everybody = true;
    if (strlen(real) >= sizeof(path))
        return -1;
    strcpy(path, real);
    at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0 || step(&at, ".", false, everybody) < 0)
        return -1;
    rest++;
    while ((component = strsep(&rest, "/")))
        if (step(&at, component, !rest, everybody) < 0)
            return -1;
    return at;
}

static bool is_made_up(int file)
{
    static const unsigned long kinds[] = {PROC_SUPER_MAGIC,   SYSFS_MAGIC,      DEBUGFS_MAGIC,
                                          TRACEFS_MAGIC,      SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
                                          CGROUP2_SUPER_MAGIC};
    struct statfs status;

    if (fstatfs(file, &status) < 0)
        return true;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if ((unsigned long)status.f_type == kinds[i])
            return true;
    return false;
}

enum source_access source_file_open(struct bounded_file *file, const char *path,
                                    const struct source_roots *roots, char **real)
{
    enum source_access access = SOURCE_MISSING;
    bool everybody;
    struct failure failure;
    int name;

    *real = realpath(path, NULL);
    if (!*real)
        return SOURCE_MISSING;
    name = walk_to(*real, &everybody);
    if (name >= 0 && !is_made_up(name)) {
        if (!everybody && !was_asked_for(*real, roots))
            access = SOURCE_WITHHELD;
        else if (bounded_file_take(file, name, *real, &failure))
            access = SOURCE_TAKEN;
    }
    if (name >= 0)
        close(name);
    if (access == SOURCE_MISSING) {
        free(*real);
        *real = NULL;
    }
    return access;
}
