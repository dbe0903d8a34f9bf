#include "hooks/linux/trust.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "hooks/memory.h"
#include "thunkstash/linux/syscalls.h"
#include "trace/protocol.h"

#define ROOT       0u
#define MOST_WORDS 128 /* of an auxiliary vector; Linux 6 has 50 */
#define DUMPABLE   1   /* by its user; 2 is by root alone */

bool trust_vector(const uintptr_t *vector)
{
    for (; vector[0] != AT_NULL; vector += 2)
        if (vector[0] == AT_SECURE)
            return !vector[1];
    return false;
}

bool trust_start(void)
{
    uintptr_t vector[MOST_WORDS + 2] = {0};
    long file = SYSCALL4(openat, AT_FDCWD, "/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);

    if (syscall_failed(file))
        return false;
    SYSCALL3(read, file, vector, MOST_WORDS * sizeof(*vector));
    SYSCALL1(close, file);
    return trust_vector(vector);
}

static bool has_capabilities(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    return syscall_failed(SYSCALL2(capget, &head, sets)) || sets[0].permitted || sets[1].permitted;
}

/* The user whom the kernel would let debug this process; ROOT if it is no other. */
static uint32_t own_user(void)
{
    uint32_t real, effective, saved;

    if (syscall_failed(SYSCALL3(getresuid, &real, &effective, &saved)) || real != effective ||
        saved != effective || SYSCALL1(prctl, PR_GET_DUMPABLE) != DUMPABLE || has_capabilities())
        return ROOT;
    return effective;
}

static bool is_trusted(uint32_t owner)
{
    return owner == ROOT || owner == own_user();
}

bool trust_folder_of(const char *path)
{
    char folder[PROTOCOL_PATH_SIZE];
    size_t length = text_length(path);
    struct stat stat;

    while (length && path[length - 1] != '/')
        length--;
    if (!length || length >= sizeof(folder))
        return false;
    memcpy(folder, path, length);
    folder[length - 1] = 0;
    return !syscall_failed(SYSCALL4(newfstatat, AT_FDCWD, folder, &stat, AT_SYMLINK_NOFOLLOW)) &&
           S_ISDIR(stat.st_mode) && is_trusted(stat.st_uid) && !(stat.st_mode & 077);
}

bool trust_peer(long socket)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return !syscall_failed(SYSCALL5(getsockopt, socket, SOL_SOCKET, SO_PEERCRED, &peer, &size)) &&
           is_trusted(peer.uid);
}

bool trust_file(long file)
{
    struct stat stat;

    return !syscall_failed(SYSCALL2(fstat, file, &stat)) && S_ISREG(stat.st_mode) &&
           is_trusted(stat.st_uid);
}
