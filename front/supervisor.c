#include "front/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/watched_calls.h"
#include "front/below.h"
#include "front/image_kind.h"
#include "front/known_files.h"
#include "front/leave.h"
#include "front/lifeline.h"
#include "front/listener.h"
#include "front/loaders.h"
#include "front/notifications.h"
#include "front/bind_mount.h"
#include "front/cache_limit.h"
#include "front/recorded_image.h"
#include "front/rights.h"
#include "front/say.h"
#include "front/tracee.h"
#include "support/memory.h"
#include "support/regular_file.h"
#include "support/utf8.h"

#define STAT_FLAGS   (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE)
#define ACCESS_FLAGS (AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)

#define MOST_INTERPRETERS 5 /* of a script whose interpreter is a script; the kernel's limit */

struct supervisor {
    const struct supervisor_wish *wish;
    struct notifications *calls;
    int listener;
    pid_t program;
    struct known_files files;
    struct loaders *loaders;
    /* Of the one call that a thread handles, which has a copy of the rest: */
    struct notification *notification;
    const struct seccomp_notif *call;
};

static void note(struct supervisor *supervisor, const char *what, const char *path,
                 const char *reason)
{
    recorded_image_note(supervisor->wish->recording, what, path, reason);
}

/* --- instrumenting what lies at a path --- */

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

static void leave(struct supervisor *supervisor, const struct stat *status, const char *path,
                  const char *reason)
{
    known_add_left(&supervisor->files, status);
    if (reason)
        note(supervisor, "left", path, reason);
}

