/*
 * Calls with arguments that hardly any program gives: hostile_calls SEED COUNT PROGRAM FOLDER
 *
 * Each of COUNT calls is one that a supervisor of `umbra record` watches, with a path, descriptor,
 * flags and pointers that SEED chooses: to memory that is not there, up to a page's end, by way of
 * /proc/self. They go to files in FOLDER, made anew every 500 calls: copies of PROGRAM, which some
 * calls execute in a child. Prints what each was given and returned, so that two runs with one seed
 * print the same. No name leads out of FOLDER: it may be run as root.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2 /* since Linux 6.6 */
#define SYS_fchmodat2 452
#endif

#define CALLS_A_SCENE 500
#define PAGE          4096
#define COUNT(array)  (sizeof(array) / sizeof(*(array)))

static uint64_t state;
static char *folder, *page, *program;
static size_t program_size;
static int in_dir = -1, on_program = -1, on_text = -1, on_fifo = -1;
static char told[2048]; /* what the call is given */

static uint64_t random_below(uint64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % limit;
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(99);
}

static __attribute__((format(printf, 1, 2))) void tell(const char *format, ...)
{
    const size_t used = strlen(told);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(told + used, sizeof(told) - used, format, arguments);
    va_end(arguments);
}

/* --- the files --- */

static void empty(int folder_fd)
{
    DIR *entries = fdopendir(folder_fd);
    const struct dirent *entry;

    if (!entries)
        fail("fdopendir");
    while ((entry = readdir(entries))) {
        int below;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (unlinkat(folder_fd, entry->d_name, 0) == 0)
            continue;
        fchmodat(folder_fd, entry->d_name, 0700, 0);
        below = openat(folder_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (below >= 0)
            empty(below);
        if (unlinkat(folder_fd, entry->d_name, AT_REMOVEDIR) < 0)
            fail(entry->d_name);
    }
    closedir(entries);
}

static void make_file(const char *name, const char *content, size_t size, mode_t mode)
{
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0700);

    if (file < 0 || write(file, content, size) != (ssize_t)size || fchmod(file, mode) < 0)
        fail(name);
    close(file);
}

/* So that it is bound over, as is dir/program. */
static void run_program(const char *path)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        execl(path, path, NULL);
        _exit(99);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 7 << 8)
        fail(path);
}

static void make_scene(void)
{
    int old[] = {in_dir, on_program, on_text, on_fifo};

    for (size_t i = 0; i < COUNT(old); i++)
        if (old[i] >= 0)
            close(old[i]);
    chmod(folder, 0700);
    empty(open(folder, O_RDONLY | O_DIRECTORY));
    make_file("program", program, program_size, 0755);
    make_file("text", "no program\n", 11, 0644);
    mkdir("dir", 0755);
    make_file("dir/program", program, program_size, 0755);
    if (symlink("program", "link") < 0 || symlink("missing", "dangling") < 0 ||
        symlink("dir", "dirlink") < 0 || symlink("loop", "loop") < 0)
        fail("a link");
    if (mkfifo("fifo", 0644) < 0)
        fail("fifo");
    on_fifo = open("fifo", O_RDWR); /* nobody waits for its other end */
    in_dir = open("dir", O_RDONLY | O_DIRECTORY);
    on_program = open("program", O_PATH);
    on_text = open("text", O_RDONLY);
    run_program("program");
    run_program("dir/program");
}

/* --- arguments --- */

static const void *bad_pointer(void)
{
    static const uintptr_t places[] = {
        0, 1, 4095, 0x7ffffffff000, 0xffffffff81000000, 0x8000000000000000};
    const uintptr_t place = places[random_below(COUNT(places))];

    tell(" at:%lx", (unsigned long)place);
    return (const void *)place;
}

/* At the end of memory: with or without the zero byte. */
static const char *at_page_end(const char *text, int is_whole)
{
    const size_t length = strlen(text) + (size_t)is_whole;

    return memcpy(page + PAGE - length, text, length);
}

