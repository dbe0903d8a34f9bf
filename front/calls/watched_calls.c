#include "front/calls/watched_calls.h"

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
    number &= (int)~CALL_X32_BIT;
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}