/* The copy takes the place of what name stands for. */
static void put_in_place(struct supervisor *supervisor, int name, const struct stat *status,
                         const char *path, int copy)
{
    const struct recording *recording = supervisor->wish->recording;
    char *image = recorded_image_keep(recording, path, copy);
    struct stat copied;
    const int file = image ? recorded_image_open(recording, image, copy, &copied) : -1;
    const int original = file >= 0 ? fcntl(name, F_DUPFD_CLOEXEC, 0) : -1;

    if (original >= 0 && mounts_bind(file, name)) {
        known_add_copy(&supervisor->files, &copied, original, image);
        note(supervisor, "instrumented", path, image);
    } else {
        leave(supervisor, status, path, strerror(errno));
        if (original >= 0)
            close(original);
    }
    if (file >= 0)
        close(file);
    free(image);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What lies at the path by which the kernel calls a file. */
enum place {
    PLACE_OWN,
    PLACE_COVERED, /* its copy: the file was open before that was bound over it */
    PLACE_OTHER,   /* a memfd or a removed file has no path, though the kernel makes a text of it */
};

static enum place find_place(const struct supervisor *supervisor, const char *path,
                             const struct stat *status)
{
    const int name = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const struct known_file *copy;
    enum place place = PLACE_OTHER;
    struct stat there, original;

    if (name < 0)
        return PLACE_OTHER;
    if (fstat(name, &there) == 0) {
        copy = known_copy(&supervisor->files, &there);
        if (is_same(&there, status))
            place = PLACE_OWN;
        else if (copy && fstat(copy->original, &original) == 0 && is_same(&original, status))
            place = PLACE_COVERED;
    }
    close(name);
    return place;
}

static void instrument(struct supervisor *supervisor, int name, int file, const struct stat *status)
{
    char path[PATH_MAX], reason[CACHE_REASON_SIZE];
    struct cached_file copy;
    struct statvfs system;
    enum place place;
    const char *why;

    if (!find_path(name, path) || image_is_never_instrumented(path) ||
        (fstatvfs(file, &system) == 0 && system.f_flag & ST_NOEXEC)) {
        leave(supervisor, status, "", NULL);
        return;
    }
    place = find_place(supervisor, path, status);
    if (place == PLACE_COVERED)
        return;
    if (place == PLACE_OTHER)
        why = "it has no path on a file system";
    else if (leave_matches(supervisor->wish->leave, path))
        why = LEAVE_REASON;
    else
        why = utf8_is_plain(path) ? why_privileged(name) : "its path has control characters";
    if (why) {
        leave(supervisor, status, path, why);
        return;
    }
    if (cache_get(supervisor->wish->cache, file, path, &copy, reason) == CACHED)
        put_in_place(supervisor, name, status, path, copy.file);
    else
        leave(supervisor, status, path, reason);
    if (copy.file >= 0)
        close(copy.file);
    cache_trim(supervisor->wish->cache);
}

/* Whether its path leads to another file by now, as to a copy that another thread has bound. */
static bool is_covered(int name)
{
    char path[PATH_MAX];
    struct stat before, now;
    const int there = find_path(name, path) ? open(path, O_PATH | O_CLOEXEC) : -1;
    const bool is_other = there >= 0 && fstat(name, &before) == 0 && fstat(there, &now) == 0 &&
                          (before.st_dev != now.st_dev || before.st_ino != now.st_ino);

    if (there >= 0)
        close(there);
    return is_other;
}

/* Whoever needs a file that another thread is instrumenting waits for that. */
static void instrument_once(struct supervisor *supervisor, int name, int file,
                            const struct stat *status)
{
    notification_takes_long(supervisor->notification);
    known_begin(&supervisor->files, status);
    if (!known_is_left(&supervisor->files, status) && !is_covered(name))
        instrument(supervisor, name, file, status);
    known_end(&supervisor->files, status);
}

/* Instruments what name, opened with O_PATH, stands for, if it is an ELF file and not done yet. Of
   a script, *look has the interpreter. */
static void take_file(struct supervisor *supervisor, int name, struct image_look *look)
{
    struct stat status;
    int file;

    look->kind = IMAGE_KIND_OTHER;
    if (fstat(name, &status) < 0 || !S_ISREG(status.st_mode) ||
        known_copy(&supervisor->files, &status) || known_is_left(&supervisor->files, &status))
        return;
    file = regular_file_take(name, "");
    if (file < 0) {
        char path[PATH_MAX];
        if (status.st_mode & 0111 && find_path(name, path))
            leave(supervisor, &status, path, "it cannot be read");
        return;
    }
    image_look_at(look, file);
    if (look->kind == IMAGE_KIND_ELF)
        instrument_once(supervisor, name, file, &status);
    close(file);
}

/* --- the calls --- */

static const struct seccomp_data *data_of(const struct supervisor *supervisor)
{
    return &supervisor->call->data;
}

/* By the rights that this thread has at the moment. */
static bool may_access(int name, int access)
{
    return syscall(SYS_faccessat2, name, "", access, AT_EACCESS | AT_EMPTY_PATH) == 0;
}

/* 0: it has succeeded. Returns whether it still waited. */
static bool end_call(const struct supervisor *supervisor, int error)
{
    return notification_answer(supervisor->notification, error);
}

/* Else the call fails, ENOENT. With AT_EMPTY_PATH, open has no flags, and stat is not watched. */
static bool may_be_empty(const struct watched_call *watched)
{
    return watched->kind != CALL_OPEN && watched->kind != CALL_STAT && watched->kind != CALL_STATX;
}

static bool find_argument(const struct supervisor *supervisor, const struct watched_call *watched,
                          size_t which, struct tracee_path *path)
{
    const pid_t pid = (pid_t)supervisor->call->pid;
    const int folder_argument = watched->paths[which].folder;
    const int folder =
        folder_argument < 0 ? AT_FDCWD : (int)data_of(supervisor)->args[folder_argument];
    char text[PATH_MAX];

    return tracee_string(pid, data_of(supervisor)->args[watched->paths[which].path], text) &&
           (*text || may_be_empty(watched)) && tracee_find_path(pid, folder, text, path);
}

/* With the supervisor's own rights: to look whether there is anything to do. */
static int open_argument(const struct supervisor *supervisor, const struct watched_call *watched,
                         size_t which, int flags)
{
    struct tracee_path path;
    int name;

    if (!find_argument(supervisor, watched, which, &path))
        return -1;
    name = tracee_path_open(&path, flags);
    tracee_path_close(&path);
    return name;
}

/* What the caller would come to, with its rights. It must have `access` to it. */
static int open_as_caller(const struct tracee_look *look, const struct tracee_path *path, int flags,
                          int access)
{
    int name;

    if (!rights_take(look))
        return -1;
    name = tracee_path_open(path, flags);
    if (name >= 0 && access != F_OK && !may_access(name, access)) {
        close(name);
        name = -1;
    }
    rights_give_back();
    return name;
}

/* Whether the caller comes there, likewise. */
static bool reaches(const struct supervisor *supervisor, const struct watched_call *watched,
                    const struct tracee_look *look, int flags, int access,
                    const struct stat *expected)
{
    struct tracee_path path;
    struct stat status;
    bool is = false;
    int name;

    if (!find_argument(supervisor, watched, 0, &path))
        return false;
    name = open_as_caller(look, &path, flags, access);
    tracee_path_close(&path);
    if (name < 0)
        return false;
    is = fstat(name, &status) == 0 && is_same(&status, expected);
    close(name);
    return is;
}

/* Whether it has not confined itself. */
static bool may_serve(const struct supervisor *supervisor, struct tracee_look *look)
{
    const pid_t pid = (pid_t)supervisor->call->pid;

    return tracee_look(pid, look) && rights_are_free(pid, look);
}

/* A debugger compares what runs with the file that it reads, which is the original. */
static bool is_traced(const struct supervisor *supervisor)
{
    struct tracee_look look;

    return tracee_look((pid_t)supervisor->call->pid, &look) && look.is_traced;
}

static void leave_to_tracer(struct supervisor *supervisor, int name)
{
    char path[PATH_MAX];

    if (find_path(name, path))
        note(supervisor, "left", path, "a debugger ran it, and reads the original");
}

static bool is_left_alone(const struct supervisor *supervisor)
{
    return supervisor->wish->only_program &&
           !tracee_is_of((pid_t)supervisor->call->pid, supervisor->program);
}

/* Instruments the program, and the interpreter of a script, which the kernel executes without a
   call. */
static void take_program(struct supervisor *supervisor, const struct tracee_look *caller,
                         struct tracee_path *path)
{
    const pid_t pid = (pid_t)supervisor->call->pid;

    for (int i = 0; i < MOST_INTERPRETERS; i++) {
        struct image_look look = {.kind = IMAGE_KIND_OTHER};
        const int name = open_as_caller(caller, path, 0, X_OK);
        if (name < 0)
            return;
        if (caller->is_traced)
            leave_to_tracer(supervisor, name);
        else
            take_file(supervisor, name, &look);
        close(name);
        if (look.kind != IMAGE_KIND_SCRIPT)
            return;
        tracee_path_close(path);
        if (!tracee_find_path(pid, AT_FDCWD, look.interpreter, path))
            return;
    }
}

static void on_execute(struct supervisor *supervisor, const struct watched_call *watched)
{
    struct tracee_look caller;
    struct tracee_path path;

    loaders_forget(supervisor->loaders, (pid_t)supervisor->call->pid);
    if (!may_serve(supervisor, &caller) || (is_left_alone(supervisor) && !caller.is_traced) ||
        !find_argument(supervisor, watched, 0, &path))
        return;
    take_program(supervisor, &caller, &path);
    tracee_path_close(&path);
}

static int open_again(int name, int flags)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", name);
    return open(path, flags | O_CLOEXEC);
}

