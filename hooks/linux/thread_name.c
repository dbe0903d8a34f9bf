#include "hooks/system.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include "hooks/memory.h"
#include "thunkstash/linux/syscalls.h"

#define COMM_SIZE 16 /* as the kernel keeps it, with the terminating zero */

static void name_of_other(uint32_t tid, char comm[COMM_SIZE])
{
    char path[40] = "/proc/self/task/";
    long file;

    text_append_number(path, sizeof(path), tid);
    text_append(path, sizeof(path), "/comm");
    file = SYSCALL4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (syscall_failed(file))
        return;
    long got = SYSCALL3(read, file, comm, COMM_SIZE - 1);
    SYSCALL1(close, file);
    if (got > 0 && comm[got - 1] == '\n')
        comm[got - 1] = 0;
}

void system_thread_name(uint32_t tid, char *name, size_t size)
{
    char comm[COMM_SIZE] = {0};

    if (tid == (uint32_t)SYSCALL0(gettid))
        SYSCALL2(prctl, PR_GET_NAME, comm);
    else
        name_of_other(tid, comm);
    if (comm[0])
        text_copy(name, size, comm);
}
