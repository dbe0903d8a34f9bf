#include "service/traces/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3; some systems ask for it */
#endif

int memory_file_create(const char *name)
{
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = memfd_create(name, flags | MFD_NOEXEC_SEAL);

    return file < 0 && errno == EINVAL ? memfd_create(name, flags) : file;
}

int memory_file_readable(int file)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

bool memory_file_seal(int file)
{
    return fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}