/* The original, as the kernel would open it for the caller. */
static int open_original(const struct supervisor *supervisor, const struct watched_call *watched,
                         const struct known_file *copy, const struct stat *status, int flags)
{
    struct tracee_look caller;
    int file;

    if (!may_serve(supervisor, &caller) ||
        !reaches(supervisor, watched, &caller, flags & O_NOFOLLOW, F_OK, status) ||
        !rights_take(&caller))
        return -1;
    file = open_again(copy->original, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW));
    rights_give_back();
    return file;
}

/* The reader gets the original instead. Returns false if the call is to go on. */
static bool hand_over(const struct supervisor *supervisor, const struct watched_call *watched,
                      const struct known_file *copy, const struct stat *status, int flags)
{
    const int file = open_original(supervisor, watched, copy, status, flags);
    struct seccomp_notif_addfd answer = {
        .id = supervisor->call->id,
        .flags = SECCOMP_ADDFD_FLAG_SEND,
        .srcfd = (uint32_t)file,
        .newfd_flags = (uint32_t)(flags & O_CLOEXEC),
    };
    bool ok;

    if (file < 0)
        return false;
    ok = ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &answer) >= 0;
    close(file);
    return ok;
}

/* The dynamic linker of glibc and musl opens with these flags. */
static bool opens_as_linker(int flags)
{
    return (flags & (O_ACCMODE | O_CLOEXEC | O_CREAT)) == (O_RDONLY | O_CLOEXEC);
}

