#include "front/recording/new_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/files/below.h"
#include "support/memory.h"
#include "support/temporary.h"

#define OLDER  "older"
#define FAILED ".failed" /* behind the name, of a recording of no process */

#define HELD_TRIES    50
#define HELD_PAUSE_US 20000

static bool is_there(int directory, const char *name)
{
    struct stat ignored;

    return fstatat(directory, name, &ignored, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Opens the directory that holds what the name ends with. */
static int open_parent(const char *name, char **base)
{
    const char *slash = strrchr(name, '/');
    char *folder = slash ? memory_copy_string(name) : memory_copy_string(".");
    int parent;

    if (slash)
        folder[slash - name + (slash == name)] = 0;
    *base = memory_copy_string(slash ? slash + 1 : name);
    parent = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return parent;
}

static bool is_plain_name(const char *base)
{
    return *base && strcmp(base, ".") != 0 && strcmp(base, "..") != 0;
}

static void require_recording(int parent, const char *base, const char *name, const char *suffix)
{
    if (is_plain_name(base) && (!is_there(parent, base) || recording_is_in(parent, base)))
        return;
    if (is_plain_name(base) && errno == EACCES)
        say_and_exit(STATUS_FAILED,
                     "%s%s: what is there cannot be read: %s; name another place with -o", name,
                     suffix, strerror(errno));
    say_and_exit(STATUS_FAILED,
                 "%s%s: expected a recording or nothing there, found something else; name "
                 "another place with -o",
                 name, suffix);
}

/* While it lasts, umbra record and the supervisor have a lock on the folder: both keep the
   descriptor until they end. */
static bool is_held(int parent, const char *base)
{
    int directory = openat(parent, base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is;

    if (directory < 0)
        return false;
    is = flock(directory, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(directory);
    return is;
}

/* A recording of no process. */
static bool is_empty(int parent, const char *base)
{
    const struct recording there = {.directory =
                                        openat(parent, base, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    bool is = there.directory >= 0 && recording_count_processes(&there) == 0;

    if (there.directory >= 0)
        close(there.directory);
    return is;
}

/* The supervisor of one that has just ended may live a little longer. */
static bool is_held_on(int parent, const char *base)
{
    for (int tries = 0; tries < HELD_TRIES; tries++) {
        if (!is_held(parent, base))
            return false;
        usleep(HELD_PAUSE_US);
    }
    return true;
}

static char *name_of_new(const struct new_recording *new)
{
    return memory_print("%s.new-%d", new->base, (int)getpid());
}

static char *name_of_old(const struct new_recording *new)
{
    return memory_print("%s" RECORDING_OLD, new->base);
}

/* --- making --- */

/* What was made, and nothing that somebody put there since. */
static bool open_new(struct new_recording *new, const char *name)
{
    struct stat status;

    new->recording.directory =
        openat(new->parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (new->recording.directory < 0)
        return false;
    if (fstat(new->recording.directory, &status) == 0 && status.st_uid == geteuid())
        return true;
    close(new->recording.directory);
    errno = EPERM;
    return false;
}

/* Removes what is in it, and its name as far as that is still its own. */
static void discard(const struct new_recording *new, const char *name)
{
    below_empty(new->recording.directory);
    unlinkat(new->parent, name, AT_REMOVEDIR);
}

static bool write_first_line(const struct new_recording *new)
{
    int file = openat(new->recording.directory, "recording",
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    ssize_t length = sizeof(RECORDING_FIRST_LINE) - 1;
    ssize_t written;

    if (file < 0)
        return false;
    written = write(file, RECORDING_FIRST_LINE, (size_t)length);
    if (close(file) < 0 || written < 0)
        return false;
    errno = ENOSPC;
    return written == length;
}

/* A folder with the first line in it. */
static bool make_folder(struct new_recording *new, const char *name)
{
    int error;

    if (mkdirat(new->parent, name, 0700) < 0 || !open_new(new, name))
        return false;
    if (write_first_line(new))
        return true;
    error = errno;
    discard(new, name);
    close(new->recording.directory);
    errno = error;
    return false;
}

static bool executes_nothing(int directory)
{
    struct statvfs system;

    return fstatvfs(directory, &system) == 0 && system.f_flag & ST_NOEXEC;
}

static char *make_new(struct new_recording *new, const char *name)
{
    if (executes_nothing(new->parent))
        return memory_print("%s: is on a file system that executes nothing (noexec)",
                            new->recording.name);
    if (!make_folder(new, name))
        return memory_print("%s: cannot be made: %s", new->recording.name, strerror(errno));
    flock(new->recording.directory, LOCK_EX | LOCK_NB);
    return NULL;
}

static _Noreturn void fail_to_rename(const struct new_recording *new, const char *from,
                                     const char *to)
{
    int error = errno;
    char *name = name_of_new(new);

    discard(new, name);
    say_and_exit(STATUS_FAILED, "%s: %s cannot be renamed to %s: %s; name another place with -o",
                 new->recording.name, from, to, strerror(error));
}

/* Moves an earlier recording into the new one: it is judged where nobody can change its name any
 * more. */
static void move_into(const struct new_recording *new, const char *old)
{
    int directory = new->recording.directory;

    if (renameat(new->parent, old, directory, OLDER) < 0)
        fail_to_rename(new, old, OLDER);
    if (recording_is_in(directory, OLDER))
        return;
    renameat(directory, OLDER, new->parent, old);
    errno = EEXIST;
    fail_to_rename(new, old, OLDER);
}

/* perf does the same to perf.data. */
static void move_aside(const struct new_recording *new)
{
    char *old = name_of_old(new);

    if (new->earlier_is_empty) {
        move_into(new, new->base);
        free(old);
        return;
    }
    if (is_there(new->parent, old))
        move_into(new, old);
    if (renameat(new->parent, new->base, new->parent, old) < 0) {
        if (is_there(new->recording.directory, OLDER))
            renameat(new->recording.directory, OLDER, new->parent, old);
        fail_to_rename(new, new->base, old);
    }
    free(old);
}

static void look_at_earlier(struct new_recording *new)
{
    const char *name = new->recording.name;
    char *old = name_of_old(new);

    require_recording(new->parent, new->base, name, "");
    new->has_earlier = is_there(new->parent, new->base);
    if (new->has_earlier)
        require_recording(new->parent, old, name, RECORDING_OLD);
    if (new->has_earlier && is_held_on(new->parent, new->base))
        say_and_exit(STATUS_FAILED,
                     "%s: is being recorded by another umbra record, or a program that it left "
                     "still runs; name another place with -o",
                     name);
    new->earlier_is_empty = new->has_earlier &&is_empty(new->parent, new->base);
    free(old);
}

char *new_recording_make(struct new_recording *new, const char *name)
{
    char *temporary, *why;

    if (!*name)
        say_and_exit(STATUS_USAGE, "--output=: expected the name of a folder, found none");
    *new = (struct new_recording){.recording = {.name = recording_name(name), .directory = -1}};
    new->recording.folder = recording_folder(new->recording.name);
    new->parent = open_parent(new->recording.name, &new->base);
    if (new->parent < 0)
        return memory_print("%s: cannot be made: %s", new->recording.name, strerror(errno));
    look_at_earlier(new);
    temporary = name_of_new(new);
    why = make_new(new, temporary);
    if (!why && new->has_earlier)
        move_aside(new);
    if (!why && renameat(new->parent, temporary, new->parent, new->base) < 0)
        fail_to_rename(new, temporary, new->base);
    free(temporary);
    return why;
}

/* --- beginning, or not --- */

void new_recording_begin(const struct recording *recording)
{
    char *pid = memory_print("%d", (int)getpid());

    recording_note(recording, "pid", pid);
    free(pid);
}

static bool is_still_named(const struct new_recording *new)
{
    int there = openat(new->parent, new->base, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is = there >= 0 && below_is_same(there, new->recording.directory);

    if (there >= 0)
        close(there);
    return is;
}

/* What was there before is there again, and the new one has its first name. Returns false after a
   message if the new one holds what could not be put back. */
static bool give_back(const struct new_recording *new, const char *temporary)
{
    const char *older = new->base;
    char *old = name_of_old(new);
    bool ok;

    if (is_still_named(new))
        renameat(new->parent, new->base, new->parent, temporary);
    if (new->has_earlier && !new->earlier_is_empty) {
        older = old;
        if (renameat(new->parent, old, new->parent, new->base) < 0)
            say("%s: cannot be renamed to %s: %s", old, new->base, strerror(errno));
    }
    ok = !is_there(new->recording.directory, OLDER) ||
         renameat(new->recording.directory, OLDER, new->parent, older) == 0;
    if (!ok)
        say("%s: cannot be put back: %s", older, strerror(errno));
    free(old);
    return ok;
}

void new_recording_take_back(const struct new_recording *new)
{
    char *temporary = name_of_new(new);

    if (give_back(new, temporary))
        discard(new, temporary);
    free(temporary);
}

/* --- the end --- */

/* Processes that record have the descriptor and its lock from here: with another one their lock is
   seen. */
static bool is_let_go(const struct new_recording *new)
{
    int again = openat(new->recording.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is = again >= 0 && dup3(again, new->recording.directory, O_CLOEXEC) >= 0;

    if (again >= 0)
        close(again);
    for (int tries = 0; is && flock(new->recording.directory, LOCK_EX | LOCK_NB) < 0; tries++) {
        is = tries < HELD_TRIES;
        usleep(HELD_PAUSE_US);
    }
    return is;
}

static void remove_older(const struct new_recording *new)
{
    if (is_there(new->recording.directory, OLDER))
        temporary_remove(new->recording.directory, OLDER);
}

/* An earlier one that failed goes, and nothing else. */
static bool make_room(const struct new_recording *new, const char *failed)
{
    int directory = new->recording.directory;

    if (!is_there(new->parent, failed))
        return true;
    if (renameat(new->parent, failed, directory, OLDER) < 0)
        return false;
    if (recording_is_in(directory, OLDER)) {
        temporary_remove(directory, OLDER);
        return true;
    }
    renameat(directory, OLDER, new->parent, failed);
    return false;
}

static bool become_failed(struct new_recording *new, const char *temporary)
{
    char *failed = memory_print("%s" FAILED, new->base), *name = new->recording.name;
    bool is = make_room(new, failed) && renameat(new->parent, temporary, new->parent, failed) == 0;

    free(failed);
    if (!is) {
        discard(new, temporary);
        return false;
    }
    new->recording.name = memory_print("%s" FAILED, name);
    free(new->recording.folder);
    new->recording.folder = recording_folder(new->recording.name);
    free(name);
    return true;
}

enum new_recording_end new_recording_end(struct new_recording *new)
{
    bool has_failed = recording_count_processes(&new->recording) == 0;
    char *temporary = name_of_new(new);
    enum new_recording_end end = NEW_RECORDING_STAYS;

    if (!has_failed || !new->has_earlier || new->earlier_is_empty)
        remove_older(new);
    else if (is_let_go(new) && give_back(new, temporary))
        end = become_failed(new, temporary) ? NEW_RECORDING_FAILED : NEW_RECORDING_GONE;
    free(temporary);
    return end;
}
