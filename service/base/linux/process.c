#include "service/base/process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/file.h"

#define WAIT_MS 20

/* So that no file we open is ever taken for the standard error of this process. */
static void open_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

void process_begin(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    open_standard_descriptors();
}

static int open_proc_file(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads up to size - 1 bytes and terminates them. Returns how many, or -1. */
static ssize_t read_proc_file(pid_t pid, const char *name, char *text, size_t size)
{
    int fd = open_proc_file(pid, name);
    ssize_t length;

    if (fd < 0)
        return -1;
    length = read(fd, text, size - 1);
    close(fd);
    if (length >= 0)
        text[length] = 0;
    return length;
}

static void read_exe(pid_t pid, char exe[TRACE_EXE_SIZE])
{
    char path[64];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    length = readlink(path, exe, TRACE_EXE_SIZE - 1);
    if (length < 0)
        length = read_proc_file(pid, "comm", exe, TRACE_EXE_SIZE);
    exe[length < 0 ? 0 : length] = 0;
    exe[strcspn(exe, "\n")] = 0;
}

static void read_command(pid_t pid, char command[TRACE_COMMAND_SIZE])
{
    ssize_t length = read_proc_file(pid, "cmdline", command, TRACE_COMMAND_SIZE);

    command[0] = length <= 0 ? 0 : command[0];
    for (ssize_t i = 0; i + 1 < length; i++) {
        if (!command[i])
            command[i] = ' ';
    }
}

unsigned process_word_size(pid_t pid)
{
    char header[EI_NIDENT + 1];

    return read_proc_file(pid, "exe", header, sizeof(header)) == EI_NIDENT &&
                   !memcmp(header, ELFMAG, SELFMAG) && header[EI_CLASS] == ELFCLASS32
               ? sizeof(uint32_t)
               : sizeof(uint64_t);
}

/* "PID (NAME) STATE PPID …", proc(5); the name may hold anything, a ')' too. */
/* "NSpid:" has its number in each namespace, from ours to its own. */
uint32_t process_own_number(pid_t number)
{
    char path[64], line[256];
    uint32_t own = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)number);
    file = fopen(path, "re");
    while (file && !own && fgets(line, sizeof(line), file))
        if (!strncmp(line, "NSpid:\t", 7))
            own = (uint32_t)strtoul(strrchr(line, '\t'), NULL, 10);
    if (file)
        fclose(file);
    return own;
}

static bool read_parent(pid_t pid, pid_t *parent)
{
    char stat[512];
    const char *name_end;
    int number;

    if (read_proc_file(pid, "stat", stat, sizeof(stat)) <= 0)
        return false;
    name_end = strrchr(stat, ')');
    if (!name_end || sscanf(name_end + 1, " %*c %d", &number) != 1)
        return false;
    *parent = number;
    return true;
}

bool process_describe(pid_t pid, struct process_description *description)
{
    memset(description, 0, sizeof(*description));
    if (!read_parent(pid, &description->parent))
        return false;
    read_exe(pid, description->exe);
    read_command(pid, description->command);
    return true;
}

int process_watch(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

void process_unwatch(int watch)
{
    if (watch >= 0)
        close(watch);
}

bool process_is_gone(pid_t pid, int watch)
{
    struct pollfd poll_watch = {.fd = watch, .events = POLLIN};

    if (watch < 0)
        return kill(pid, 0) < 0 && errno == ESRCH;
    return poll(&poll_watch, 1, 0) == 1;
}

void process_wait_until_gone(pid_t pid, int watch)
{
    struct pollfd poll_watch = {.fd = watch, .events = POLLIN};

    while (!process_is_gone(pid, watch))
        poll(&poll_watch, 1, watch < 0 ? WAIT_MS : -1);
}

bool process_is_daemon(pid_t pid)
{
    pid_t session = getsid(pid);

    return session >= 0 && session != getsid(0);
}

/* Opens lines "BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH", proc(5). */
static FILE *open_maps(pid_t pid)
{
    int fd = open_proc_file(pid, "maps");
    FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");

    if (!maps && fd >= 0)
        close(fd);
    return maps;
}

/* The device is not compared: some file systems show another one here than in stat(2). */
bool process_may_map(pid_t pid, uint64_t file)
{
    FILE *maps = open_maps(pid);
    unsigned long long mapped;
    bool found = false;
    char *line = NULL;
    size_t size = 0;

    if (!maps)
        return true;
    while (!found && getline(&line, &size, maps) > 0)
        found = sscanf(line, "%*s %*s %*s %*s %llu", &mapped) == 1 && mapped == file;
    found |= ferror(maps) != 0;
    free(line);
    fclose(maps);
    return found;
}

static bool read_code(char *line, struct process_code *code)
{
    unsigned long long begin, end, offset, file;
    char execute;
    int path = 0;

    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%llx-%llx %*c%*c%c%*c %llx %*s %llu %n", &begin, &end, &execute, &offset,
               &file, &path) < 5)
        return false;
    *code = (struct process_code){begin, end, offset, file, line + path};
    return execute == 'x' && path && line[path] == '/';
}