/* Is it the dynamic linker that opens, to map what it opens? */
static bool loads(struct supervisor *supervisor, int flags)
{
    const pid_t pid = (pid_t)supervisor->call->pid;
    const uint64_t instruction = data_of(supervisor)->instruction_pointer;
    struct tracee_linker linker;

    if (!opens_as_linker(flags))
        return false;
    if (loaders_have(supervisor->loaders, pid, instruction))
        return true;
    if (!tracee_find_linker(pid, instruction, &linker) || is_traced(supervisor))
        return false;
    loaders_add(supervisor->loaders, pid, &linker);
    return true;
}

static bool is_elf(int name)
{
    struct image_look look;

    return image_look_at_path(&look, name) && look.kind == IMAGE_KIND_ELF;
}

/* Of a file that nobody has bound over. */
static void on_open_other(struct supervisor *supervisor, const struct watched_call *watched,
                          int name, int flags, const struct stat *status)
{
    struct tracee_look caller;
    struct image_look look;

    if (!opens_as_linker(flags) || !is_elf(name) || !loads(supervisor, flags) ||
        is_left_alone(supervisor) || !may_serve(supervisor, &caller))
        return;
    if (reaches(supervisor, watched, &caller, flags & O_NOFOLLOW, R_OK, status))
        take_file(supervisor, name, &look);
}

/* Who runs the copy has its path in the recording from then on. Of a mount that is merely taken
   away the path would be `/`. Returns false if that cannot be. */
static bool move_aside(const struct supervisor *supervisor, int name, const struct known_file *copy)
{
    const int image = below_open(supervisor->wish->recording->directory, copy->image, O_PATH, 0);
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

static void unbind(const struct supervisor *supervisor, int name, const struct known_file *copy,
                   bool is_run)
{
    if (tracee_sees_ours((pid_t)supervisor->call->pid) &&
        !(is_run && move_aside(supervisor, name, copy)))
        mounts_unbind(name);
}

/* Whether the caller may write to the original. */
static bool may_write(const struct supervisor *supervisor, const struct watched_call *watched,
                      int flags, const struct known_file *copy, const struct stat *status)
{
    struct tracee_look caller;
    bool may;

    if (!may_serve(supervisor, &caller) ||
        !reaches(supervisor, watched, &caller, flags, F_OK, status) || !rights_take(&caller))
        return false;
    may = may_access(copy->original, W_OK);
    rights_give_back();
    return may;
}

/* A program that runs is not written to; else the original is there for it. Returns whether the
   call has been answered. */
static bool on_write(const struct supervisor *supervisor, const struct watched_call *watched,
                     int name, int flags, const struct known_file *copy, const struct stat *status)
{
    const bool is_run = tracee_runs_somewhere(status);

    if (is_run && may_write(supervisor, watched, flags, copy, status) &&
        end_call(supervisor, ETXTBSY))
        return true;
    unbind(supervisor, name, copy, is_run);
    return false;
}

/* Returns whether the call has been answered. */
static bool on_open(struct supervisor *supervisor, const struct watched_call *watched)
{
    const int flags = (int)data_of(supervisor)->args[watched->flags];
    const bool is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL); /* or it is EEXIST */
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    const int name = is_new ? -1 : open_argument(supervisor, watched, 0, flags & O_NOFOLLOW);
    const struct known_file *copy;
    struct stat status;
    bool is_answered = false;

    if (name < 0)
        return false;
    if (fstat(name, &status) == 0 && S_ISREG(status.st_mode)) {
        copy = known_copy(&supervisor->files, &status);
        if (copy && writes)
            is_answered = on_write(supervisor, watched, name, flags & O_NOFOLLOW, copy, &status);
        else if (copy && !loads(supervisor, flags))
            is_answered = hand_over(supervisor, watched, copy, &status, flags);
        else if (!copy && !writes && !known_is_left(&supervisor->files, &status))
            on_open_other(supervisor, watched, name, flags, &status);
    }
    close(name);
    return is_answered;
}

