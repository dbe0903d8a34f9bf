#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/whole_file.h"

#include <cmocka.h>

static char folder[] = "/tmp/whole-file-XXXXXX";

static int begin(void **state)
{
    (void)state;
    umask(022);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int empty(void **state)
{
    DIR *directory = opendir(".");
    struct dirent *entry;

    (void)state;
    while ((entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(entry->d_name);
    closedir(directory);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

/* Names in the folder, "." and ".." among them. */
static int count_names(void)
{
    DIR *directory = opendir(".");
    int count = 0;

    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2;
}

static void expect_text(const char *path, const char *wanted)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
    close(fd);
    assert_string_equal(text, wanted);
}

static void write_whole(const char *path, const char *text, mode_t mode)
{
    struct whole_file file;

    assert_int_equal(whole_file_begin(&file, path, mode), 0);
    assert_int_equal(write(file.fd, text, strlen(text)), strlen(text));
    assert_int_equal(whole_file_commit(&file), 0);
    close(file.fd);
}

/* From now on this process has a file system that knows no files without a name. */
static void refuse_unnamed(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(1);
}

/* A process that is killed while it writes. */
static void killed_writer(bool named)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct whole_file file;
        if (named)
            refuse_unnamed();
        if (whole_file_begin(&file, "x", 0666) < 0 || file.has_name != named ||
            write(file.fd, "half", 4) != 4)
            _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void it_appears_whole(void **state)
{
    struct whole_file file;
    struct stat status;

    (void)state;
    assert_int_equal(whole_file_begin(&file, "x", 0666), 0);
    assert_int_equal(write(file.fd, "text", 4), 4);
    assert_int_equal(access("x", F_OK), -1);
    assert_int_equal(whole_file_commit(&file), 0);
    close(file.fd);
    expect_text("x", "text");
    assert_int_equal(stat("x", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    assert_int_equal(count_names(), 1);
}

static void it_replaces(void **state)
{
    struct stat status;

    (void)state;
    write_whole("x", "old", 0666);
    write_whole("x", "new", 0600);
    expect_text("x", "new");
    assert_int_equal(stat("x", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(symlink("x", "link"), 0);
    write_whole("link", "other", 0600);
    expect_text("x", "new");
    assert_int_equal(count_names(), 2);
}

static void what_fails_leaves_nothing(void **state)
{
    struct whole_file file;

    (void)state;
    assert_int_equal(whole_file_begin(&file, "nowhere/x", 0666), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(whole_file_begin(&file, "x", 0666), 0);
    whole_file_abandon(&file);
    close(file.fd);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(whole_file_begin(&file, "folder", 0666), 0);
    assert_int_equal(whole_file_commit(&file), -1);
    assert_int_equal(errno, EISDIR);
    close(file.fd);
    assert_int_equal(rmdir("folder"), 0);
    assert_int_equal(count_names(), 0);
}

static void the_killed_leave_nothing(void **state)
{
    (void)state;
    killed_writer(false);
    assert_int_equal(count_names(), 0);
}

static void or_the_next_one_cleans_up(void **state)
{
    struct whole_file file;
    int other;

    (void)state;
    assert_int_equal(whole_file_begin(&file, "/tmp/y", 0666), 0); /* the last folder is another */
    close(file.fd);
    killed_writer(true);
    killed_writer(true);
    assert_int_equal(count_names(), 1); /* the second removed the first one's */
    other = open(".x.umbra-not.us", O_CREAT, 0600);
    close(other);
    write_whole("x", "text", 0666);
    assert_int_equal(count_names(), 2);
    expect_text("x", "text");
}

static void what_is_being_written_stays(void **state)
{
    int ready[2];
    char byte;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        struct whole_file file;
        refuse_unnamed();
        if (whole_file_begin(&file, "x", 0666) < 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    write_whole("y", "text", 0666);
    assert_int_equal(count_names(), 2);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Its path may lead elsewhere by then. */
static void it_appears_in_the_directory_that_is_open(void **state)
{
    struct whole_file file;
    int directory;

    (void)state;
    assert_int_equal(mkdir("one", 0700), 0);
    directory = open("one", O_PATH | O_DIRECTORY);
    assert_int_equal(rename("one", "other"), 0);
    assert_int_equal(whole_file_begin_in(&file, directory, "x", 0600), 0);
    assert_int_equal(write(file.fd, "text", 4), 4);
    assert_int_equal(whole_file_commit(&file), 0);
    close(file.fd);
    assert_true(fcntl(directory, F_GETFD) >= 0);
    close(directory);
    expect_text("other/x", "text");
    assert_int_equal(unlink("other/x"), 0);
    assert_int_equal(rmdir("other"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(it_appears_whole, empty),
        cmocka_unit_test_teardown(it_replaces, empty),
        cmocka_unit_test_teardown(what_fails_leaves_nothing, empty),
        cmocka_unit_test_teardown(the_killed_leave_nothing, empty),
        cmocka_unit_test_teardown(or_the_next_one_cleans_up, empty),
        cmocka_unit_test_teardown(what_is_being_written_stays, empty),
        cmocka_unit_test_teardown(it_appears_in_the_directory_that_is_open, empty),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
