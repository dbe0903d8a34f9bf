/* Which system calls a function makes: the numbers that it loads for its `syscall` instructions. */
#ifndef UMBRA_REWRITER_FLOW_SYSCALLS_H
#define UMBRA_REWRITER_FLOW_SYSCALLS_H

#include "rewriter/flow/flow_steps.h"

#define SYSCALL_UNKNOWN (-1)

/* {0} is an empty one, of a function of which nothing is known. */
struct flow_syscalls {
    struct flow_body body;
    struct flow_steps steps;
};

/* Reads the source's code and functions only. */
void flow_syscalls_read(struct flow_syscalls *syscalls, const struct flow_source *source,
                        const struct function *function);
void flow_syscalls_free(struct flow_syscalls *syscalls);

/*
 * The number of the one at an address; SYSCALL_UNKNOWN where it may be another, as in the C library's
 * syscall(), whose caller says:
 *
 *          mov eax, 257        the last that writes rax, a number
 *          mov edi, …          a few others
 *          syscall             to which only that leads
 */
int32_t flow_syscalls_number(const struct flow_syscalls *syscalls, uint64_t address);

#endif