/* Whether the call still waits, for us: else its process may be gone, and its pid another's. */
static bool is_waiting(const struct supervisor *supervisor)
{
    return notification_claim(supervisor->notification);
}

static bool tell_of(const struct supervisor *supervisor, const struct watched_call *watched,
                    int original)
{
    const pid_t pid = (pid_t)supervisor->call->pid;
    const uint64_t buffer = data_of(supervisor)->args[watched->buffer];
    struct statx extended;
    struct stat plain;
    int flags;

    if (watched->kind == CALL_STAT)
        return fstat(original, &plain) == 0 && is_waiting(supervisor) &&
               tracee_write(pid, buffer, &plain, sizeof(plain));
    flags = AT_EMPTY_PATH | (int)(data_of(supervisor)->args[2] & AT_STATX_SYNC_TYPE);
    return statx(original, "", flags, (unsigned)data_of(supervisor)->args[3], &extended) == 0 &&
           is_waiting(supervisor) && tracee_write(pid, buffer, &extended, sizeof(extended));
}

/* Else the call fails, EINVAL. */
static bool has_known_flags(const struct supervisor *supervisor, const struct watched_call *watched,
                            int known)
{
    const int flags = watched->flags < 0 ? 0 : (int)data_of(supervisor)->args[watched->flags];

    return !(flags & ~known) && (flags & AT_STATX_SYNC_TYPE) != AT_STATX_SYNC_TYPE;
}

/* Returns whether the call has been answered. */
static bool on_stat(struct supervisor *supervisor, const struct watched_call *watched)
{
    const bool follows =
        data_of(supervisor)->nr != SYS_lstat &&
        !(watched->flags >= 0 && data_of(supervisor)->args[watched->flags] & AT_SYMLINK_NOFOLLOW);
    const int flags = follows ? 0 : O_NOFOLLOW;
    const int name = has_known_flags(supervisor, watched, STAT_FLAGS)
                         ? open_argument(supervisor, watched, 0, flags)
                         : -1;
    const struct known_file *copy;
    struct tracee_look caller;
    struct stat status;
    bool is_answered = false;

    if (name < 0)
        return false;
    copy = fstat(name, &status) == 0 ? known_copy(&supervisor->files, &status) : NULL;
    if (copy && may_serve(supervisor, &caller) &&
        reaches(supervisor, watched, &caller, flags, F_OK, &status) &&
        tell_of(supervisor, watched, copy->original))
        is_answered = end_call(supervisor, 0);
    close(name);
    return is_answered;
}

/* Of the rights that access(2) asks for: the real user's. The kernel would find the copy, which is
   mounted read-only. Returns whether the call has been answered. */
