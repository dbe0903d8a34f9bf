/*
 * The system calls that the agent makes in a program, and what a seccomp filter would answer to them: the agent looks
 * at filters before they are installed (hooks/linux/confinement.h), the service at those of a program that it attaches
 * to (service/attach/linux/attach_filters.h).
 */
#ifndef UMBRA_SUPPORT_AGENT_CALLS_H
#define UMBRA_SUPPORT_AGENT_CALLS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/system_calls.h"

/* With arguments that filters look at. */
struct system_call {
    uint16_t number;
    char name[22]; /* for people; no pointer, which would have to be relocated */
    uint64_t arguments[6];
};

#define SYSTEM_CALL(name, ...) {SYS_##name, #name, {__VA_ARGS__}}
#define SYSTEM_CALL_ANY        0x1000 /* an address, which filters cannot look behind */

/* Those after its start. Of a call that stands here more than once, all must be allowed. */
extern const struct system_call agent_calls[] __attribute__((visibility("hidden")));
extern const uint32_t agent_call_count __attribute__((visibility("hidden")));

/* A SECCOMP_RET_ value, of a filter's program (support/filter_program.h). Nobody knows from where the call is made. */
uint32_t system_call_answer(const struct sock_filter *program, uint32_t length, const struct system_call *call);

/* The kernel makes the call, and nobody is asked. */
bool system_call_is_allowed(uint32_t answer);

#endif
