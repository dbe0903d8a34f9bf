/* libother.so, of locked.c: a mlockall that is not the C library's and locks nothing. */
#include <errno.h>
#include <sys/mman.h>

int mlockall(int flags)
{
    (void)flags;
    errno = EOPNOTSUPP;
    return -1;
}
