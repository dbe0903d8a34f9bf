#include "front/calls/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* since Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif
#ifndef SYS_fchmodat2 /* since Linux 6.6 */
#define SYS_fchmodat2 452
#endif

#define X32_BIT      0x40000000u
#define NEVER_OPENED (O_DIRECTORY | O_PATH) /* what is opened so is no file to read */

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
        SYS_##call, CALL_CHANGE, __VA_ARGS__, flags, NONE, ALWAYS, FOLLOW_##follow                 \
    }
#define NO_PATHS                                                                                   \
    {                                                                                              \
        {NONE, NONE},                                                                              \
        {                                                                                          \
            NONE, NONE                                                                             \
        }                                                                                          \
    }
#define ALWAYS                                                                                     \
    {                                                                                              \
        LOOK_AT_NONE, NONE, 0                                                                      \
    }
#define UNLESS(argument, bits)                                                                     \
    {                                                                                              \
        LOOK_NO_BIT, argument, bits                                                                \
    }
/* fstat is a call of many with AT_EMPTY_PATH, and is not watched: a descriptor was opened before.
 */
#define NO_FSTAT(argument)                                                                         \
    {                                                                                              \
        LOOK_NO_FILE, argument, AT_EMPTY_PATH                                                      \
    }
#define HAS(argument, bits)                                                                        \
    {                                                                                              \
        LOOK_A_BIT, argument, bits                                                                 \
    }
#define IF(argument, value)                                                                        \
    {                                                                                              \
        LOOK_EQUAL, argument, value                                                                \
    }

static const struct watched_call calls[] = {
    {SYS_execve, CALL_EXECUTE, ONE(0), NONE, NONE, ALWAYS, FOLLOW_NEVER},
    {SYS_execveat, CALL_EXECUTE, ONE_AT(0), 4, NONE, ALWAYS, FOLLOW_NEVER},
    {SYS_open, CALL_OPEN, ONE(0), 1, NONE, UNLESS(1, NEVER_OPENED), FOLLOW_NEVER},
    {SYS_openat, CALL_OPEN, ONE_AT(0), 2, NONE, UNLESS(2, NEVER_OPENED), FOLLOW_NEVER},
    {SYS_stat, CALL_STAT, ONE(0), NONE, 1, ALWAYS, FOLLOW_NEVER},
    {SYS_lstat, CALL_STAT, ONE(0), NONE, 1, ALWAYS, FOLLOW_NEVER},
    {SYS_newfstatat, CALL_STAT, ONE_AT(0), 3, 2, NO_FSTAT(3), FOLLOW_NEVER},
    {SYS_statx, CALL_STATX, ONE_AT(0), 2, 4, NO_FSTAT(2), FOLLOW_NEVER},
    {SYS_access, CALL_ACCESS, ONE(0), NONE, NONE, HAS(1, W_OK), FOLLOW_NEVER},
    {SYS_faccessat, CALL_ACCESS, ONE_AT(0), NONE, NONE, HAS(2, W_OK), FOLLOW_NEVER},
    {SYS_faccessat2, CALL_ACCESS, ONE_AT(0), 3, NONE, HAS(2, W_OK), FOLLOW_NEVER},
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
    {SYS_seccomp, CALL_CONFINE, NO_PATHS, NONE, NONE, ALWAYS, FOLLOW_NEVER},
    {SYS_prctl, CALL_CONFINE, NO_PATHS, NONE, NONE, IF(0, PR_SET_SECCOMP), FOLLOW_NEVER},
    {SYS_landlock_restrict_self, CALL_CONFINE, NO_PATHS, NONE, NONE, ALWAYS, FOLLOW_NEVER},
};

#define CALLS (sizeof(calls) / sizeof(*calls))

const struct watched_call *watched_call_find(int number)
{
    number &= (int)~X32_BIT;
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

#define LOAD(field)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##value)
#define JUMP(how, value, true_steps, false_steps)                                                  \
    BPF_JUMP(BPF_JMP | BPF_K | BPF_##how, (unsigned)(value), true_steps, false_steps)
#define EMIT(...) program[at++] = (struct sock_filter)__VA_ARGS__

#define MOST_STEPS 7 /* of a call */

/* What `look` is at: steps that end in ALLOW, or jump behind it, where NOTIFY is. */
static size_t emit_look(struct sock_filter *program, const struct watched_call *call)
{
    unsigned value = call->which.value;
    size_t at = 0;

    EMIT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offsetof(struct seccomp_data, args) +
                                                       8 * (size_t)call->which.argument)));
    switch (call->which.look) {
    case LOOK_EQUAL:
        EMIT(JUMP(JEQ, value, 1, 0));
        break;
    case LOOK_A_BIT:
        EMIT(JUMP(JSET, value, 1, 0));
        break;
    case LOOK_NO_FILE:
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
static size_t emit_call(struct sock_filter *program, const struct watched_call *call)
{
    size_t look = call->which.look == LOOK_AT_NONE ? 0 : emit_look(program + 1, call);
    size_t at = 0;

    EMIT(JUMP(JEQ, call->number, 0, (unsigned char)(look + 1)));
    at += look;
    EMIT(RETURN(USER_NOTIF));
    return at;
}

/*
 *      landlock_restrict_self -> notify: its number is the same in all three worlds
 *      not x86-64, or x32     -> allow
 *      number of a call       -> notify, the calls with flags by way of a look at them
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
    for (size_t i = 0; i < CALLS; i++)
        at += emit_call(program + at, &calls[i]);
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
    struct sock_filter program[10 + MOST_STEPS * CALLS + 1];
    const struct sock_fprog whole = {(unsigned short)make_program(program), program};

    return install(&whole);
}
