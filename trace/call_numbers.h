/*
 * Numbers of system calls in the two worlds that a program of x86-64 Linux may call by: each has its own, whatever the
 * program that reads them was built for.
 */
#ifndef UMBRA_CALL_NUMBERS_H
#define UMBRA_CALL_NUMBERS_H

enum call_world {
    CALLS_OF_X86_64,
    CALLS_OF_I386,
    CALL_WORLDS,
};

#ifdef __i386__
#define CALLS_OF_OWN CALLS_OF_I386
#else
#define CALLS_OF_OWN CALLS_OF_X86_64
#endif

#define CALL_HAS_NONE (-1) /* the call is of the other world only */

/* CALL(name, number of x86-64, number of i386) */
#define CALL_NUMBERS(CALL)                     \
    CALL(execve, 59, 11)                       \
    CALL(execveat, 322, 358)                   \
    CALL(open, 2, 5)                           \
    CALL(openat, 257, 295)                     \
    CALL(stat, 4, 106)                         \
    CALL(lstat, 6, 107)                        \
    CALL(stat64, CALL_HAS_NONE, 195)           \
    CALL(lstat64, CALL_HAS_NONE, 196)          \
    CALL(newfstatat, 262, CALL_HAS_NONE)       \
    CALL(fstatat64, CALL_HAS_NONE, 300)        \
    CALL(statx, 332, 383)                      \
    CALL(access, 21, 33)                       \
    CALL(faccessat, 269, 307)                  \
    CALL(faccessat2, 439, 439)                 \
    CALL(creat, 85, 8)                         \
    CALL(truncate, 76, 92)                     \
    CALL(truncate64, CALL_HAS_NONE, 193)       \
    CALL(unlink, 87, 10)                       \
    CALL(unlinkat, 263, 301)                   \
    CALL(rename, 82, 38)                       \
    CALL(renameat, 264, 302)                   \
    CALL(renameat2, 316, 353)                  \
    CALL(link, 86, 9)                          \
    CALL(linkat, 265, 303)                     \
    CALL(chmod, 90, 15)                        \
    CALL(fchmodat, 268, 306)                   \
    CALL(fchmodat2, 452, 452)                  \
    CALL(chown, 92, 182)                       \
    CALL(chown32, CALL_HAS_NONE, 212)          \
    CALL(lchown, 94, 16)                       \
    CALL(lchown32, CALL_HAS_NONE, 198)         \
    CALL(fchownat, 260, 298)                   \
    CALL(utime, 132, 30)                       \
    CALL(utimes, 235, 271)                     \
    CALL(futimesat, 261, 299)                  \
    CALL(utimensat, 280, 320)                  \
    CALL(utimensat_time64, CALL_HAS_NONE, 412) \
    CALL(setxattr, 188, 226)                   \
    CALL(lsetxattr, 189, 227)                  \
    CALL(removexattr, 197, 235)                \
    CALL(lremovexattr, 198, 236)               \
    CALL(seccomp, 317, 354)                    \
    CALL(prctl, 157, 172)                      \
    CALL(landlock_restrict_self, 446, 446)     \
    CALL(gettid, 186, 224)

#define CALL_NUMBER_X86_64(name, x86_64, i386) X86_64_##name = x86_64,
#define CALL_NUMBER_I386(name, x86_64, i386)   I386_##name = i386,

enum { CALL_NUMBERS(CALL_NUMBER_X86_64) };
enum { CALL_NUMBERS(CALL_NUMBER_I386) };

/* By world. */
#define CALL_IN_BOTH(name) {X86_64_##name, I386_##name}

#endif
