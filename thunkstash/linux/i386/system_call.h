/* How i386 enters the kernel. */
#ifndef UMBRA_THUNKSTASH_LINUX_SYSTEM_CALL_H
#define UMBRA_THUNKSTASH_LINUX_SYSTEM_CALL_H

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

/* Files are mapped from an offset in pages; limits are asked for by process, and sleep is by a clock. */
#define SYSCALL_MAP(address, size, protection, flags, file, offset) \
    SYSCALL6(mmap, address, size, protection, flags, file, (offset) / 4096)
#define SYSCALL_LIMIT(resource, limit) SYSCALL4(getrlimit, 0, resource, 0, limit)
#define SYSCALL_SLEEP(time)            SYSCALL4(nanosleep, CLOCK_MONOTONIC, 0, time, 0)

#endif