void process_each_code(pid_t pid, void (*each)(void *owner, const struct process_code *code),
                       void *owner)
{
    FILE *maps = open_maps(pid);
    struct process_code code;
    char *line = NULL;
    size_t size = 0;

    while (maps && getline(&line, &size, maps) > 0) {
        if (read_code(line, &code))
            each(owner, &code);
    }
    free(line);
    if (maps)
        fclose(maps);
}

int process_open_code(pid_t pid, const struct process_code *code)
{
    char path[PATH_MAX + 64];
    int file = file_open_identified(code->path, code->file);

    if (file >= 0 ||
        snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, code->path) >= (int)sizeof(path))
        return file;
    return file_open_identified(path, code->file);
}

/* --- how one has ended --- */

/*
 * From what remains of it. Whoever its parent is may have collected it by now; what is asked in
 * turn:
 *
 *      pidfd, PIDFD_GET_INFO     Linux 6.15: once it was collected
 *      /proc/PID/stat            as long as it was not; the pid is still its own then
 */

/* linux/pidfd.h, newer than most that are installed: its first 64 bytes. */
struct pidfd_facts {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t numbers[11];
    int32_t exit_code;
};

#define PIDFD_FACTS_EXIT (1u << 3)
#define PIDFD_GET_FACTS  _IOWR(0xff, 11, struct pidfd_facts)

#define EXIT_CODE_FIELD 52
#define STATE_FIELD     3

_Static_assert(sizeof(struct pidfd_facts) == 64, "PIDFD_INFO_SIZE_VER0");

static bool ask_watch(int watch, int *status)
{
    struct pidfd_facts facts = {.mask = PIDFD_FACTS_EXIT};

    if (watch < 0 || ioctl(watch, PIDFD_GET_FACTS, &facts) < 0 || !(facts.mask & PIDFD_FACTS_EXIT))
        return false;
    *status = facts.exit_code;
    return true;
}

/* "PID (NAME) STATE …", proc(5); the name may hold anything, a ')' too. */
static bool ask_proc(pid_t pid, int *status)
{
    char stat[1024];
    const char *at;

    if (read_proc_file(pid, "stat", stat, sizeof(stat)) <= 0)
        return false;
    at = strrchr(stat, ')');
    if (!at || strncmp(at, ") Z", 3))
        return false;
    for (int field = STATE_FIELD - 1; at && field < EXIT_CODE_FIELD; field++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, "%d", status) == 1;
}

void process_read_end(pid_t pid, int watch, enum trace_end_how *how, uint32_t *code)
{
    int status;

    *how = TRACE_END_HOW_UNKNOWN;
    *code = 0;
    /* It may be collected in between: then the watch knows. */
    if (!ask_watch(watch, &status) && !ask_proc(pid, &status) && !ask_watch(watch, &status))
        return;
    if (WIFEXITED(status)) {
        *how = TRACE_END_EXITED;
        *code = (uint32_t)WEXITSTATUS(status);
    } else if (WIFSIGNALED(status)) {
        *how = TRACE_END_KILLED;
        *code = (uint32_t)WTERMSIG(status);
    }
}

/* --- this one --- */

/* "SIZE RESIDENT …" in pages, proc(5). */
static uint64_t resident_bytes(void)
{
    FILE *statm = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;

    if (!statm)
        return 0;
    if (fscanf(statm, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(statm);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Less ".", ".." and the one that reading takes. */
static unsigned descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    if (!directory)
        return 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count > 3 ? count - 3 : 0;
}

void process_read_needs(struct process_needs *needs)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    *needs = (struct process_needs){
        .resident_bytes = resident_bytes(),
        .descriptors = descriptors(),
        .descriptor_limit = limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur,
    };
}

void process_raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

enum trace_system process_own_system(void)
{
    return TRACE_SYSTEM_LINUX;
}
