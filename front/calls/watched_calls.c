#include "front/calls/watched_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "trace/answered_calls.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* since Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif

#define X32_BIT 0x40000000u

#define NONE CALL_NONE
#define ONE(path)                                                                                  \
    {                                                                                              \
        {NONE, path},                                                                              \
        {                                                                                          \
            NONE, NONE                                                                             \
        }                                                                                          \
    }
#define ONE_AT(folder)                                                                             \
    {                                                                                              \
        {folder, (folder) + 1},                                                                    \
        {                                                                                          \
            NONE, NONE                                                                             \
        }                                                                                          \
    }
#define TWO(first)                                                                                 \
    {                                                                                              \
        {NONE, first},                                                                             \
        {                                                                                          \
            NONE, (first) + 1                                                                      \
        }                                                                                          \
    }
#define TWO_AT(first)                                                                              \
    {                                                                                              \
        {first, (first) + 1},                                                                      \
        {                                                                                          \
            (first) + 2, (first) + 3                                                               \
        }                                                                                          \
    }
#define CHANGE(call, flags, follow, ...)                                                           \
    {                                                                                              \
        SYS_##call, CALL_CHANGE, __VA_ARGS__, flags, NONE, FOLLOW_##follow                         \
    }
#define NO_PATHS                                                                                   \
    {                                                                                              \
        {NONE, NONE},                                                                              \
        {                                                                                          \
            NONE, NONE                                                                             \
        }                                                                                          \
    }

static const struct watched_call calls[] = {
    {SYS_execve, CALL_EXECUTE, ONE(0), NONE, NONE, FOLLOW_NEVER},
    {SYS_execveat, CALL_EXECUTE, ONE_AT(0), 4, NONE, FOLLOW_NEVER},
    {SYS_open, CALL_OPEN, ONE(0), 1, NONE, FOLLOW_NEVER},
    {SYS_openat, CALL_OPEN, ONE_AT(0), 2, NONE, FOLLOW_NEVER},
    {SYS_stat, CALL_STAT, ONE(0), NONE, 1, FOLLOW_NEVER},
    {SYS_lstat, CALL_STAT, ONE(0), NONE, 1, FOLLOW_NEVER},
    {SYS_newfstatat, CALL_STAT, ONE_AT(0), 3, 2, FOLLOW_NEVER},
    {SYS_statx, CALL_STATX, ONE_AT(0), 2, 4, FOLLOW_NEVER},
    {SYS_access, CALL_ACCESS, ONE(0), NONE, NONE, FOLLOW_NEVER},
    {SYS_faccessat, CALL_ACCESS, ONE_AT(0), NONE, NONE, FOLLOW_NEVER},
    {SYS_faccessat2, CALL_ACCESS, ONE_AT(0), 3, NONE, FOLLOW_NEVER},
    CHANGE(creat, NONE, ALWAYS, ONE(0)),
    CHANGE(truncate, NONE, ALWAYS, ONE(0)),
    CHANGE(unlink, NONE, NEVER, ONE(0)),
    CHANGE(unlinkat, NONE, NEVER, ONE_AT(0)),
    CHANGE(rename, NONE, NEVER, TWO(0)),
    CHANGE(renameat, NONE, NEVER, TWO_AT(0)),
    CHANGE(renameat2, NONE, NEVER, TWO_AT(0)),
    CHANGE(link, NONE, NEVER, ONE(0)),
    CHANGE(linkat, 4, IF_ASKED, ONE_AT(0)),
    CHANGE(chmod, NONE, ALWAYS, ONE(0)),
    CHANGE(fchmodat, NONE, ALWAYS, ONE_AT(0)),
    CHANGE(fchmodat2, 3, ALWAYS, ONE_AT(0)),
    CHANGE(chown, NONE, ALWAYS, ONE(0)),
    CHANGE(lchown, NONE, NEVER, ONE(0)),
    CHANGE(fchownat, 4, ALWAYS, ONE_AT(0)),
    CHANGE(utime, NONE, ALWAYS, ONE(0)),
    CHANGE(utimes, NONE, ALWAYS, ONE(0)),
    CHANGE(futimesat, NONE, ALWAYS, ONE_AT(0)),
    CHANGE(utimensat, 3, ALWAYS, ONE_AT(0)),
    CHANGE(setxattr, NONE, ALWAYS, ONE(0)),
    CHANGE(lsetxattr, NONE, NEVER, ONE(0)),
    CHANGE(removexattr, NONE, ALWAYS, ONE(0)),
    CHANGE(lremovexattr, NONE, NEVER, ONE(0)),
    {SYS_seccomp, CALL_CONFINE, NO_PATHS, NONE, NONE, FOLLOW_NEVER},
    {SYS_prctl, CALL_CONFINE, NO_PATHS, NONE, NONE, FOLLOW_NEVER},
    {SYS_landlock_restrict_self, CALL_CONFINE, NO_PATHS, NONE, NONE, FOLLOW_NEVER},
};

