/*
 * How i386 enters the kernel. Where its calls are of two kinds, these are the later ones: user ids of 32 bits,
 * files and times of 64.
 */
#ifndef UMBRA_THUNKSTASH_LINUX_SYSTEM_CALL_H
#define UMBRA_THUNKSTASH_LINUX_SYSTEM_CALL_H

#include <sys/syscall.h>

#undef SYS_fstat
#define SYS_fstat __NR_fstat64
#define SYS_newfstatat __NR_fstatat64
#undef SYS_geteuid
#define SYS_geteuid __NR_geteuid32
#undef SYS_getresuid
#define SYS_getresuid __NR_getresuid32

/* The sixth argument is in ebp, which compilers use for frames. */
static inline long syscall_make(long number, long a, long b, long c, long d, long e, long f)
{
    long result;

    __asm__ volatile("push %7\n\t"
                     "push %%ebp\n\t"
                     "mov 4(%%esp), %%ebp\n\t"
                     "int $0x80\n\t"
                     "pop %%ebp\n\t"
                     "add $4, %%esp"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), "m"(f)
                     : "memory", "cc");
    return result;
}

/* Files are mapped from an offset in pages. */
#define SYSCALL_MAP(address, size, protection, flags, file, offset) \
    SYSCALL6(mmap2, address, size, protection, flags, file, (offset) / 4096)
#define SYSCALL_LIMIT(resource, limit) SYSCALL4(prlimit64, 0, resource, 0, limit)

#endif
