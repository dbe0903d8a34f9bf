#include "front/supervisor/on_confine.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "front/calls/rights.h"

/* struct sock_fprog of i386. */
struct sock_fprog_i386 {
    uint16_t len;
    uint32_t filter;
};

/* Where the steps are that a struct sock_fprog of the caller leads to. */
static bool find_steps(const struct waiting_call *call, uint64_t address, uint64_t *at,
                       uint16_t *count)
{
    struct sock_fprog_i386 narrow;
    struct sock_fprog wide;

    if (call->world == CALLS_OF_I386) {
        if (!tracee_read(call->pid, address, &narrow, sizeof(narrow)))
            return false;
        *at = narrow.filter;
        *count = narrow.len;
        return true;
    }
    if (!tracee_read(call->pid, address, &wide, sizeof(wide)))
        return false;
    *at = (uint64_t)(uintptr_t)wide.filter;
    *count = wide.len;
    return true;
}

/* Whether a seccomp filter asks a tracer. It would not be asked: our filter's answer comes first.
 */
static bool asks_tracer(const struct waiting_call *call, uint64_t address)
{
    struct sock_filter steps[BPF_MAXINSNS];
    uint16_t count;
    uint64_t at;

    if (!find_steps(call, address, &at, &count) || count > BPF_MAXINSNS ||
        !tracee_read(call->pid, at, steps, count * sizeof(*steps)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (steps[i].code == (BPF_RET | BPF_K) &&
            (steps[i].k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE)
            return true;
    return false;
}

/* strace --seccomp-bpf and proot then stop at each system call instead. */
static bool on_filter(const struct waiting_call *call, uint64_t program)
{
    return asks_tracer(call, program) && call_end(call, EINVAL);
}

bool on_confine(const struct waiting_call *call)
{
    const struct seccomp_data *data = &call->data;
    int number = call->watched->numbers[CALLS_OF_X86_64];
    uint32_t action;

    if (number == SYS_prctl)
        return data->args[1] == SECCOMP_MODE_FILTER && on_filter(call, data->args[2]);
    if (number != SYS_seccomp) {
        rights_see_landlock(call->pid);
        return false;
    }
    if (data->args[0] == SECCOMP_GET_ACTION_AVAIL)
        return tracee_read(call->pid, data->args[2], &action, sizeof(action)) &&
               action == SECCOMP_RET_TRACE && call_end(call, EOPNOTSUPP);
    return data->args[0] == SECCOMP_SET_MODE_FILTER && on_filter(call, data->args[2]);
}
