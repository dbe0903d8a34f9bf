#include "grinder/image/debug_trust.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/memory.h"
#include "support/regular_file.h"

#define LISTS      "/etc/debuginfod"
#define LIST_BYTES (64u << 10) /* of a file there; more are not read */
#define BLANKS     " \t\r\n"

/* Can nobody but root and us rename what is in it? */
static bool is_ours(const struct stat *stat)
{
    bool is_sticky = S_ISDIR(stat->st_mode) && stat->st_mode & S_ISVTX;

    return (stat->st_uid == 0 || stat->st_uid == geteuid()) &&
           (!(stat->st_mode & 022) || is_sticky);
}

/* Looks at one folder that is on the way to the cache, or that is the cache itself. */
static bool judge_folder(const char *path, bool is_last, struct failure *failure)
{
    struct stat stat;

    if (lstat(path, &stat) < 0)
        return fail(failure, path, "%s", strerror(errno));
    if (S_ISDIR(stat.st_mode) && is_ours(&stat) && !(is_last && stat.st_mode & 022))
        return true;
    return fail(failure, path,
                "expected a folder of user %u%s that nobody else can write to, found "
                "%s of user %u with mode %04o",
                (unsigned)geteuid(), geteuid() ? " or root" : "",
                S_ISDIR(stat.st_mode)   ? "one"
                : S_ISLNK(stat.st_mode) ? "a symbolic link"
                                        : "a file",
                (unsigned)stat.st_uid, (unsigned)stat.st_mode & 07777);
}

/* From the root down: what is below a folder that is ours is what it was when we look at it. */
static bool judge_way(char *path, struct failure *failure)
{
    for (char *slash = path; slash; slash = strchr(slash + 1, '/')) {
        char kept = slash[1];
        bool is_fine;

        if (slash == path) { /* the root itself */
            slash[1] = 0;
            is_fine = judge_folder(path, !kept, failure);
            slash[1] = kept;
        } else {
            *slash = 0;
            is_fine = judge_folder(path, false, failure);
            *slash = '/';
        }
        if (!is_fine)
            return false;
    }
    return judge_folder(path, true, failure);
}

/* The part of path that exists, without links; *rest: what is missing, "" if nothing. */
static char *resolve(const char *path, const char **rest)
{
    char *start = memory_copy_string(path), *resolved;

    while (!(resolved = realpath(start, NULL)) && errno == ENOENT && strrchr(start, '/') > start)
        *strrchr(start, '/') = 0;
    *rest = path + strlen(start);
    free(start);
    return resolved;
}

/* Makes what is missing below *path, a folder at a time, and appends it there. */
static bool make_rest(char **path, const char *rest, struct failure *failure)
{
    while (*(rest += strspn(rest, "/"))) {
        size_t length = strcspn(rest, "/");
        char *longer = memory_print("%s/%.*s", *path, (int)length, rest);

        free(*path);
        *path = longer;
        rest += length;
        if (mkdir(*path, 0700) < 0 && errno != EEXIST)
            return fail(failure, *path, "%s", strerror(errno));
        if (!judge_folder(*path, !*rest, failure))
            return false;
    }
    return true;
}

/* What libdebuginfod would use, debuginfod-client-config(7); as root, what it uses where no
   variable is set. To be freed; null: there is no home. */
static char *usual_cache(void)
{
    bool is_root = geteuid() == 0;
    const struct passwd *user = is_root ? getpwuid(0) : NULL;
    const char *home = is_root ? (user ? user->pw_dir : NULL) : getenv("HOME");
    const char *given = is_root ? NULL : getenv("DEBUGINFOD_CACHE_PATH");
    const char *caches = is_root ? NULL : getenv("XDG_CACHE_HOME");
    char *old = home ? memory_print("%s/.debuginfod_client_cache", home) : NULL;

    if (given && *given) {
        free(old);
        return memory_copy_string(given);
    }
    if (old && access(old, F_OK) == 0)
        return old;
    free(old);
    if (caches && *caches)
        return memory_print("%s/debuginfod_client", caches);
    return home ? memory_print("%s/.cache/debuginfod_client", home) : NULL;
}

char *debug_trust_cache(struct failure *failure)
{
    char *usual = usual_cache(), *path = NULL;
    const char *rest = NULL;

    if (!usual || *usual != '/') {
        fail(failure, usual ? usual : "HOME is not set",
             "expected an absolute path for what they send");
    } else if (!(path = resolve(usual, &rest))) {
        fail(failure, usual, "%s", strerror(errno));
    } else if (*rest ? judge_way(path, failure) && make_rest(&path, rest, failure)
                     : judge_way(path, failure)) {
        free(usual);
        return path;
    }
    free(usual);
    free(path);
    return NULL;
}

/* The content of a list; empty if it is not root's alone. To be freed. */
static char *read_list(const char *path)
{
    char *text = memory_zeroed(LIST_BYTES + 1, 1);
    struct stat stat;
    int file = regular_file_open(path);

    if (file >= 0 && fstat(file, &stat) == 0 && stat.st_uid == 0 && !(stat.st_mode & 022) &&
        read(file, text, LIST_BYTES) < 0)
        *text = 0;
    if (file >= 0)
        close(file);
    return text;
}

static size_t without_slashes(const char *url, size_t length)
{
    while (length && url[length - 1] == '/')
        length--;
    return length;
}

/* Is that address a word of the text? One slash more or less at its end does not count. */
static bool has_word(const char *text, const char *url, size_t length)
{
    length = without_slashes(url, length);
    while (*(text += strspn(text, BLANKS))) {
        size_t word = strcspn(text, BLANKS);

        if (without_slashes(text, word) == length && !memcmp(text, url, length))
            return true;
        text += word;
    }
    return false;
}

/* All lists, behind one another; to be freed. */
static char *read_lists(void)
{
    char folder[] = LISTS, *all = memory_copy_string("");
    struct failure failure;
    glob_t lists = {0};

    if (!judge_way(folder, &failure))
        return all;
    if (glob(LISTS "/*.urls", 0, NULL, &lists) == 0)
        for (size_t i = 0; i < lists.gl_pathc; i++) {
            char *list = read_list(lists.gl_pathv[i]);
            char *longer = memory_print("%s\n%s", all, list);

            free(list);
            free(all);
            all = longer;
        }
    globfree(&lists);
    return all;
}

char *debug_trust_servers(const char *wanted)
{
    char *lists, *allowed;

    if (geteuid() != 0)
        return memory_copy_string(wanted);
    lists = read_lists();
    allowed = memory_copy_string("");
    while (*(wanted += strspn(wanted, BLANKS))) {
        size_t length = strcspn(wanted, BLANKS);

        if (has_word(lists, wanted, length)) {
            char *longer =
                memory_print("%s%s%.*s", allowed, *allowed ? " " : "", (int)length, wanted);

            free(allowed);
            allowed = longer;
        }
        wanted += length;
    }
    free(lists);
    return allowed;
}
