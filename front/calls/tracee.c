#include "front/calls/tracee.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

bool tracee_read(pid_t pid, uint64_t address, void *bytes, size_t size)
{
    struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size};

    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

size_t tracee_write(pid_t pid, uint64_t address, const void *bytes, size_t size)
{
    struct iovec here = {(void *)bytes, size}, there = {(void *)(uintptr_t)address, size};
    ssize_t written = process_vm_writev(pid, &here, 1, &there, 1, 0);

    return written < 0 ? 0 : (size_t)written;
}

/* `self` is whoever looks. */
static void copy_path(pid_t pid, const char *path, struct tracee_path *found)
{
    static const char *const selves[] = {"/proc/self/", "/proc/thread-self/"};
    size_t size = sizeof(found->text);

    for (size_t i = 0; i < sizeof(selves) / sizeof(*selves); i++) {
        if (strncmp(path, selves[i], strlen(selves[i])) != 0)
            continue;
        snprintf(found->text, size, "/proc/%d/%s", (int)pid, path + strlen(selves[i]));
        return;
    }
    snprintf(found->text, size, "%s", path);
}

bool tracee_find_path(pid_t pid, int folder, const char *path, struct tracee_path *found)
{
    char from[64];

    copy_path(pid, path, found);
    found->directory = -1;
    if (*path == '/')
        return true;
    if (folder == AT_FDCWD)
        snprintf(from, sizeof(from), "/proc/%d/cwd", (int)pid);
    else
        snprintf(from, sizeof(from), "/proc/%d/fd/%d", (int)pid, folder);
    found->directory = open(from, O_PATH | O_CLOEXEC | (*path ? O_DIRECTORY : 0));
    return found->directory >= 0;
}

/* --- opening ---
 *
 * The kernel lets a process have all that it has itself by links in /proc, whatever rights its
 * thread has taken on. A caller could name descriptors of the supervisor by them. So such a link is
 * followed only at the beginning of a path, and if it is another process's.
 */
static int open_plain(int folder, const char *path, int flags)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC | (uint64_t)(flags & O_NOFOLLOW),
                                 .resolve = RESOLVE_NO_MAGICLINKS};

    return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

static bool is_ours(int pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d", pid);
    return access(path, F_OK) == 0;
}

/* `exe`, `cwd`, `root` or `fd/3`: its length; 0 if the path begins with none of them. */
static size_t link_length(const char *path)
{
    static const char *const names[] = {"exe", "cwd", "root"};
    size_t length = 0;

    if (!strncmp(path, "fd/", 3) && path[3] >= '0' && path[3] <= '9')
        length = 3 + strspn(path + 3, "0123456789");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !length; i++)
        if (!strncmp(path, names[i], strlen(names[i])))
            length = strlen(names[i]);
    return path[length] && path[length] != '/' ? 0 : length;
}

/* Looked at when it is open: it stays that process's, and another one with its number is another.
 */
static int open_process(int pid)
{
    char path[64];
    int process;

    snprintf(path, sizeof(path), "/proc/%d", pid);
    process = open_plain(AT_FDCWD, path, 0);
    if (process >= 0 && is_ours(pid)) {
        close(process);
        process = -1;
    }
    return process;
}

/* What stands behind `/proc/12/`. */
static int open_of_process(int pid, const char *path, int flags)
{
    size_t length = link_length(path);
    const char *rest = path + length + strspn(path + length, "/");
    int process = length ? open_process(pid) : -1;
    char name[16];
    int file, next;

    if (process < 0 || length >= sizeof(name))
        return -1;
    snprintf(name, sizeof(name), "%.*s", (int)length, path);
    file = openat(process, name, O_PATH | O_CLOEXEC);
    close(process);
    if (file < 0 || !path[length])
        return file;
    next = open_plain(file, *rest ? rest : ".", flags);
    close(file);
    return next;
}

int tracee_path_open(const struct tracee_path *path, int flags)
{
    int file, pid, length = 0;

    if (!*path->text)
        return fcntl(path->directory, F_DUPFD_CLOEXEC, 0);
    file = open_plain(path->directory, path->text, flags);
    if (file < 0 && errno == ELOOP && sscanf(path->text, "/proc/%d/%n", &pid, &length) == 1 &&
        length)
        file = open_of_process(pid, path->text + length, flags);
    return file;
}

void tracee_path_close(struct tracee_path *path)
{
    if (path->directory >= 0)
        close(path->directory);
    path->directory = -1;
}

/* The mount, too: a bind of a folder has the folder's inode. */
static bool is_same(pid_t pid, const char *name)
{
    unsigned wanted = STATX_INO | STATX_MNT_ID;
    char theirs[64], ours[64];
    struct statx a, b;

    snprintf(theirs, sizeof(theirs), "/proc/%d/%s", (int)pid, name);
    snprintf(ours, sizeof(ours), "/proc/self/%s", name);
    return statx(AT_FDCWD, theirs, 0, wanted, &a) == 0 &&
           statx(AT_FDCWD, ours, 0, wanted, &b) == 0 && a.stx_ino == b.stx_ino &&
           a.stx_dev_major == b.stx_dev_major && a.stx_dev_minor == b.stx_dev_minor &&
           a.stx_mnt_id == b.stx_mnt_id;
}

bool tracee_sees_ours(pid_t pid)
{
    return is_same(pid, "ns/mnt") && is_same(pid, "root");
}

bool tracee_has_our_users(pid_t pid)
{
    return is_same(pid, "ns/user");
}

