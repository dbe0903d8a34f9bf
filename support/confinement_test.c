#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/confinement.h"

#include <cmocka.h>

struct open_files {
    int input, output, other;
};

static void enter(const struct open_files *files)
{
    confine(files->output);
}

static void enter_reader(const struct open_files *files)
{
    (void)files;
    confine_reader();
}

/* Runs what in a confined process, which it tells about by its status. */
static void expect_within(void (*confinement)(const struct open_files *files),
                          bool (*what)(const struct open_files *files))
{
    struct open_files files;
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    files =
        (struct open_files){open("/proc/self/exe", O_RDONLY), ends[1], open("/dev/null", O_RDWR)};
    child = fork();
    if (child == 0) {
        confinement(&files);
        _exit(what(&files) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(files.input);
    close(files.other);
    close(ends[0]);
    close(ends[1]);
}

static void expect_confined(bool (*what)(const struct open_files *files))
{
    expect_within(enter, what);
}

static bool is_refused(long result)
{
    return result < 0 && errno == EPERM;
}

static bool reads(const struct open_files *files)
{
    char magic[4] = "";
    char *large = malloc(64 << 20);
    struct stat status;

    if (!large || read(files->input, magic, 4) != 4 || memcmp(magic, "\177ELF", 4) != 0)
        return false;
    memset(large, 1, 64 << 20);
    large = realloc(large, 128 << 20);
    free(large);
    return large && pread(files->input, magic, 4, 0) == 4 && lseek(files->input, 0, SEEK_END) > 4 &&
           fstat(files->input, &status) == 0;
}

static bool reads_and_reports(const struct open_files *files)
{
    return reads(files) && write(files->output, "found", 5) == 5;
}

static bool opens_nothing(const struct open_files *files)
{
    int to[2];

    (void)files;
    return is_refused(open("/etc/passwd", O_RDONLY)) &&
           is_refused(socket(AF_INET, SOCK_STREAM, 0)) && is_refused(pipe(to)) &&
           is_refused(memfd_create("x", 0));
}

static bool writes_nowhere_else(const struct open_files *files)
{
    return is_refused(write(files->other, "x", 1)) &&
           is_refused(pwrite(files->output, "x", 1, 0)) && is_refused(ftruncate(files->other, 0)) &&
           is_refused(dup2(files->other, files->output)) && is_refused(unlink("/nothing")) &&
           is_refused(rename("/nothing", "/other"));
}

static bool begins_nothing(const struct open_files *files)
{
    char *none[] = {NULL};

    (void)files;
    return is_refused(fork()) && is_refused(execve("/bin/true", none, none)) &&
           is_refused(kill(getppid(), 0)) &&
           mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
               MAP_FAILED;
}

/* In a folder `within`, beside a file `beside`. */
static void enter_tool(const struct open_files *files)
{
    const char *readable[] = {"/usr/lib", "not there", NULL};

    (void)files;
    confine_tool(readable, "within");
}

/* EXDEV: from one folder to another. */
static bool is_denied(long result)
{
    return result < 0 && (errno == EACCES || errno == EPERM || errno == EXDEV);
}

static bool has_landlock(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

static bool tool_writes_within(const struct open_files *files)
{
    int made = open("within/made", O_RDWR | O_CREAT | O_TRUNC, 0600);

    return reads(files) && made >= 0 && write(made, "x", 1) == 1 && fchmod(made, 0700) == 0 &&
           rename("within/made", "within/other") == 0 && unlink("within/other") == 0 &&
           open("/usr/lib/os-release", O_RDONLY) >= 0 && open("/dev/null", O_RDWR) >= 0;
}

static bool tool_opens_nothing_else(const struct open_files *files)
{
    (void)files;
    return is_denied(open("beside", O_RDONLY)) && is_denied(open("beside", O_WRONLY)) &&
           is_denied(open("made", O_WRONLY | O_CREAT, 0600)) && is_denied(unlink("beside")) &&
           is_denied(rename("beside", "within/beside")) &&
           is_denied(link("beside", "within/beside")) && is_denied(symlink("x", "within/link")) &&
           is_denied(open("/etc/passwd", O_RDONLY));
}

static bool tool_reaches_nothing(const struct open_files *files)
{
    char *none[] = {NULL};
    pid_t child = fork();
    int status = 1;

    (void)files;
    if (child == 0)
        _exit(0);
    return waitpid(child, &status, 0) == child && status == 0 &&
           is_refused(execve("/bin/true", none, none)) &&
           is_refused(socket(AF_INET, SOCK_STREAM, 0)) && is_refused(kill(getppid(), 0)) &&
           is_refused(syscall(SYS_tgkill, getppid(), getppid(), 0)) &&
           syscall(SYS_tgkill, getpid(), getpid(), 0) == 0 && is_refused(chmod("beside", 0777)) &&
           is_refused(truncate("beside", 0)) && is_refused(unshare(CLONE_NEWUSER)) &&
           is_refused(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
}

static bool mode_is(int file, mode_t mode)
{
    struct stat status;

    return fstat(file, &status) == 0 && (status.st_mode & 07777) == mode;
}

/* What is open for reading is somebody's file: nobody gets rights to it. */
static bool tool_gives_no_rights(const struct open_files *files)
{
    int file = open("within/made", O_RDWR | O_CREAT | O_TRUNC, 0600);

    (void)files;
    return is_refused(fchown(file, getuid(), getgid())) && fchmod(file, 04700) == 0 &&
           fchmod(file, 0666) == 0 && mode_is(file, 0600) && fchmod(file, 0755) == 0 &&
           mode_is(file, 0755) && syscall(452, AT_FDCWD, "beside", 0777, 0) < 0 &&
           (errno == ENOSYS || errno == EPERM) && unlink("within/made") == 0;
}

/* Runs the rest in a folder of its own. */
static int make_places(void **state)
{
    static char folder[] = "/tmp/confinement.XXXXXX";
    int file;

    *state = mkdtemp(folder);
    if (!*state || chdir(folder) < 0 || mkdir("within", 0700) < 0)
        return -1;
    file = open("beside", O_WRONLY | O_CREAT, 0600);
    return file < 0 || close(file) < 0 ? -1 : 0;
}

static int remove_places(void **state)
{
    unlink("beside");
    rmdir("within");
    return chdir("/") < 0 || rmdir(*state) < 0 ? -1 : 0;
}

static void a_tool_writes_within(void **state)
{
    (void)state;
    expect_within(enter_tool, tool_writes_within);
}

static void a_tool_opens_nothing_else(void **state)
{
    (void)state;
    if (!has_landlock())
        skip();
    expect_within(enter_tool, tool_opens_nothing_else);
}

static void a_tool_reaches_nothing(void **state)
{
    (void)state;
    expect_within(enter_tool, tool_reaches_nothing);
}

static void a_tool_gives_no_rights(void **state)
{
    (void)state;
    expect_within(enter_tool, tool_gives_no_rights);
}

static void it_reads_and_reports(void **state)
{
    (void)state;
    expect_confined(reads_and_reports);
}

static void it_opens_nothing(void **state)
{
    (void)state;
    expect_confined(opens_nothing);
}

static void it_writes_nowhere_else(void **state)
{
    (void)state;
    expect_confined(writes_nowhere_else);
}

static void it_begins_nothing(void **state)
{
    (void)state;
    expect_confined(begins_nothing);
}

static bool opens_to_read_only(const struct open_files *files)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0 &&
           is_refused(open("/dev/null", O_WRONLY)) && is_refused(open("/dev/null", O_RDWR)) &&
           is_refused(open("/tmp/nothing", O_RDONLY | O_CREAT, 0600)) &&
           is_refused(open("/dev/null", O_RDONLY | O_TRUNC)) &&
           is_refused(open("/tmp", O_TMPFILE | O_RDWR, 0600)) &&
           is_refused(write(files->output, "x", 1)) &&
           is_refused(socket(AF_INET, SOCK_STREAM, 0)) && begins_nothing(files) &&
           writes_nowhere_else(files);
}

static void a_reader_opens_to_read_only(void **state)
{
    (void)state;
    expect_within(enter_reader, reads);
    expect_within(enter_reader, opens_to_read_only);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_reads_and_reports),        cmocka_unit_test(it_opens_nothing),
        cmocka_unit_test(it_writes_nowhere_else),      cmocka_unit_test(it_begins_nothing),
        cmocka_unit_test(a_reader_opens_to_read_only), cmocka_unit_test(a_tool_writes_within),
        cmocka_unit_test(a_tool_opens_nothing_else),   cmocka_unit_test(a_tool_reaches_nothing),
        cmocka_unit_test(a_tool_gives_no_rights),
    };

    return cmocka_run_group_tests(tests, make_places, remove_places);
}
