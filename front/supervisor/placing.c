#include "front/supervisor/placing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "front/cache/cache_limit.h"
#include "front/files/below.h"
#include "front/files/bind_mount.h"
#include "front/files/leave.h"
#include "front/recording/recorded_image.h"
#include "support/regular_file.h"
#include "support/utf8.h"

/* Programs that get rights by being executed lose them here, or should not lend them to an agent.
 */
static const char *why_privileged(int file)
{
    if (!image_has_rights(file))
        return NULL;
    return geteuid() == 0 ? "it has more rights than who executes it (set-uid, set-gid or file "
                            "capabilities), and runs as ever"
                          : "it runs without the rights that set-uid, set-gid or file capabilities "
                            "give it; record as root, or with --in-place=no";
}

static bool find_path(int name, char path[PATH_MAX])
{
    char link_path[64];
    ssize_t length;

    snprintf(link_path, sizeof(link_path), "/proc/self/fd/%d", name);
    length = readlink(link_path, path, PATH_MAX - 1);
    if (length <= 0 || *path != '/')
        return false;
    path[length] = 0;
    return true;
}

static void leave(struct placing *placing, const struct stat *status, const char *path,
                  const char *reason)
{
    known_add_left(&placing->files, status);
    if (reason)
        recorded_image_note(placing->recording, "left", path, reason);
}

static void leave_named(struct placing *placing, int name, const struct stat *status,
                        const char *reason)
{
    char path[PATH_MAX];

    if (find_path(name, path))
        leave(placing, status, path, reason);
}

/* The copy takes the place of what name stands for. */
static void put_in_place(struct placing *placing, int name, const struct stat *status,
                         const char *path, int copy)
{
    const struct recording *recording = placing->recording;
    char *image = recorded_image_keep(recording, path, copy), reason[CACHE_REASON_SIZE];
    struct stat copied;
    int file = image ? recorded_image_open(recording, image, copy, &copied) : -1;
    int original = file >= 0 ? fcntl(name, F_DUPFD_CLOEXEC, 0) : -1;

    if (original >= 0 && mounts_bind(file, name)) {
        known_add_copy(&placing->files, &copied, original, image);
        recorded_image_note(recording, "instrumented", path, image);
    } else {
        snprintf(reason, sizeof(reason), "its copy cannot be put in its place: %s",
                 strerror(errno));
        leave(placing, status, path, reason);
        if (original >= 0)
            close(original);
    }
    if (file >= 0)
        close(file);
    free(image);
}

/* What lies at the path by which the kernel calls a file. */
enum place {
    PLACE_OWN,
    PLACE_COVERED, /* its copy: the file was open before that was bound over it */
    PLACE_OTHER,   /* a memfd or a removed file has no path, though the kernel makes a text of it */
};

static enum place find_place(const struct placing *placing, const char *path,
                             const struct stat *status)
{
    int name = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const struct known_file *copy;
    enum place place = PLACE_OTHER;
    struct stat there, original;

    if (name < 0)
        return PLACE_OTHER;
    if (fstat(name, &there) == 0) {
        copy = known_copy(&placing->files, &there);
        if (known_is_same(&there, status))
            place = PLACE_OWN;
        else if (copy && fstat(copy->original, &original) == 0 && known_is_same(&original, status))
            place = PLACE_COVERED;
    }
    close(name);
    return place;
}

/* Null if it is to be instrumented. */
static const char *why_left(const struct placing *placing, int name, const char *path,
                            enum place place)
{
    if (place == PLACE_OTHER)
        return "it has no path on a file system";
    if (leave_matches(placing->leave, path))
        return LEAVE_REASON;
    return utf8_is_plain(path) ? why_privileged(name) : "its path has control characters";
}

