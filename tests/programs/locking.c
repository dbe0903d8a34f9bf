/* liblocking.so, of locked.c: a library that locks its process's memory. */
#define _GNU_SOURCE
#include "program.h"

#include <sys/mman.h>

COUNTED int library_locks(int flags)
{
    int result = mlockall(flags);

    OPAQUE(result);
    return result;
}