#define CALLS (sizeof(calls) / sizeof(*calls))

_Static_assert(CALLS == ANSWERED_CALLS, "a call is in one of the two tables only");

const struct watched_call *watched_call_find(int number)
{
    number &= (int)~X32_BIT;
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

#define LOAD(field)      LOAD_AT(offsetof(struct seccomp_data, field))
#define LOAD_AT(offset)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offset))
#define RETURN(value)    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##value)
#define RETURN_ERROR(of) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (of))
#define JUMP(how, value, true_steps, false_steps)                                                  \
    BPF_JUMP(BPF_JMP | BPF_K | BPF_##how, (unsigned)(value), true_steps, false_steps)
#define EMIT(...) program[at++] = (struct sock_filter)__VA_ARGS__

#define MOST_STEPS     7 /* of a call */
#define QUESTION_STEPS 6

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
static size_t emit_call(struct sock_filter *program, const struct answered_call *call)
{
    size_t look = call->look == ANSWERED_ALWAYS ? 0 : emit_look(program + 1, call);
    size_t at = 0;

    EMIT(JUMP(JEQ, call->number, 0, (unsigned char)(look + 1)));
    at += look;
    EMIT(RETURN(USER_NOTIF));
    return at;
}

/* gettid? -> the question, both halves of it? -> the answer */
static size_t emit_question(struct sock_filter *program)
{
    size_t at = 0;

    EMIT(JUMP(JEQ, SYS_gettid, 0, QUESTION_STEPS - 1));
    EMIT(LOAD(args[0]));
    EMIT(JUMP(JEQ, ANSWERED_QUESTION, 0, 3));
    EMIT(LOAD_AT(offsetof(struct seccomp_data, args) + sizeof(uint32_t)));
    EMIT(JUMP(JEQ, ANSWERED_QUESTION >> 32, 0, 1));
    EMIT(RETURN_ERROR(ANSWERED_ERROR));
    return at;
}

/*
 *      landlock_restrict_self -> notify: its number is the same in all three worlds
 *      not x86-64, or x32     -> allow
 *      number of a call       -> notify, the calls with flags by way of a look at them
 *      gettid, and a question -> the answer: trace/answered_calls.h
 *      anything else          -> allow
 */
static size_t make_program(struct sock_filter *program)
{
    size_t at = 0;

    EMIT(LOAD(nr));
    EMIT(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~X32_BIT));
    EMIT(JUMP(JEQ, SYS_landlock_restrict_self, 0, 1));
    EMIT(RETURN(USER_NOTIF));
    EMIT(LOAD(arch));
    EMIT(JUMP(JEQ, AUDIT_ARCH_X86_64, 1, 0));
    EMIT(RETURN(ALLOW));
    EMIT(LOAD(nr));
    EMIT(JUMP(JSET, X32_BIT, 0, 1));
    EMIT(RETURN(ALLOW));
    for (size_t i = 0; i < ANSWERED_CALLS; i++)
        at += emit_call(program + at, &answered_calls[i]);
    at += emit_question(program + at);
    EMIT(RETURN(ALLOW));
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

/* Who may not mount may not have a filter either, unless nothing that it executes gains rights.
   That is not asked for: set-uid programs of a recording by root run as ever. */
int filter_install(void)
{
    struct sock_filter program[10 + MOST_STEPS * CALLS + QUESTION_STEPS + 1];
    const struct sock_fprog whole = {(unsigned short)make_program(program), program};

    return install(&whole);
}