/* Reads the label that a process has of SELinux, AppArmor or Smack; "" where none of them is. */
static void read_label(const char *process, const char *name, char label[PAGE])
{
    char path[64];
    ssize_t length;
    int file;

    snprintf(path, sizeof(path), "/proc/%s/attr/%s", process, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    length = file < 0 ? 0 : read(file, label, PAGE - 1);
    label[length < 0 ? 0 : length] = 0;
    if (file >= 0)
        close(file);
}

bool tracee_has_our_label(pid_t pid)
{
    static const char *const names[] = {"current", "apparmor/current", "smack/current"};
    char theirs[PAGE], ours[PAGE], process[16];
    bool is_same = true;

    snprintf(process, sizeof(process), "%d", (int)pid);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && is_same; i++) {
        read_label(process, names[i], theirs);
        read_label("thread-self", names[i], ours);
        is_same = !strcmp(theirs, ours);
    }
    return is_same;
}

/* ld-linux-x86-64.so.2, ld-2.31.so, ld-musl-x86_64.so.1 */
static bool is_linker(const char *path)
{
    const char *name = strrchr(path, '/');

    return name && !strncmp(name, "/ld-", 4) && strstr(name, ".so");
}

/* A line of /proc/PID/maps. */
struct mapping {
    uint64_t begin, end, offset, inode;
    bool is_linker;
};

/* The mapping that an instruction is in; false if there is none. */
static bool find_mapping(pid_t pid, uint64_t instruction, struct mapping *mapping)
{
    char path[64], *line = NULL;
    bool found = false;
    size_t size = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && !found && getline(&line, &size, maps) > 0) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64, &mapping->begin,
                   &mapping->end, &mapping->offset, &mapping->inode) != 4 ||
            instruction >= mapping->end)
            continue;
        if (instruction < mapping->begin)
            break;
        line[strcspn(line, "\n")] = 0;
        mapping->is_linker = is_linker(line);
        found = true;
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

bool tracee_find_place(pid_t pid, uint64_t instruction, struct tracee_place *place)
{
    struct mapping mapping;

    if (!find_mapping(pid, instruction, &mapping))
        return false;
    *place =
        (struct tracee_place){mapping.offset + (instruction - mapping.begin), (ino_t)mapping.inode};
    return true;
}

bool tracee_find_linker(pid_t pid, uint64_t instruction, struct tracee_linker *linker)
{
    struct mapping mapping;

    if (!find_mapping(pid, instruction, &mapping))
        return false;
    *linker = (struct tracee_linker){mapping.begin, mapping.end};
    return mapping.is_linker;
}

/* `Groups:\t4 24 27 ` */
static bool read_groups(struct tracee_look *look, const char *text)
{
    char *end;

    for (look->group_count = 0;; text = end) {
        unsigned long group = strtoul(text, &end, 10);
        if (end == text)
            return true;
        if (look->group_count == TRACEE_MOST_GROUPS)
            return false;
        look->groups[look->group_count++] = (gid_t)group;
    }
}

/* A line of /proc/PID/status; whether it is one of LOOK_LINES. Of users and groups it has the real,
   the effective, the saved and that of the file system. */
#define LOOK_LINES 8
static bool read_line(struct tracee_look *look, const char *line)
{
    unsigned number;

    if (sscanf(line, "TracerPid: %u", &number) == 1)
        look->is_traced = number != 0;
    else if (sscanf(line, "NoNewPrivs: %u", &number) == 1)
        look->has_no_new_privs = number != 0;
    else if (!strncmp(line, "Groups:", strlen("Groups:")))
        return read_groups(look, line + strlen("Groups:"));
    else
        return sscanf(line, "Uid: %u %*u %*u %u", &look->real_user, &look->user) == 2 ||
               sscanf(line, "Gid: %u %*u %*u %u", &look->real_group, &look->group) == 2 ||
               sscanf(line, "CapPrm: %" SCNx64, &look->permitted) == 1 ||
               sscanf(line, "CapEff: %" SCNx64, &look->rights) == 1 ||
               sscanf(line, "Seccomp_filters: %u", &look->filters) == 1;
    return true;
}

bool tracee_look(pid_t pid, struct tracee_look *look)
{
    char path[64], *line = NULL;
    size_t size = 0;
    int found = 0;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    status = fopen(path, "re");
    while (status && found < LOOK_LINES && getline(&line, &size, status) > 0)
        found += read_line(look, line);
    free(line);
    if (status)
        fclose(status);
    return found == LOOK_LINES;
}

/* As the kernel does it, fs/open.c: access_override_creds. */
void tracee_become_real(struct tracee_look *look)
{
    look->user = look->real_user;
    look->group = look->real_group;
    look->rights = look->user == 0 ? look->permitted : 0;
}

bool tracee_program(pid_t pid, char path[PATH_MAX])
{
    char name[64];
    ssize_t length;

    snprintf(name, sizeof(name), "/proc/%d/exe", pid);
    length = readlink(name, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return *path == '/';
}

static bool runs(int processes, const char *pid, const struct stat *program)
{
    struct stat status;
    char path[NAME_MAX + 8];

    snprintf(path, sizeof(path), "%s/exe", pid);
    return *pid >= '1' && *pid <= '9' && fstatat(processes, path, &status, 0) == 0 &&
           status.st_dev == program->st_dev && status.st_ino == program->st_ino;
}

bool tracee_runs_somewhere(const struct stat *program)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    bool is_run = false;

    while (processes && !is_run && (entry = readdir(processes)))
        is_run = runs(dirfd(processes), entry->d_name, program);
    if (processes)
        closedir(processes);
    return is_run;
}

bool tracee_is_of(pid_t pid, pid_t process)
{
    char path[64];

    if (pid == process)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)process, (int)pid);
    return access(path, F_OK) == 0;
}