static const char *random_path(void)
{
    static const char *const names[] = {
        "program",   "program",   "program",         "text", "dir",         "dir/program", "link",
        "dangling",  "dirlink",   "dirlink/program", "loop", "new",         "new",         "other",
        "missing/x", "program/x", "dir/new",         ".",    "new/program", "fifo",        ""};
    static char path[PATH_MAX * 2];
    const char *name = names[random_below(COUNT(names))];
    const int way = (int)random_below(16);

    tell(" %d:%s", way, name);
    switch (way) {
    case 0:
        return bad_pointer();
    case 1:
        return at_page_end(name, 0);
    case 2:
        return at_page_end(name, 1);
    case 3:
        snprintf(path, sizeof(path), "/proc/self/cwd/%s", name);
        return path;
    case 4:
        snprintf(path, sizeof(path), "/proc/self/root%s/%s", folder, name);
        return path;
    case 5:
        snprintf(path, sizeof(path), "/proc/self/fd/%d", random_below(2) ? on_program : on_text);
        return path;
    case 6:
        snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", in_dir, name);
        return path;
    case 7:
        snprintf(path, sizeof(path), "./%s/", name); /* never the root */
        return path;
    case 8:
        memset(path, 'a', sizeof(path));
        path[random_below(2) ? 300 : PATH_MAX] = 0;
        return path;
    case 9:
        snprintf(path, sizeof(path), "%s//./dir/../%s", folder, name);
        return path;
    case 10:
        snprintf(path, sizeof(path), "%s/%s", folder, name);
        return path;
    default:
        return name;
    }
}

/* Two paths at a time have to last. */
static const char *second_path(void)
{
    static char kept[PATH_MAX * 2];
    const char *path = random_path();
    const uintptr_t at = (uintptr_t)path;

    if (at < PAGE || at >= 0x7ffffffff000 ||
        (at >= (uintptr_t)page && at <= (uintptr_t)page + PAGE))
        return bad_pointer();
    return strcpy(kept, path);
}

static int random_folder(void)
{
    const int folders[] = {AT_FDCWD, AT_FDCWD, AT_FDCWD, in_dir, on_program,
                           on_text,  -1,       987,      INT_MIN};

    const size_t which = random_below(COUNT(folders));

    tell(" in:%d", (int)which);
    return folders[which];
}

static long random_flags(void)
{
    static const int flags[] = {0,
                                0,
                                AT_SYMLINK_NOFOLLOW,
                                AT_EMPTY_PATH,
                                AT_SYMLINK_FOLLOW,
                                AT_REMOVEDIR,
                                AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
                                AT_NO_AUTOMOUNT,
                                1,
                                2,
                                4,
                                0x2000,
                                -1};

    const int flag = flags[random_below(COUNT(flags))];

    tell(" flags:%x", (unsigned)flag);
    return flag;
}

static long random_open_flags(void)
{
    static const int flags[] = {O_CREAT, O_EXCL,  O_CLOEXEC, O_DIRECTORY, O_NOFOLLOW,
                                O_PATH,  O_TRUNC, O_APPEND,  O_NOATIME,   0x10000000};
    long all = O_NONBLOCK | (long)random_below(4);

    for (int i = 0; i < 3; i++)
        if (random_below(3) == 0)
            all |= flags[random_below(COUNT(flags))];
    tell(" open:%lo", all);
    return all;
}

static long random_mode(void)
{
    static const int modes[] = {0755, 0700, 0, 0111, 0644, 04755, 07777, 0177777, -1};

    return modes[random_below(COUNT(modes))];
}

static long random_owner(void)
{
    return random_below(2) ? -1 : (long)geteuid();
}

