#include "front/supervisor/on_look.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "front/calls/rights.h"
#include "front/calls/stat_answer.h"
#include "trace/answered_calls.h"

#define STAT_FLAGS   (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE)
#define ACCESS_FLAGS (AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)

static int look_flags(const struct waiting_call *call)
{
    return call->watched->flags < 0 ? 0 : (int)call->data.args[call->watched->flags];
}

/* Else the call fails, EINVAL. */
static bool has_known_flags(const struct waiting_call *call, int known)
{
    int flags = look_flags(call);

    return !(flags & ~known) && (flags & AT_STATX_SYNC_TYPE) != AT_STATX_SYNC_TYPE;
}

/* What the kernel says if it can write but a part: some of that may have been the path, so that the
   call cannot be left to it any more. */
static int error_of_write(size_t written, size_t size)
{
    return written == size ? 0 : EFAULT;
}

static int tell_status(const struct waiting_call *call, int original, uint64_t buffer)
{
    struct stat_answer answer;
    struct stat status;
    size_t written = 0;

    if (fstat(original, &status) < 0)
        return -1;
    if (!stat_answer_make(&answer, &status, call->world, call->watched->kind))
        return EOVERFLOW;
    if (call_is_waiting(call))
        written = tracee_write(call->pid, buffer, &answer.bytes, answer.size);
    return written ? error_of_write(written, answer.size) : -1;
}

/* Writes what stat says of the original. -1: nothing was written; else what the call ends with. */
static int tell_of(const struct waiting_call *call, int original)
{
    uint64_t buffer = call->data.args[call->watched->buffer];
    struct statx extended;
    size_t written = 0;
    int flags;

    if (call->watched->kind != CALL_STATX)
        return tell_status(call, original, buffer);
    flags = AT_EMPTY_PATH | (int)(call->data.args[2] & AT_STATX_SYNC_TYPE);
    if (statx(original, "", flags, (unsigned)call->data.args[3], &extended) == 0 &&
        call_is_waiting(call))
        written = tracee_write(call->pid, buffer, &extended, sizeof(extended));
    return written ? error_of_write(written, sizeof(extended)) : -1;
}

bool on_stat(const struct waiting_call *call)
{
    int flags = call_follow_flags(call);
    int name = has_known_flags(call, STAT_FLAGS) ? call_open_path(call, 0, flags) : -1;
    const struct known_file *copy;
    struct tracee_look caller;
    struct stat status;
    int error = -1;

    if (name < 0)
        return false;
    copy = fstat(name, &status) == 0 ? known_copy(&call->watch->placing.files, &status) : NULL;
    if (copy && call_may_be_served(call, &caller) &&
        call_reaches(call, &caller, flags, F_OK, &status))
        error = tell_of(call, copy->original);
    close(name);
    return error >= 0 && call_end(call, error);
}

/* The kernel would find the copy, which is mounted read-only. */
bool on_access(const struct waiting_call *call)
{
    int flags = look_flags(call);
    int follow = call_follow_flags(call);
    int name = has_known_flags(call, ACCESS_FLAGS) ? call_open_path(call, 0, follow) : -1;
    const struct known_file *copy;
    struct tracee_look caller;
    struct stat status;
    int error = 0, mode;

    if (name < 0)
        return false;
    copy = fstat(name, &status) == 0 ? known_copy(&call->watch->placing.files, &status) : NULL;
    close(name);
    if (!copy || !call_may_be_served(call, &caller))
        return false;
    if (!(flags & AT_EACCESS))
        tracee_become_real(&caller);
    if (!call_reaches(call, &caller, follow, F_OK, &status) || !rights_take(&caller))
        return false;
    mode = (int)call->data.args[answered_call_find(call->world, call->data.nr)->argument];
    if (!rights_allow(copy->original, mode))
        error = errno;
    rights_give_back();
    return call_end(call, error);
}
