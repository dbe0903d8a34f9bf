#include "front/calls/watched_calls.h"

#include <linux/audit.h>

#include "trace/answered_calls.h"

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
        CALL_IN_BOTH(call), CALL_CHANGE, __VA_ARGS__, flags, NONE, FOLLOW_##follow                 \
    }
#define WRITE(call)                                                                                \
    {                                                                                              \
        CALL_IN_BOTH(call), CALL_WRITE, ONE(0), NONE, NONE, FOLLOW_ALWAYS                          \
    }
#define NO_PATHS                                                                                   \
    {                                                                                              \
        {NONE, NONE},                                                                              \
        {                                                                                          \
            NONE, NONE                                                                             \
        }                                                                                          \
    }

static const struct watched_call calls[] = {
    {CALL_IN_BOTH(execve), CALL_EXECUTE, ONE(0), NONE, NONE, FOLLOW_NEVER},
    {CALL_IN_BOTH(execveat), CALL_EXECUTE, ONE_AT(0), 4, NONE, FOLLOW_NEVER},
    {CALL_IN_BOTH(open), CALL_OPEN, ONE(0), 1, NONE, FOLLOW_NEVER},
    {CALL_IN_BOTH(openat), CALL_OPEN, ONE_AT(0), 2, NONE, FOLLOW_NEVER},
    {CALL_IN_BOTH(stat), CALL_STAT, ONE(0), NONE, 1, FOLLOW_ALWAYS},
    {CALL_IN_BOTH(lstat), CALL_STAT, ONE(0), NONE, 1, FOLLOW_NEVER},
    {CALL_IN_BOTH(stat64), CALL_STAT64, ONE(0), NONE, 1, FOLLOW_ALWAYS},
    {CALL_IN_BOTH(lstat64), CALL_STAT64, ONE(0), NONE, 1, FOLLOW_NEVER},
    {CALL_IN_BOTH(newfstatat), CALL_STAT, ONE_AT(0), 3, 2, FOLLOW_ALWAYS},
    {CALL_IN_BOTH(fstatat64), CALL_STAT64, ONE_AT(0), 3, 2, FOLLOW_ALWAYS},
    {CALL_IN_BOTH(statx), CALL_STATX, ONE_AT(0), 2, 4, FOLLOW_ALWAYS},
    {CALL_IN_BOTH(access), CALL_ACCESS, ONE(0), NONE, NONE, FOLLOW_ALWAYS},
    {CALL_IN_BOTH(faccessat), CALL_ACCESS, ONE_AT(0), NONE, NONE, FOLLOW_ALWAYS},
    {CALL_IN_BOTH(faccessat2), CALL_ACCESS, ONE_AT(0), 3, NONE, FOLLOW_ALWAYS},
    WRITE(creat),
    WRITE(truncate),
    WRITE(truncate64),
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
    CHANGE(chown32, NONE, ALWAYS, ONE(0)),
    CHANGE(lchown, NONE, NEVER, ONE(0)),
    CHANGE(lchown32, NONE, NEVER, ONE(0)),
    CHANGE(fchownat, 4, ALWAYS, ONE_AT(0)),
    CHANGE(utime, NONE, ALWAYS, ONE(0)),
    CHANGE(utimes, NONE, ALWAYS, ONE(0)),
    CHANGE(futimesat, NONE, ALWAYS, ONE_AT(0)),
    CHANGE(utimensat, 3, ALWAYS, ONE_AT(0)),
    CHANGE(utimensat_time64, 3, ALWAYS, ONE_AT(0)),
    CHANGE(setxattr, NONE, ALWAYS, ONE(0)),
    CHANGE(lsetxattr, NONE, NEVER, ONE(0)),
    CHANGE(removexattr, NONE, ALWAYS, ONE(0)),
    CHANGE(lremovexattr, NONE, NEVER, ONE(0)),
    {CALL_IN_BOTH(seccomp), CALL_CONFINE, NO_PATHS, NONE, NONE, FOLLOW_NEVER},
    {CALL_IN_BOTH(prctl), CALL_CONFINE, NO_PATHS, NONE, NONE, FOLLOW_NEVER},
    {CALL_IN_BOTH(landlock_restrict_self), CALL_CONFINE, NO_PATHS, NONE, NONE, FOLLOW_NEVER},
};

#define CALLS (sizeof(calls) / sizeof(*calls))

_Static_assert(CALLS == ANSWERED_CALLS, "a call is in one of the two tables only");

const struct watched_call *watched_call_find(enum call_world world, int number)
{
    if (world == CALLS_OF_X86_64)
        number &= (int)~CALL_X32_BIT;
    for (size_t i = 0; number >= 0 && i < CALLS; i++)
        if (calls[i].numbers[world] == number)
            return &calls[i];
    return NULL;
}

enum call_world call_world_of(uint32_t architecture)
{
    return architecture == AUDIT_ARCH_I386 ? CALLS_OF_I386 : CALLS_OF_X86_64;
}
