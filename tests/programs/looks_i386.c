/*
 * A program of 32 bits: writes down what the system says of a program, by each of the calls that
 * look at it, read it or ask for rights to it; runs that, so that it may be bound over, and does so
 * again; and renames it. Then it executes what its other arguments are.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the call writes, but for the time of the last access. */
static void show(const char *name, long result, uint32_t *words, int count, int accessed)
{
    printf("%s: %s", name, result < 0 ? strerror(errno) : "");
    for (int i = 0; result >= 0 && i < count; i++)
        if (i != accessed && i != accessed + 1)
            printf(" %x", words[i]);
    puts("");
}

static void look(const char *path)
{
    uint32_t words[32] = {0};
    struct statx statx_ = {0};

#define LOOK(count, accessed, call, ...)                                                           \
    memset(words, 0, sizeof(words));                                                               \
    show(#call, syscall(SYS_##call, __VA_ARGS__), words, count, accessed)
    LOOK(16, 8, stat, path, words);
    LOOK(16, 8, lstat, path, words);
    LOOK(24, 16, stat64, path, words);
    LOOK(24, 16, lstat64, path, words);
    LOOK(24, 16, fstatat64, AT_FDCWD, path, words, 0);
    LOOK(24, 16, fstatat64, AT_FDCWD, path, words, AT_SYMLINK_NOFOLLOW);
    LOOK(24, 16, fstatat64, AT_FDCWD, "", words, 0);
    LOOK(24, 16, fstatat64, AT_FDCWD, path, (void *)16, 0);
    printf("statx: %ld", syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BASIC_STATS, &statx_));
    printf(" %llu %llu\n", (unsigned long long)statx_.stx_size, (unsigned long long)statx_.stx_ino);
    LOOK(0, 0, access, path, W_OK);
    LOOK(0, 0, faccessat, AT_FDCWD, path, W_OK);
}

static void sum(const char *path, int file)
{
    unsigned char bytes[4096];
    unsigned long total = 0;
    ssize_t count;

    while ((count = read(file, bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < count; i++)
            total = total * 31 + bytes[i];
    printf("%s: %lu\n", path, total);
    close(file);
}

static void run(const char *path)
{
    if (fork() == 0) {
        syscall(SYS_execve, path, (const char *[]){path, NULL}, NULL);
        _exit(127);
    }
    wait(NULL);
}

static void look_and_read(const char *path, const char *output)
{
    if (!freopen(output, "w", stdout))
        _exit(126);
    look(path);
    sum("open", (int)syscall(SYS_open, path, O_RDONLY));
    sum("openat", (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
}

/* PATH [PROGRAM ARGUMENT…] */
int main(int count, char **arguments)
{
    const char *path = arguments[1];

    (void)count;
    look_and_read(path, "before");
    run(path);
    look_and_read(path, "after");
    syscall(SYS_rename, path, "elsewhere");
    sum("openat", open("elsewhere", O_RDONLY));
    fflush(stdout);
    if (arguments[2])
        execv(arguments[2], arguments + 2);
    return 0;
}
