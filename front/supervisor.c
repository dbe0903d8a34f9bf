#include "front/supervisor.h"

#include <errno.h>
#include <fcntl.h>
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
#include "front/image_kind.h"
#include "front/known_files.h"
#include "front/lifeline.h"
#include "front/listener.h"
#include "front/loaders.h"
#include "front/notifications.h"
#include "front/bind_mount.h"
#include "front/recorded_image.h"
#include "front/say.h"
#include "front/tracee.h"
#include "support/memory.h"
#include "support/regular_file.h"
#include "support/utf8.h"

#define MOST_INTERPRETERS 5 /* of a script whose interpreter is a script; the kernel's limit */

struct supervisor {
    const struct supervisor_wish *wish;
    struct notifications *calls;
    int listener;
    pid_t program;
    struct known_files files;
    uint64_t root_rights; /* that who is to be like us must have; 0 if we are not root */
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
                         const char *path, const char *copy)
{
    const struct recording *recording = supervisor->wish->recording;
    char *image = recorded_image_keep(recording, path, copy);
    struct stat copied;
    const int file = image ? recorded_image_open(recording, image, copy, &copied) : -1;
    const int original = file >= 0 ? fcntl(name, F_DUPFD_CLOEXEC, 0) : -1;

    if (original >= 0 && mounts_bind(file, name)) {
        known_add_copy(&supervisor->files, &copied, original);
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

static void instrument(struct supervisor *supervisor, int name, int file, const struct stat *status)
{
    char path[PATH_MAX], copy[PATH_MAX], reason[CACHE_REASON_SIZE];
    struct statvfs system;
    const char *why;

    if (!find_path(name, path) || image_is_never_instrumented(path) ||
        (fstatvfs(file, &system) == 0 && system.f_flag & ST_NOEXEC)) {
        leave(supervisor, status, "", NULL);
        return;
    }
    why = utf8_is_plain(path) ? why_privileged(name) : "its path has control characters";
    if (why) {
        leave(supervisor, status, path, why);
        return;
    }
    if (cache_get(supervisor->wish->cache, file, path, copy, reason) == CACHED)
        put_in_place(supervisor, name, status, path, copy);
    else
        leave(supervisor, status, path, reason);
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

static int open_argument(struct supervisor *supervisor, const struct watched_call *watched,
                         size_t which, int flags)
{
    const pid_t pid = (pid_t)supervisor->call->pid;
    const int folder_argument = watched->paths[which].folder;
    const int folder =
        folder_argument < 0 ? AT_FDCWD : (int)data_of(supervisor)->args[folder_argument];
    char path[PATH_MAX];

    if (!tracee_string(pid, data_of(supervisor)->args[watched->paths[which].path], path))
        return -1;
    return tracee_open_path(pid, folder, path, flags);
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

/* Null at *look's end: the kernel executes the interpreter of a script without a call. */
static void on_execute(struct supervisor *supervisor, const struct watched_call *watched)
{
    const pid_t pid = (pid_t)supervisor->call->pid;
    int name = open_argument(supervisor, watched, 0, 0);

    loaders_forget(supervisor->loaders, pid);
    if (name >= 0 && is_traced(supervisor)) {
        leave_to_tracer(supervisor, name);
        close(name);
        return;
    }
    if (supervisor->wish->only_program && !tracee_is_of(pid, supervisor->program)) {
        if (name >= 0)
            close(name);
        return;
    }
    for (int i = 0; i < MOST_INTERPRETERS && name >= 0; i++) {
        struct image_look look = {.kind = IMAGE_KIND_OTHER};
        if (tracee_sees_ours(pid))
            take_file(supervisor, name, &look);
        close(name);
        name = look.kind == IMAGE_KIND_SCRIPT ? tracee_open_path(pid, AT_FDCWD, look.interpreter, 0)
                                              : -1;
    }
    if (name >= 0)
        close(name);
}

/* Nobody gets by way of us what the kernel would not give: who has changed its user, or is root
   without root's rights, is let go on, and reads the copy if it may; and where another root is, the
   path leads to another file. */
static bool is_as_we_are(const struct supervisor *supervisor)
{
    const pid_t pid = (pid_t)supervisor->call->pid;
    struct tracee_look look;

    return tracee_look(pid, &look) && look.user == geteuid() && look.group == getegid() &&
           !(supervisor->root_rights & ~look.rights) && tracee_sees_ours(pid);
}

/* The reader gets the original instead. Returns false if the call is to go on. */
static bool hand_over(struct supervisor *supervisor, const struct known_file *copy, int flags)
{
    struct seccomp_notif_addfd answer = {
        .id = supervisor->call->id,
        .flags = SECCOMP_ADDFD_FLAG_SEND,
        .newfd_flags = (uint32_t)(flags & O_CLOEXEC),
    };
    char path[64];
    int file;
    bool ok;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", copy->original);
    file = open(path, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
    if (file < 0)
        return false;
    answer.srcfd = (uint32_t)file;
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
static void on_open_other(struct supervisor *supervisor, int name, int flags)
{
    const pid_t pid = (pid_t)supervisor->call->pid;
    struct image_look look;

    if (!opens_as_linker(flags) || !is_elf(name) || !loads(supervisor, flags) ||
        !tracee_sees_ours(pid))
        return;
    if (!supervisor->wish->only_program || tracee_is_of(pid, supervisor->program))
        take_file(supervisor, name, &look);
}

static void unbind(const struct supervisor *supervisor, int name)
{
    if (tracee_sees_ours((pid_t)supervisor->call->pid))
        mounts_unbind(name);
}

/* Returns whether the call has been answered. */
static bool on_open(struct supervisor *supervisor, const struct watched_call *watched)
{
    const int flags = (int)data_of(supervisor)->args[watched->flags];
    const bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    const int name = open_argument(supervisor, watched, 0, flags & O_NOFOLLOW);
    const struct known_file *copy;
    struct stat status;
    bool is_answered = false;

    if (name < 0)
        return false;
    if (fstat(name, &status) == 0 && S_ISREG(status.st_mode)) {
        copy = known_copy(&supervisor->files, &status);
        if (copy && writes)
            unbind(supervisor, name);
        else if (copy && !loads(supervisor, flags))
            is_answered = is_as_we_are(supervisor) && hand_over(supervisor, copy, flags);
        else if (!copy && !writes && !known_is_left(&supervisor->files, &status))
            on_open_other(supervisor, name, flags);
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

    if (watched->kind == CALL_STAT)
        return fstat(original, &plain) == 0 && is_waiting(supervisor) &&
               tracee_write(pid, buffer, &plain, sizeof(plain));
    return statx(original, "", AT_EMPTY_PATH, (unsigned)data_of(supervisor)->args[3], &extended) ==
               0 &&
           is_waiting(supervisor) && tracee_write(pid, buffer, &extended, sizeof(extended));
}

/* Returns whether the call has been answered. */
static bool on_stat(struct supervisor *supervisor, const struct watched_call *watched)
{
    const bool follows =
        data_of(supervisor)->nr != SYS_lstat &&
        !(watched->flags >= 0 && data_of(supervisor)->args[watched->flags] & AT_SYMLINK_NOFOLLOW);
    const int name = open_argument(supervisor, watched, 0, follows ? 0 : O_NOFOLLOW);
    const struct known_file *copy;
    struct stat status;
    bool is_answered = false;

    if (name < 0)
        return false;
    copy = fstat(name, &status) == 0 ? known_copy(&supervisor->files, &status) : NULL;
    if (copy && is_as_we_are(supervisor) && tell_of(supervisor, watched, copy->original)) {
        notification_answer(supervisor->notification);
        is_answered = true;
    }
    close(name);
    return is_answered;
}

static void on_change(struct supervisor *supervisor, const struct watched_call *watched)
{
    struct stat status;

    for (size_t i = 0; i < CALL_PATHS && watched->paths[i].path >= 0; i++) {
        const int name = open_argument(supervisor, watched, i, O_NOFOLLOW);
        if (name < 0)
            continue;
        if (fstat(name, &status) == 0 && known_copy(&supervisor->files, &status))
            unbind(supervisor, name);
        close(name);
    }
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
    case CALL_CHANGE:
        on_change(supervisor, watched);
        break;
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
    struct tracee_look own;

    if (geteuid() == 0 && tracee_look(getpid(), &own))
        supervisor->root_rights = own.rights;
    supervisor->files = known_files_new();
    supervisor->loaders = loaders_new();
    raise_descriptor_limit();
    notifications_serve(supervisor->calls, supervisor->listener, handle, supervisor);
}

/* The worker does all; should it die, its parent lets everything go on. When all is over it does,
   too: that ends at once. */
static void supervise(const struct supervisor_wish *wish, int socket)
{
    struct recording recording = *wish->recording;
    const struct supervisor_wish here = {&recording, wish->cache, wish->only_program,
                                         wish->is_verbose};
    struct supervisor supervisor = {.wish = &here, .calls = notifications_new()};
    struct lifeline *lifeline = lifeline_new();
    pid_t worker;
    char byte = 0;

    detach(wish);
    supervisor.listener = listener_receive(socket, &supervisor.program);
    if (supervisor.listener < 0 || !supervisor.calls)
        return;
    byte = lifeline && mounts_join(supervisor.program) ? 1 : 0;
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
