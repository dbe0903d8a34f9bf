/* Reading what may not be there any more. */
#ifndef UMBRA_THUNKSTASH_LINUX_READ_MEMORY_H
#define UMBRA_THUNKSTASH_LINUX_READ_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "thunkstash/linux/syscalls.h"

/* False: nothing is mapped there, or the kernel does not let us look. */
static inline bool read_memory(uint64_t address, uint64_t *value)
{
    struct iovec to = {value, sizeof *value}, from = {(void *)address, sizeof *value};
    long pid = SYSCALL0(getpid);

    return SYSCALL6(process_vm_readv, pid, &to, 1, &from, 1, 0) == sizeof *value;
}

#endif
