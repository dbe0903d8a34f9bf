#include "front/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
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
#define CHANGE(call, ...)                                                                          \
    {                                                                                              \
        SYS_##call, CALL_CHANGE, __VA_ARGS__, NONE, NONE, 0                                        \
    }

static const struct watched_call calls[] = {
    {SYS_execve, CALL_EXECUTE, ONE(0), NONE, NONE, 0},
    {SYS_execveat, CALL_EXECUTE, ONE_AT(0), 4, NONE, 0},
    {SYS_open, CALL_OPEN, ONE(0), 1, NONE, NEVER_OPENED},
    {SYS_openat, CALL_OPEN, ONE_AT(0), 2, NONE, NEVER_OPENED},
    {SYS_stat, CALL_STAT, ONE(0), NONE, 1, 0},
    {SYS_lstat, CALL_STAT, ONE(0), NONE, 1, 0},
    {SYS_newfstatat, CALL_STAT, ONE_AT(0), 3, 2, AT_EMPTY_PATH},
    {SYS_statx, CALL_STATX, ONE_AT(0), 2, 4, AT_EMPTY_PATH},
    CHANGE(creat, ONE(0)),
    CHANGE(truncate, ONE(0)),
    CHANGE(unlink, ONE(0)),
    CHANGE(unlinkat, ONE_AT(0)),
    CHANGE(rename, TWO(0)),
    CHANGE(renameat, TWO_AT(0)),
    CHANGE(renameat2, TWO_AT(0)),
    CHANGE(link, ONE(0)),
    CHANGE(linkat, ONE_AT(0)),
    CHANGE(chmod, ONE(0)),
    CHANGE(fchmodat, ONE_AT(0)),
    CHANGE(fchmodat2, ONE_AT(0)),
    CHANGE(chown, ONE(0)),
    CHANGE(lchown, ONE(0)),
    CHANGE(fchownat, ONE_AT(0)),
    CHANGE(utime, ONE(0)),
    CHANGE(utimes, ONE(0)),
    CHANGE(futimesat, ONE_AT(0)),
    CHANGE(utimensat, ONE_AT(0)),
    CHANGE(setxattr, ONE(0)),
    CHANGE(lsetxattr, ONE(0)),
};

#define CALLS (sizeof(calls) / sizeof(*calls))

const struct watched_call *watched_call_find(int number)
{
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

/*
 *      not x86-64, or x32     -> allow
 *      number of a call       -> notify, the calls with flags by way of a look at them
 *      anything else          -> allow
 */
static size_t make_program(struct sock_filter *program)
{
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_filter notify = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    size_t at = 0;

#define EMIT(...) program[at++] = (struct sock_filter)__VA_ARGS__
    EMIT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
    program[at++] = allow;
    EMIT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    EMIT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, 1));
    program[at++] = allow;
    for (size_t i = 0; i < CALLS; i++) {
        const bool looks = calls[i].passes != 0;
        EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, looks ? 4 : 1));
        if (looks) {
            EMIT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                          offsetof(struct seccomp_data, args) + 8 * (unsigned)calls[i].flags));
            EMIT(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, calls[i].passes, 0, 1));
            program[at++] = allow;
        }
        program[at++] = notify;
    }
    program[at++] = allow;
#undef EMIT
    return at;
}

static int install(const struct sock_fprog *program)
{
    const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
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
    struct sock_filter program[6 + 5 * CALLS + 1];
    const struct sock_fprog whole = {(unsigned short)make_program(program), program};

    return install(&whole);
}