static bool on_access(const struct supervisor *supervisor, const struct watched_call *watched)
{
    const __u64 *arguments = data_of(supervisor)->args;
    const int flags = watched->flags >= 0 ? (int)arguments[watched->flags] : 0;
    const int follow = flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0;
    const int name = has_known_flags(supervisor, watched, ACCESS_FLAGS)
                         ? open_argument(supervisor, watched, 0, follow)
                         : -1;
    const struct known_file *copy;
    struct tracee_look caller;
    struct stat status;
    int error = 0;

    if (name < 0)
        return false;
    copy = fstat(name, &status) == 0 ? known_copy(&supervisor->files, &status) : NULL;
    close(name);
    if (!copy || !may_serve(supervisor, &caller))
        return false;
    if (!(flags & AT_EACCESS))
        tracee_become_real(&caller);
    if (!reaches(supervisor, watched, &caller, follow, F_OK, &status) || !rights_take(&caller))
        return false;
    if (!may_access(copy->original, (int)arguments[watched->which.argument]))
        error = errno;
    rights_give_back();
    return end_call(supervisor, error);
}

/* O_NOFOLLOW unless the kernel follows a link that the path ends with. */
static int change_flags(const struct supervisor *supervisor, const struct watched_call *watched)
{
    const uint64_t flags = watched->flags < 0 ? 0 : data_of(supervisor)->args[watched->flags];
    bool follows = false;

    switch (watched->follow) {
    case FOLLOW_NEVER:
        break;
    case FOLLOW_ALWAYS:
        follows = !(flags & AT_SYMLINK_NOFOLLOW);
        break;
    case FOLLOW_IF_ASKED:
        follows = flags & AT_SYMLINK_FOLLOW;
        break;
    }
    return follows ? 0 : O_NOFOLLOW;
}

/* Returns whether the call has been answered. */
static bool on_change(const struct supervisor *supervisor, const struct watched_call *watched)
{
    const bool writes = watched->number == SYS_creat || watched->number == SYS_truncate;
    const int flags = change_flags(supervisor, watched);
    bool is_answered = false;
    struct stat status;

    for (size_t i = 0; i < CALL_PATHS && watched->paths[i].path >= 0; i++) {
        const int name = open_argument(supervisor, watched, i, flags);
        const struct known_file *copy;
        if (name < 0)
            continue;
        copy = fstat(name, &status) == 0 ? known_copy(&supervisor->files, &status) : NULL;
        if (copy && writes)
            is_answered = on_write(supervisor, watched, name, flags, copy, &status);
        else if (copy)
            unbind(supervisor, name, copy, tracee_runs_somewhere(&status));
        close(name);
    }
    return is_answered;
}

/* Whether a seccomp filter asks a tracer. It would not be asked: our filter's answer comes first.
 */
