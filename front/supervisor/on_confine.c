#include "front/supervisor/on_confine.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "front/calls/rights.h"

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
static bool on_filter(const struct waiting_call *call, uint64_t program)
{
    return asks_tracer(call->pid, program) && call_end(call, EINVAL);
}

bool on_confine(const struct waiting_call *call)
{
    const struct seccomp_data *data = call->data;
    uint32_t action;

    if (data->nr == SYS_prctl)
        return data->args[1] == SECCOMP_MODE_FILTER && on_filter(call, data->args[2]);
    if (data->nr != SYS_seccomp) {
        rights_see_landlock(call->pid);
        return false;
    }
    if (data->args[0] == SECCOMP_GET_ACTION_AVAIL)
        return tracee_read(call->pid, data->args[2], &action, sizeof(action)) &&
               action == SECCOMP_RET_TRACE && call_end(call, EOPNOTSUPP);
    return data->args[0] == SECCOMP_SET_MODE_FILTER && on_filter(call, data->args[2]);
}
