#include "front/supervisor/on_change.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "front/calls/rights.h"

static void unbind(const struct waiting_call *call, int name, const struct known_file *copy,
                   bool is_run)
{
    if (tracee_sees_ours(call->pid))
        placing_undo(&call->watch->placing, name, copy, is_run);
}

/* Whether the caller may write to the original. */
static bool may_write(const struct waiting_call *call, int flags, const struct known_file *copy,
                      const struct stat *status)
{
    struct tracee_look caller;
    bool may;

    if (!call_may_be_served(call, &caller) || !call_reaches(call, &caller, flags, F_OK, status) ||
        !rights_take(&caller))
        return false;
    may = rights_allow(copy->original, W_OK);
    rights_give_back();
    return may;
}

bool on_write(const struct waiting_call *call, int name, int flags, const struct known_file *copy,
              const struct stat *status)
{
    bool is_run = tracee_runs_somewhere(status);

    if (is_run && may_write(call, flags, copy, status) && call_end(call, ETXTBSY))
        return true;
    unbind(call, name, copy, is_run);
    return false;
}

bool on_write_below(const struct waiting_call *call, int flags, const struct stat *original)
{
    const struct known_files *files = &call->watch->placing.files;
    const struct known_file *copy = known_copy_of(files, original);
    char link[64], path[PATH_MAX];
    bool is_answered = false;
    struct stat status;
    ssize_t length;
    int name;

    if (!copy)
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", copy->original);
    length = readlink(link, path, sizeof(path) - 1);
    if (length <= 0)
        return false;
    path[length] = 0;
    name = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (name < 0)
        return false;
    if (fstat(name, &status) == 0 && known_copy(files, &status) == copy)
        is_answered = on_write(call, name, flags, copy, &status);
    close(name);
    return is_answered;
}

bool on_change(const struct waiting_call *call)
{
    const struct watched_call *watched = call->watched;
    bool writes = watched->kind == CALL_WRITE;
    int flags = call_follow_flags(call);
    bool is_answered = false;
    struct stat status;

    for (size_t i = 0; i < CALL_PATHS && watched->paths[i].path >= 0; i++) {
        int name = call_open_path(call, i, flags);
        const struct known_file *copy;
        if (name < 0)
            continue;
        copy = fstat(name, &status) == 0 ? known_copy(&call->watch->placing.files, &status) : NULL;
        if (copy && writes)
            is_answered = on_write(call, name, flags, copy, &status);
        else if (!copy && writes && S_ISREG(status.st_mode))
            is_answered = on_write_below(call, flags, &status);
        else if (copy)
            unbind(call, name, copy, tracee_runs_somewhere(&status));
        close(name);
    }
    return is_answered;
}