static void instrument(struct placing *placing, int name, int file, const struct stat *status)
{
    char path[PATH_MAX], reason[CACHE_REASON_SIZE];
    struct cached_file copy;
    struct statvfs system;
    enum place place;
    const char *why;

    if (!find_path(name, path) || image_is_never_instrumented(path) ||
        (fstatvfs(file, &system) == 0 && system.f_flag & ST_NOEXEC)) {
        leave(placing, status, "", NULL);
        return;
    }
    place = find_place(placing, path, status);
    if (place == PLACE_COVERED)
        return;
    why = why_left(placing, name, path, place);
    if (why) {
        leave(placing, status, path, why);
        return;
    }
    if (cache_get(placing->cache, file, path, &copy, reason) == CACHED)
        put_in_place(placing, name, status, path, copy.file);
    else
        leave(placing, status, path, reason);
    if (copy.file >= 0)
        close(copy.file);
    cache_trim(placing->cache);
}

/* Whether its path leads to another file by now, as to a copy that another thread has bound. */
static bool is_covered(int name)
{
    char path[PATH_MAX];
    struct stat before, now;
    int there = find_path(name, path) ? open(path, O_PATH | O_CLOEXEC) : -1;
    bool is_other = there >= 0 && fstat(name, &before) == 0 && fstat(there, &now) == 0 &&
                    !known_is_same(&before, &now);

    if (there >= 0)
        close(there);
    return is_other;
}

/* Whoever needs a file that another thread is instrumenting waits for that. */
static void instrument_once(struct placing *placing, struct notification *notification, int name,
                            int file, const struct stat *status)
{
    notification_takes_long(notification);
    known_begin(&placing->files, status);
    if (!known_is_left(&placing->files, status) && !is_covered(name))
        instrument(placing, name, file, status);
    known_end(&placing->files, status);
}

void placing_take(struct placing *placing, struct notification *notification, int name,
                  struct image_look *look)
{
    struct stat status;
    int file;

    look->kind = IMAGE_KIND_OTHER;
    if (fstat(name, &status) < 0 || !S_ISREG(status.st_mode) ||
        known_copy(&placing->files, &status) || known_is_left(&placing->files, &status))
        return;
    file = regular_file_take(name, "");
    if (file < 0) {
        if (status.st_mode & 0111)
            leave_named(placing, name, &status, "it cannot be read");
        return;
    }
    image_look_at(look, file);
    if (look->kind == IMAGE_KIND_ELF)
        instrument_once(placing, notification, name, file, &status);
    else if (look->kind == IMAGE_KIND_FOREIGN)
        leave_named(placing, name, &status, look->why);
    close(file);
}

void placing_note_confined(struct placing *placing, const char *program)
{
    if (!atomic_exchange(&placing->has_met_confined, true))
        recorded_image_note(placing->recording, "confined", program, "");
}

void placing_leave_to_debugger(const struct placing *placing, int name)
{
    char path[PATH_MAX];

    if (find_path(name, path))
        recorded_image_note(placing->recording, "left", path,
                            "a debugger ran it, and reads the original");
}

/* Who runs the copy has its path in the recording from then on. Of a mount that is merely taken
   away the path would be `/`. Returns false if that cannot be. */
static bool move_aside(const struct placing *placing, int name, const struct known_file *copy)
{
    int image = below_open(placing->recording->directory, copy->image, O_PATH, 0);
    struct statx there;
    struct stat status;
    bool ok;

    if (image < 0)
        return false;
    ok = fstat(image, &status) == 0 && copy->id.device == status.st_dev &&
         copy->id.inode == status.st_ino &&
         statx(image, "", AT_EMPTY_PATH, STATX_INO, &there) == 0 &&
         !(there.stx_attributes & STATX_ATTR_MOUNT_ROOT) && mounts_move(name, image);
    close(image);
    return ok;
}

void placing_undo(const struct placing *placing, int name, const struct known_file *copy,
                  bool is_run)
{
    if (!(is_run && move_aside(placing, name, copy)))
        mounts_unbind(name);
}
