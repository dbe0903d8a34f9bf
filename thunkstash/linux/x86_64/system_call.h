/* How x86-64 enters the kernel. */
#ifndef UMBRA_THUNKSTASH_LINUX_SYSTEM_CALL_H
#define UMBRA_THUNKSTASH_LINUX_SYSTEM_CALL_H

static inline long syscall_make(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Files are mapped from an offset in bytes. */
#define SYSCALL_MAP(address, size, protection, flags, file, offset) \
    SYSCALL6(mmap, address, size, protection, flags, file, offset)
#define SYSCALL_LIMIT(resource, limit) SYSCALL2(getrlimit, resource, limit)
#define SYSCALL_SLEEP(time)            SYSCALL2(nanosleep, time, 0)

#endif
