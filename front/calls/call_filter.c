#include "front/calls/call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <sys/syscall.h>

#include "front/calls/watched_calls.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* since Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif

#define LOAD(field)      LOAD_AT(offsetof(struct seccomp_data, field))
#define LOAD_AT(offset)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offset))
#define RETURN(value)    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##value)
#define RETURN_ERROR(of) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (of))
#define JUMP(how, value, true_steps, false_steps)                                                  \
    BPF_JUMP(BPF_JMP | BPF_K | BPF_##how, (unsigned)(value), true_steps, false_steps)
#define EMIT(...) program[at++] = (struct sock_filter)__VA_ARGS__

/* What `look` is at: steps that end in ALLOW, or jump behind it, where NOTIFY is. */
static size_t emit_look(struct sock_filter *program, const struct answered_call *call)
{
    unsigned value = call->value;
    size_t at = 0;

    EMIT(LOAD_AT(offsetof(struct seccomp_data, args) + 8 * (size_t)call->argument));
    switch (call->look) {
    case ANSWERED_EQUAL:
        EMIT(JUMP(JEQ, value, 1, 0));
        break;
    case ANSWERED_A_BIT:
        EMIT(JUMP(JSET, value, 1, 0));
        break;
    case ANSWERED_NO_FILE:
        EMIT(JUMP(JSET, value, 0, 3));
        EMIT(LOAD(args[0]));
        EMIT(JUMP(JEQ, AT_FDCWD, 1, 0));
        break;
    default:
        EMIT(JUMP(JSET, value, 0, 1));
        break;
    }
    EMIT(RETURN(ALLOW));
    return at;
}

/* number of the call? -> a look at it, if there is one to be taken -> notify */
static size_t emit_call(struct sock_filter *program, const struct answered_call *call,
                        enum call_world world)
{
    size_t look = call->look == ANSWERED_ALWAYS ? 0 : emit_look(program + 1, call);
    size_t at = 0;

    EMIT(JUMP(JEQ, call->numbers[world], 0, (unsigned char)(look + 1)));
    at += look;
    EMIT(RETURN(USER_NOTIF));
    return at;
}

/* gettid? -> the question, both halves of it? -> the answer. An argument of i386 has one half. */
static size_t emit_question(struct sock_filter *program, enum call_world world)
{
    static const size_t high[CALL_WORLDS] = {sizeof(uint32_t), sizeof(uint64_t)};
    static const int numbers[CALL_WORLDS] = CALL_IN_BOTH(gettid);
    size_t at = 0;

    EMIT(JUMP(JEQ, numbers[world], 0, CALL_FILTER_QUESTION - 1));
    EMIT(LOAD(args[0]));
    EMIT(JUMP(JEQ, ANSWERED_QUESTION, 0, 3));
    EMIT(LOAD_AT(offsetof(struct seccomp_data, args) + high[world]));
    EMIT(JUMP(JEQ, ANSWERED_QUESTION >> 32, 0, 1));
    EMIT(RETURN_ERROR(ANSWERED_ERROR));
    return at;
}

/* The number is loaded. */
static size_t emit_world(struct sock_filter *program, enum call_world world)
{
    size_t at = 0;

    for (size_t i = 0; i < ANSWERED_CALLS; i++)
        if (answered_calls[i].numbers[world] != CALL_HAS_NONE)
            at += emit_call(program + at, &answered_calls[i], world);
    at += emit_question(program + at, world);
    EMIT(RETURN(ALLOW));
    return at;
}

/* Those of i386 are further away than a step with a condition can jump. */
size_t call_filter_make(struct sock_filter program[CALL_FILTER_ROOM])
{
    size_t at = 0, jump;

    EMIT(LOAD(nr));
    EMIT(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~CALL_X32_BIT));
    EMIT(JUMP(JEQ, SYS_landlock_restrict_self, 0, 1));
    EMIT(RETURN(USER_NOTIF));
    EMIT(LOAD(arch));
    EMIT(JUMP(JEQ, AUDIT_ARCH_X86_64, 3, 0));
    EMIT(JUMP(JEQ, AUDIT_ARCH_I386, 0, 1));
    jump = at++;
    EMIT(RETURN(ALLOW));
    EMIT(LOAD(nr));
    EMIT(JUMP(JSET, CALL_X32_BIT, 0, 1));
    EMIT(RETURN(ALLOW));
    at += emit_world(program + at, CALLS_OF_X86_64);
    program[jump] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (unsigned)(at - jump - 1));
    EMIT(LOAD(nr));
    at += emit_world(program + at, CALLS_OF_I386);
    return at;
}

static int install(const struct sock_fprog *program)
{
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program);

    if (listener < 0 && errno == EINVAL)
        listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
    return listener;
}

int call_filter_install(void)
{
    struct sock_filter program[CALL_FILTER_ROOM];
    const struct sock_fprog whole = {(unsigned short)call_filter_make(program), program};

    return install(&whole);
}
