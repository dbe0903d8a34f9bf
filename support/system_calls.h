/*
 * Numbers of system calls as the agent makes them. Where a processor has calls of two kinds, as i386 has, these are the
 * later ones: user ids of 32 bits, files and times of 64. So sources that make them are compiled with
 * _FILE_OFFSET_BITS and _TIME_BITS of 64.
 */
#ifndef UMBRA_SUPPORT_SYSTEM_CALLS_H
#define UMBRA_SUPPORT_SYSTEM_CALLS_H

#include <sys/syscall.h>

#ifdef __NR_fstat64
#undef SYS_clock_gettime
#undef SYS_fstat
#undef SYS_geteuid
#undef SYS_getresuid
#undef SYS_getrlimit
#undef SYS_mmap
#undef SYS_nanosleep
#undef SYS_rt_sigtimedwait
#undef SYS_timer_settime
#define SYS_clock_gettime   __NR_clock_gettime64
#define SYS_fstat           __NR_fstat64
#define SYS_geteuid         __NR_geteuid32
#define SYS_getresuid       __NR_getresuid32
#define SYS_getrlimit       __NR_prlimit64 /* SYSCALL_LIMIT */
#define SYS_mmap            __NR_mmap2     /* SYSCALL_MAP */
#define SYS_nanosleep       __NR_clock_nanosleep_time64 /* SYSCALL_SLEEP */
#define SYS_newfstatat      __NR_fstatat64
#define SYS_rt_sigtimedwait __NR_rt_sigtimedwait_time64
#define SYS_timer_settime   __NR_timer_settime64
#endif

#endif
