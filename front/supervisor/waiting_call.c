#include "front/supervisor/waiting_call.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "front/calls/rights.h"

bool call_begin(struct waiting_call *call, struct watch *watch, struct notification *notification)
{
    const struct seccomp_notif *waits = notification_call(notification);

    *call = (struct waiting_call){
        .watch = watch,
        .notification = notification,
        .data = waits->data,
        .world = call_world_of(waits->data.arch),
        .pid = (pid_t)waits->pid,
    };
    call->watched = watched_call_find(call->world, call->data.nr);
    for (size_t i = 0; call->world == CALLS_OF_I386 && i < 6; i++)
        call->data.args[i] = (uint32_t)call->data.args[i];
    return call->watched != NULL;
}

/* Else the call fails, ENOENT. With AT_EMPTY_PATH, open has no flags, and stat is not watched. */
static bool may_be_empty(const struct watched_call *watched)
{
    return watched->kind != CALL_OPEN && watched->kind != CALL_STAT &&
           watched->kind != CALL_STAT64 && watched->kind != CALL_STATX;
}

bool call_find_path(const struct waiting_call *call, size_t which, struct tracee_path *path)
{
    int folder_argument = call->watched->paths[which].folder;
    int folder = folder_argument < 0 ? AT_FDCWD : (int)call->data.args[folder_argument];
    char text[PATH_MAX];

    return tracee_string(call->pid, call->data.args[call->watched->paths[which].path], text) &&
           (*text || may_be_empty(call->watched)) &&
           tracee_find_path(call->pid, folder, text, path);
}

int call_open_path(const struct waiting_call *call, size_t which, int flags)
{
    struct tracee_path path;
    int name;

    if (!call_find_path(call, which, &path))
        return -1;
    name = tracee_path_open(&path, flags);
    tracee_path_close(&path);
    return name;
}

bool call_reaches(const struct waiting_call *call, const struct tracee_look *caller, int flags,
                  int access, const struct stat *expected)
{
    struct tracee_path path;
    struct stat status;
    bool is = false;
    int name;

    if (!call_find_path(call, 0, &path))
        return false;
    name = rights_open_path(caller, &path, flags, access);
    tracee_path_close(&path);
    if (name < 0)
        return false;
    is = fstat(name, &status) == 0 && known_is_same(&status, expected);
    close(name);
    return is;
}

bool call_may_be_served(const struct waiting_call *call, struct tracee_look *caller)
{
    return tracee_look(call->pid, caller) && rights_are_free(call->pid, caller);
}

bool call_is_left_alone(const struct waiting_call *call)
{
    return call->watch->only_program && !tracee_is_of(call->pid, call->watch->program);
}

bool call_is_traced(const struct waiting_call *call)
{
    struct tracee_look caller;

    return tracee_look(call->pid, &caller) && caller.is_traced;
}

bool call_is_waiting(const struct waiting_call *call)
{
    return notification_claim(call->notification);
}

int call_follow_flags(const struct waiting_call *call)
{
    const struct watched_call *watched = call->watched;
    uint64_t flags = watched->flags < 0 ? 0 : call->data.args[watched->flags];
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

bool call_end(const struct waiting_call *call, int error)
{
    return notification_answer(call->notification, error);
}

bool call_end_with_file(const struct waiting_call *call, int file, int flags)
{
    struct seccomp_notif_addfd answer = {
        .id = notification_call(call->notification)->id,
        .flags = SECCOMP_ADDFD_FLAG_SEND,
        .srcfd = (uint32_t)file,
        .newfd_flags = (uint32_t)(flags & O_CLOEXEC),
    };

    return ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &answer) >= 0;
}