static bool asks_tracer(pid_t pid, uint64_t address)
{
    struct sock_fprog program;
    struct sock_filter steps[BPF_MAXINSNS];
    size_t size;

    if (!tracee_read(pid, address, &program, sizeof(program)) || program.len > BPF_MAXINSNS)
        return false;
    size = program.len * sizeof(*steps);
    if (!tracee_read(pid, (uint64_t)(uintptr_t)program.filter, steps, size))
        return false;
    for (size_t i = 0; i < program.len; i++)
        if (steps[i].code == (BPF_RET | BPF_K) &&
            (steps[i].k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE)
            return true;
    return false;
}

/* strace --seccomp-bpf and proot then stop at each system call instead. */
static bool on_filter(const struct supervisor *supervisor, uint64_t program)
{
    return asks_tracer((pid_t)supervisor->call->pid, program) && end_call(supervisor, EINVAL);
}

/* Returns whether the call has been answered. */
static bool on_confine(const struct supervisor *supervisor)
{
    const struct seccomp_data *data = data_of(supervisor);
    const pid_t pid = (pid_t)supervisor->call->pid;
    uint32_t action;

    if (data->nr == SYS_prctl)
        return data->args[1] == SECCOMP_MODE_FILTER && on_filter(supervisor, data->args[2]);
    if (data->nr != SYS_seccomp) {
        rights_see_landlock(pid);
        return false;
    }
    if (data->args[0] == SECCOMP_GET_ACTION_AVAIL)
        return tracee_read(pid, data->args[2], &action, sizeof(action)) &&
               action == SECCOMP_RET_TRACE && end_call(supervisor, EOPNOTSUPP);
    return data->args[0] == SECCOMP_SET_MODE_FILTER && on_filter(supervisor, data->args[2]);
}

/* Returns whether the call has been answered. */
static bool answer(struct supervisor *supervisor)
{
    const struct watched_call *watched = watched_call_find(data_of(supervisor)->nr);

    if (!watched)
        return false;
    switch (watched->kind) {
    case CALL_EXECUTE:
        on_execute(supervisor, watched);
        break;
    case CALL_OPEN:
        return on_open(supervisor, watched);
    case CALL_STAT:
    case CALL_STATX:
        return on_stat(supervisor, watched);
    case CALL_ACCESS:
        return on_access(supervisor, watched);
    case CALL_CHANGE:
        return on_change(supervisor, watched);
    case CALL_CONFINE:
        return on_confine(supervisor);
    }
    return false;
}

/* As above: of one call, by one of several threads. */
static bool handle(void *context, struct notification *notification)
{
    struct supervisor own = *(const struct supervisor *)context;

    own.notification = notification;
    own.call = notification_call(notification);
    return answer(&own);
}

/* Of what is not handled, that one has to be seen. */
static void pass(void *context, const struct seccomp_notif *call)
{
    (void)context;
    if (watched_call_find(call->data.nr) == watched_call_find(SYS_landlock_restrict_self))
        rights_see_landlock((pid_t)call->pid);
}

/* --- beginning and end --- */

static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Nothing of the terminal's reaches it, and nobody waits for the end of its output. */
static void detach(const struct supervisor_wish *wish)
{
    const int nothing = open("/dev/null", O_RDWR);

    setsid();
    signal(SIGHUP, SIG_IGN);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (!wish->is_verbose)
        dup2(nothing, STDERR_FILENO);
    if (nothing > STDERR_FILENO)
        close(nothing);
}

static void work(struct supervisor *supervisor)
{
    const struct notification_handlers handlers = {handle, pass, supervisor};

    supervisor->files = known_files_new();
    supervisor->loaders = loaders_new();
    raise_descriptor_limit();
    notifications_serve(supervisor->calls, supervisor->listener, &handlers);
}

/* The worker does all; should it die, its parent lets everything go on. When all is over it does,
   too: that ends at once. */
static void supervise(const struct supervisor_wish *wish, int socket)
{
    struct recording recording = *wish->recording;
    const struct supervisor_wish here = {&recording, wish->cache, wish->leave, wish->only_program,
                                         wish->is_verbose};
    struct supervisor supervisor = {.wish = &here, .calls = notifications_new()};
    struct lifeline *lifeline = lifeline_new();
    pid_t worker;
    char byte = 0;

    detach(wish);
    supervisor.listener = listener_receive(socket, &supervisor.program);
    if (supervisor.listener < 0 || !supervisor.calls)
        return;
    byte = lifeline && mounts_join(supervisor.program) && rights_begin(supervisor.program) ? 1 : 0;
    fcntl(recording.directory, F_SETFD, FD_CLOEXEC); /* `instrument` has no use for it */
    recording_find_again(&recording);
    worker = byte ? fork() : -1;
    if (worker == 0) {
        lifeline_hold(lifeline);
        if (write(socket, &byte, 1) == 1) {
            close(socket);
            work(&supervisor);
        }
        _exit(0);
    }
    if (worker < 0 && write(socket, &byte, 1) < 0)
        return;
    close(socket);
    if (worker > 0)
        lifeline_wait(lifeline);
    notifications_let_go_on(supervisor.calls, supervisor.listener);
}

pid_t supervisor_start(const struct supervisor_wish *wish, int *program)
{
    int ends[2];
    const int on = 1;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0 ||
        setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    pid = fork();
    if (pid < 0)
        goto err;
    if (pid == 0) {
        close(ends[1]);
        supervise(wish, ends[0]);
        _exit(0);
    }
    close(ends[0]);
    *program = ends[1];
    return pid;
err:
    close(ends[0]);
    close(ends[1]);
    errno = EAGAIN; /* what fork fails with where the user may have no more processes */
    return -1;
}
