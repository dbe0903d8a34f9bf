#include "front/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
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
#include "front/bind_mount.h"
#include "front/cache_limit.h"
#include "front/recorded_image.h"
#include "front/say.h"
#include "front/tracee.h"
#include "support/memory.h"
#include "support/regular_file.h"
#include "support/utf8.h"

#define MOST_INTERPRETERS 5 /* of a script whose interpreter is a script; the kernel's limit */
#define LOADERS           256

struct supervisor {
    const struct supervisor_wish *wish;
    int listener;
    pid_t program;
    struct known_files files;
    uint64_t root_rights; /* that who is to be like us must have; 0 if we are not root */
    /* Processes whose linker was seen at work, each in the place that its pid has, until it
       executes something. A pid that is used again begins by executing something, or as the child
       of one that has: then its linker lies where it lies in that one. */
    struct loader {
        pid_t pid;
        struct tracee_linker linker;
    } loaders[LOADERS];
    struct seccomp_notif *call;
    size_t call_size;
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
    char path[PATH_MAX], reason[CACHE_REASON_SIZE];
    struct cached_file copy;
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
    if (cache_get(supervisor->wish->cache, file, path, &copy, reason) == CACHED)
        put_in_place(supervisor, name, status, path, copy.path);
    else
        leave(supervisor, status, path, reason);
    if (copy.file >= 0)
        close(copy.file);
    cache_trim(supervisor->wish->cache);
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
        instrument(supervisor, name, file, &status);
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

static struct loader *loader_of(struct supervisor *supervisor)
{
    return &supervisor->loaders[supervisor->call->pid % LOADERS];
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

    loader_of(supervisor)->pid = 0;
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
    struct loader *loader = loader_of(supervisor);
    struct tracee_linker linker;

    if (!opens_as_linker(flags))
        return false;
    if (loader->pid == pid && instruction >= loader->linker.begin &&
        instruction < loader->linker.end)
        return true;
    if (!tracee_find_linker(pid, instruction, &linker) || is_traced(supervisor))
        return false;
    *loader = (struct loader){pid, linker};
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

static void answer(const struct supervisor *supervisor)
{
    struct seccomp_notif_resp answer = {.id = supervisor->call->id};

    ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Whether the call still waits: else its process may be gone, and its pid another's. */
static bool is_waiting(const struct supervisor *supervisor)
{
    return ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &supervisor->call->id) == 0;
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
        answer(supervisor);
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
static bool handle(struct supervisor *supervisor)
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

static void let_go_on(const struct supervisor *supervisor)
{
    struct seccomp_notif_resp answer = {.id = supervisor->call->id,
                                        .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

    ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Returns when the last process with the filter is gone. */
static void serve(struct supervisor *supervisor, bool (*handler)(struct supervisor *))
{
    struct pollfd waiting = {supervisor->listener, POLLIN, 0};

    for (;;) {
        if (poll(&waiting, 1, -1) < 0 && errno != EINTR)
            return;
        if (waiting.revents & POLLIN) {
            memset(supervisor->call, 0, supervisor->call_size);
            if (ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_RECV, supervisor->call) < 0)
                continue; /* the caller is gone */
            if (!handler || !handler(supervisor))
                let_go_on(supervisor);
        } else if (waiting.revents & (POLLHUP | POLLERR)) {
            return;
        }
    }
}

/* --- beginning and end --- */

/* The listener and the pid that the kernel says; -1 if nobody comes. */
static int receive_listener(int socket, pid_t *pid)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control;
    char byte;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    int listener = -1;

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at)) {
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS)
            memcpy(&listener, CMSG_DATA(at), sizeof(listener));
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_CREDENTIALS) {
            struct ucred peer;
            memcpy(&peer, CMSG_DATA(at), sizeof(peer));
            *pid = peer.pid;
        }
    }
    return listener;
}

bool supervisor_tell(int socket, int listener)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte = 0;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &listener, sizeof(listener));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 && read(socket, &byte, 1) == 1;
}

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
    raise_descriptor_limit();
    serve(supervisor, handle);
}

/* The worker does all; should it die, its parent lets everything go on. */
static void supervise(const struct supervisor_wish *wish, int socket)
{
    struct recording recording = *wish->recording;
    const struct supervisor_wish here = {&recording, wish->cache, wish->only_program,
                                         wish->is_verbose};
    struct supervisor supervisor = {.wish = &here};
    struct seccomp_notif_sizes sizes = {0};
    int status = 0;
    pid_t worker;
    char byte = 0;

    detach(wish);
    supervisor.listener = receive_listener(socket, &supervisor.program);
    if (supervisor.listener < 0)
        return;
    syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    supervisor.call_size = sizes.seccomp_notif > sizeof(*supervisor.call)
                               ? sizes.seccomp_notif
                               : sizeof(*supervisor.call);
    supervisor.call = memory_zeroed(1, supervisor.call_size);
    byte = mounts_join(supervisor.program) ? 1 : 0;
    recording_find_again(&recording);
    worker = byte ? fork() : -1;
    if (worker == 0) {
        if (write(socket, &byte, 1) == 1) {
            close(socket);
            work(&supervisor);
        }
        _exit(0);
    }
    if (worker < 0 && write(socket, &byte, 1) < 0)
        return;
    close(socket);
    if (worker < 0 || waitpid(worker, &status, 0) != worker || status != 0)
        serve(&supervisor, NULL);
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
