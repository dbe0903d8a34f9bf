#include "front/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096

/* Up to the end of a page at a time: the next may not be there. */
bool tracee_string(pid_t pid, uint64_t address, char text[PATH_MAX])
{
    size_t used = 0;

    if (!address)
        return false;
    while (used < PATH_MAX) {
        size_t size = PAGE - (address + used) % PAGE;
        struct iovec here, there = {(void *)(uintptr_t)(address + used), size};
        if (size > PATH_MAX - used)
            there.iov_len = size = PATH_MAX - used;
        here = (struct iovec){text + used, size};
        if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)size)
            return false;
        if (memchr(text + used, 0, size))
            return true;
        used += size;
    }
    return false;
}

bool tracee_write(pid_t pid, uint64_t address, const void *bytes, size_t size)
{
    struct iovec here = {(void *)bytes, size}, there = {(void *)(uintptr_t)address, size};

    return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* `self` is whoever looks. */
static int open_absolute(pid_t pid, const char *path, int flags)
{
    static const char *const selves[] = {"/proc/self/", "/proc/thread-self/"};
    char of_tracee[PATH_MAX + 64];

    for (size_t i = 0; i < sizeof(selves) / sizeof(*selves); i++) {
        if (strncmp(path, selves[i], strlen(selves[i])) != 0)
            continue;
        snprintf(of_tracee, sizeof(of_tracee), "/proc/%d/%s", (int)pid, path + strlen(selves[i]));
        path = of_tracee;
        break;
    }
    return open(path, flags);
}

int tracee_open_path(pid_t pid, int folder, const char *path, int flags)
{
    char from[64];
    int directory, file;

    flags |= O_PATH | O_CLOEXEC;
    if (*path == '/')
        return open_absolute(pid, path, flags);
    if (folder == AT_FDCWD)
        snprintf(from, sizeof(from), "/proc/%d/cwd", (int)pid);
    else
        snprintf(from, sizeof(from), "/proc/%d/fd/%d", (int)pid, folder);
    if (!*path)
        return open(from, O_PATH | O_CLOEXEC);
    directory = open(from, O_PATH | O_CLOEXEC | O_DIRECTORY);
    if (directory < 0)
        return -1;
    file = openat(directory, path, flags);
    close(directory);
    return file;
}

static bool is_same(pid_t pid, const char *name)
{
    char theirs[64], ours[64];
    struct stat a, b;

    snprintf(theirs, sizeof(theirs), "/proc/%d/%s", (int)pid, name);
    snprintf(ours, sizeof(ours), "/proc/self/%s", name);
    return stat(theirs, &a) == 0 && stat(ours, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

bool tracee_sees_ours(pid_t pid)
{
    return is_same(pid, "ns/mnt") && is_same(pid, "root");
}

/* ld-linux-x86-64.so.2, ld-2.31.so, ld-musl-x86_64.so.1 */
static bool is_linker(const char *path)
{
    const char *name = strrchr(path, '/');

    return name && !strncmp(name, "/ld-", 4) && strstr(name, ".so");
}

bool tracee_find_linker(pid_t pid, uint64_t instruction, struct tracee_linker *linker)
{
    char path[64], *line = NULL;
    bool found = false;
    size_t size = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && !found && getline(&line, &size, maps) > 0) {
        uint64_t begin, end;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) != 2 || instruction >= end)
            continue;
        if (instruction < begin)
            break;
        line[strcspn(line, "\n")] = 0;
        found = is_linker(line);
        *linker = (struct tracee_linker){begin, end};
        break;
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

/* /proc/PID/status: `TracerPid:\t0`, `Uid:\treal effective saved fs`, `Gid:` likewise,
   `CapEff:\thexadecimal`. */
bool tracee_look(pid_t pid, struct tracee_look *look)
{
    char path[64], *line = NULL;
    size_t size = 0;
    int found = 0;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    status = fopen(path, "re");
    while (status && found < 4 && getline(&line, &size, status) > 0) {
        unsigned tracer;
        if (sscanf(line, "TracerPid: %u", &tracer) == 1) {
            look->is_traced = tracer != 0;
            found++;
        } else if (sscanf(line, "Uid: %*u %*u %*u %u", &look->user) == 1 ||
                   sscanf(line, "Gid: %*u %*u %*u %u", &look->group) == 1 ||
                   sscanf(line, "CapEff: %" SCNx64, &look->rights) == 1) {
            found++;
        }
    }
    free(line);
    if (status)
        fclose(status);
    return found == 4;
}

bool tracee_is_of(pid_t pid, pid_t process)
{
    char path[64];

    if (pid == process)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)process, (int)pid);
    return access(path, F_OK) == 0;
}