/* An access list, or an attribute like any other; its value may be none. */
static const char *random_attribute(const void **value, size_t *size)
{
    static const char *const names[] = {
        "user.a", "user.a", "system.posix_acl_access", "system.posix_acl_default", "user.", "none"};
    /* version 2; owner rwx, this user r-x, group r-x, mask r-x, others r-- */
    static uint16_t list[] = {2, 0,     1,     7,  65535, 65535, 2,     5,  0, 0,     4,
                              5, 65535, 65535, 16, 5,     65535, 65535, 32, 4, 65535, 65535};
    const size_t which = random_below(COUNT(names));

    list[8] = (uint16_t)geteuid();
    *value = random_below(4) ? (const void *)list : bad_pointer();
    *size = random_below(4) ? sizeof(list) : 65537 * random_below(2);
    tell(" attribute:%zu,%zu", which, *size);
    return random_below(6) ? names[which] : bad_pointer();
}

static const struct timeval *random_old_times(void)
{
    static const struct timeval times[][2] = {
        {{1000, 5}, {2000, 6}}, {{-1, 0}, {0, 999999}}, {{0, 0}, {0, 1000000}}};
    const size_t which = random_below(COUNT(times) + 1);

    tell(" times:%zu", which);
    return which < COUNT(times) ? times[which] : bad_pointer();
}

static void *random_buffer(void *buffer)
{
    return random_below(8) ? buffer : random_below(2) ? (void *)bad_pointer() : page + PAGE - 16;
}

static const void *random_times(void)
{
    static const struct timespec times[][2] = {
        {{1000, 5}, {2000, 6}}, {{0, UTIME_OMIT}, {0, UTIME_NOW}}, {{-1, 0}, {0, 2000000000}}};

    return random_below(4) ? (const void *)times[random_below(COUNT(times))] : bad_pointer();
}

/* --- calls --- */

/* How the child that executes it ended, or why it is not executed. */
static long execute(int number, int at, const char *path, long flags)
{
    static const char *const good[] = {"name", "argument", NULL};
    const void *arguments = random_below(3) ? (const void *)good : bad_pointer();
    const void *environment = random_below(3) ? (const void *)good : bad_pointer();
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        if (number == SYS_execve)
            syscall(SYS_execve, path, arguments, environment);
        else
            syscall(SYS_execveat, at, path, arguments, environment, flags);
        _exit(errno);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        fail("fork");
    return status;
}

static long result_of(long result)
{
    return result < 0 ? -errno : result;
}

/* What it is: but of a path alone (O_PATH), which nobody reads. */
static long opened(long file)
{
    const long result = file < 0 ? -errno : 1;
    struct stat stat = {0};
    const int flags = file < 0 ? O_PATH : fcntl((int)file, F_GETFL);

    if (!(flags & O_PATH) && fstat((int)file, &stat) < 0)
        fail("fstat");
    if (file >= 0)
        close((int)file);
    return result + stat.st_size;
}

static long seen(long result, const struct stat *stat)
{
    return result < 0 ? -errno : result + (long)stat->st_mode * 1000 + stat->st_size;
}

static long seen_x(long result, const struct statx *stat)
{
    return result < 0 ? -errno : result + stat->stx_mode * 1000l + (long)stat->stx_size;
}

/* A path from a descriptor, with AT_EMPTY_PATH, is taken for an fstat: a limit that docs/front.md
 * has. */
static long watched_flags(int at, long flags)
{
    return at == AT_FDCWD ? flags : flags & ~(long)AT_EMPTY_PATH;
}

