#include "rewriter/flow/flow_syscalls.h"

#include "support/sorted.h"

#define X86_RAX  0
#define FARTHEST 32 /* instructions between number and call, at most */

void flow_syscalls_read(struct flow_syscalls *syscalls, const struct flow_source *source,
                        const struct function *function)
{
    if (flow_body_read(&syscalls->body, source, function) != FLOW_CERTAIN ||
        !flow_steps_read(&syscalls->steps, &syscalls->body))
        flow_syscalls_free(syscalls);
}

void flow_syscalls_free(struct flow_syscalls *syscalls)
{
    flow_steps_free(&syscalls->steps);
    flow_body_free(&syscalls->body);
}

/* Whether what is in rax in front of it may not be there behind it, or it is not followed by the
 * next. */
static bool is_barrier(const struct flow_body *body, const struct step *step)
{
    const uint8_t *bytes = body->bytes + step->offset;
    bool is_syscall = step->length == 2 && bytes[0] == 0x0f && bytes[1] == 0x05;

    return is_syscall || step->writes & 1u << X86_RAX ||
           (step->flow != FLOW_NEXT && step->flow != FLOW_CONDITION);
}

int32_t flow_syscalls_number(const struct flow_syscalls *syscalls, uint64_t address)
{
    const struct flow_body *body = &syscalls->body;
    const struct step *items = syscalls->steps.items;
    uint64_t offset = address - body->address;
    size_t at = partition_point(i, syscalls->steps.count, items[i].offset < offset);

    if (at == syscalls->steps.count)
        return SYSCALL_UNKNOWN;
    for (size_t end = at < FARTHEST ? 0 : at - FARTHEST; at > end; at--) {
        const struct step *before = &items[at - 1];

        if (body->joins[items[at].offset / 64] >> items[at].offset % 64 & 1)
            break;
        if (before->kind == STEP_NUMBER && before->to == X86_RAX && before->to_size >= 4)
            return (int32_t)before->number;
        if (is_barrier(body, before))
            break;
    }
    return SYSCALL_UNKNOWN;
}
