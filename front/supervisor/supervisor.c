#include "front/supervisor/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "front/base/making_line.h"
#include "front/calls/lifeline.h"
#include "front/calls/listener.h"
#include "front/calls/loaders.h"
#include "front/calls/notifications.h"
#include "front/calls/rights.h"
#include "front/calls/watched_calls.h"
#include "front/files/bind_mount.h"
#include "front/supervisor/known_files.h"
#include "front/supervisor/on_change.h"
#include "front/supervisor/on_confine.h"
#include "front/supervisor/on_execute.h"
#include "front/supervisor/on_look.h"
#include "front/supervisor/on_open.h"
#include "front/supervisor/waiting_call.h"

/* Returns whether the call has been answered. */
static bool answer(const struct waiting_call *call)
{
    switch (call->watched->kind) {
    case CALL_EXECUTE:
        on_execute(call);
        break;
    case CALL_OPEN:
        return on_open(call);
    case CALL_STAT:
    case CALL_STAT64:
    case CALL_STATX:
        return on_stat(call);
    case CALL_ACCESS:
        return on_access(call);
    case CALL_WRITE:
    case CALL_CHANGE:
        return on_change(call);
    case CALL_CONFINE:
        return on_confine(call);
    }
    return false;
}

/* Returns whether the call has been answered; called by several threads. */
static bool handle(void *context, struct notification *notification)
{
    struct waiting_call call;

    return call_begin(&call, context, notification) && answer(&call);
}

/* Landlock is seen, though it is not handled. */
static void pass(void *context, const struct seccomp_notif *call)
{
    const struct watched_call *watched =
        watched_call_find(call_world_of(call->data.arch), call->data.nr);

    (void)context;
    if (watched && watched->numbers[CALLS_OF_X86_64] == SYS_landlock_restrict_self)
        rights_see_landlock((pid_t)call->pid);
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
    int nothing = open("/dev/null", O_RDWR);

    setsid();
    signal(SIGHUP, SIG_IGN);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (!wish->is_verbose)
        dup2(nothing, STDERR_FILENO);
    if (nothing > STDERR_FILENO)
        close(nothing);
}

static void work(struct notifications *calls, struct watch *watch, int terminal, int owner)
{
    const struct notification_handlers handlers = {handle, pass, watch};

    watch->placing.files = known_files_new();
    watch->loaders = loaders_new();
    raise_descriptor_limit();
    making_line_begin(terminal, owner);
    notifications_serve(calls, watch->listener, &handlers);
}

/* The worker does all; should it die, its parent lets everything go on. When all is over it does,
   too: that ends at once. */
static void supervise(const struct supervisor_wish *wish, int socket)
{
    struct recording recording = *wish->recording;
    struct watch watch = {
        .only_program = wish->only_program,
        .placing = {.recording = &recording, .cache = wish->cache, .leave = wish->leave},
    };
    struct notifications *calls = notifications_new();
    struct lifeline *lifeline = lifeline_new();
    int owner = wish->terminal >= 0 ? pidfd_open(getppid(), 0) : -1;
    pid_t worker;
    char byte = 0;

    detach(wish);
    watch.listener = listener_receive(socket, &watch.program);
    if (watch.listener < 0 || !calls)
        return;
    byte = lifeline && mounts_join(watch.program) && rights_begin(watch.program) ? 1 : 0;
    fcntl(recording.directory, F_SETFD, FD_CLOEXEC); /* `instrument` has no use for it */
    recording_find_again(&recording);
    worker = byte ? fork() : -1;
    if (worker == 0) {
        lifeline_hold(lifeline);
        if (write(socket, &byte, 1) == 1) {
            close(socket);
            work(calls, &watch, wish->terminal, owner);
        }
        _exit(0);
    }
    if (worker < 0 && write(socket, &byte, 1) < 0)
        return;
    close(socket);
    close(owner);
    close(wish->terminal);
    if (worker > 0)
        lifeline_wait(lifeline);
    notifications_let_go_on(calls, watch.listener, worker);
}

pid_t supervisor_start(const struct supervisor_wish *wish, int *program)
{
    int ends[2];
    int on = 1;
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