static long call(const char **name)
{
    struct stat stat = {0};
    struct statx statx = {0};
    struct stat *buffer = random_buffer(&stat);
    void *buffer_x = random_buffer(&statx);
    const int at = random_folder(), at2 = random_folder();
    const char *other = second_path(), *path = random_path();
    const long flags = random_flags();
    const void *value;
    size_t size;
    const char *attribute = random_attribute(&value, &size);

#define CALL(call, ...)                                                                            \
    *name = #call;                                                                                 \
    return result_of(syscall(SYS_##call, __VA_ARGS__))
#define DIFFERENT(call, function, ...)                                                             \
    *name = #call;                                                                                 \
    return function(syscall(SYS_##call, __VA_ARGS__))
    switch (random_below(200)) {
    case 0:
        *name = "execve";
        return execute(SYS_execve, at, path, flags);
    case 1:
        *name = "execveat";
        return execute(SYS_execveat, at, path, flags);
    default:
        break;
    }
    switch (random_below(38)) {
    case 0:
    case 1:
    case 2:
        DIFFERENT(open, opened, path, random_open_flags(), random_mode());
    case 3:
    case 4:
    case 5:
        DIFFERENT(openat, opened, at, path, random_open_flags(), random_mode());
    case 6:
        *name = "stat";
        return seen(syscall(SYS_stat, path, buffer), &stat);
    case 7:
        *name = "lstat";
        return seen(syscall(SYS_lstat, path, buffer), &stat);
    case 8:
    case 9:
        *name = "newfstatat";
        return seen(syscall(SYS_newfstatat, at, path, buffer, watched_flags(at, flags)), &stat);
    case 10:
    case 11:
        *name = "statx";
        return seen_x(syscall(SYS_statx, at, path, watched_flags(at, flags),
                              random_below(2) ? 0x7ff : -1, buffer_x),
                      &statx);
    case 12:
        DIFFERENT(creat, opened, path, random_mode());
    case 13:
        CALL(truncate, path, random_below(4) ? (long)random_below(100000) : -1);
    case 14:
        CALL(unlink, path);
    case 15:
        CALL(unlinkat, at, path, flags);
    case 16:
        CALL(rename, path, other);
    case 17:
        CALL(renameat, at, path, at2, other);
    case 18:
        CALL(renameat2, at, path, at2, other, random_below(8));
    case 19:
        CALL(link, path, other);
    case 20:
        CALL(linkat, at, path, at2, other, flags);
    case 21:
        CALL(chmod, path, random_mode());
    case 22:
        CALL(fchmodat, at, path, random_mode());
    case 23:
        CALL(chown, path, random_owner(), random_owner());
    case 24:
        CALL(lchown, path, random_owner(), random_owner());
    case 25:
        CALL(fchownat, at, path, random_owner(), random_owner(), flags);
    case 26:
        CALL(utime, path, random_times());
    case 27:
        CALL(utimensat, at, path, random_times(), flags);
    case 28:
        CALL(setxattr, path, attribute, value, size, random_below(4));
    case 29:
        CALL(lsetxattr, path, attribute, value, size, random_below(4));
    case 30:
        CALL(removexattr, path, attribute);
    case 31:
        CALL(lremovexattr, path, attribute);
    case 32:
        CALL(fchmodat2, at, path, random_mode(), flags);
    case 33:
        CALL(utimes, path, random_old_times());
    case 34:
        CALL(futimesat, at, path, random_old_times());
    case 35:
        CALL(access, path, W_OK | random_below(16)); /* else it is not watched */
    case 36:
        CALL(faccessat, at, path, W_OK | random_below(9));
    default:
        CALL(faccessat2, at, path, W_OK | random_below(9), flags);
    }
}

static void read_program(const char *path)
{
    int file = open(path, O_RDONLY);
    struct stat stat;

    if (file < 0 || fstat(file, &stat) < 0)
        fail(path);
    program_size = (size_t)stat.st_size;
    program = malloc(program_size);
    if (!program || read(file, program, program_size) != stat.st_size)
        fail(path);
    close(file);
}

int main(int count, char **arguments)
{
    const char *name = "";

    if (count != 5)
        return 99;
    state = strtoull(arguments[1], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
    read_program(arguments[3]);
    folder = realpath(arguments[4], NULL);
    if (!folder || chdir(folder) < 0)
        fail(arguments[4]);
    umask(022);
    page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + PAGE, PAGE, PROT_NONE); /* a hole might be filled */
    for (long i = 0; i < atol(arguments[2]); i++) {
        long result;

        if (i % CALLS_A_SCENE == 0)
            make_scene();
        *told = 0;
        result = call(&name);
        printf("%ld %s%s = %ld\n", i, name, told, result);
    }
    make_scene();
    return 0;
}
