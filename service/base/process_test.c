#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/process.h"

#include <cmocka.h>

static void test_describes_this_process(void **state)
{
    struct process_description process;

    (void)state;
    prctl(PR_SET_NAME, "a) S 1 (b");
    assert_true(process_describe(getpid(), &process));
    assert_int_equal(process.parent, getppid());
    assert_non_null(strstr(process.exe, "process_test"));
    assert_non_null(strstr(process.command, "process_test"));
}

static void test_a_process_goes(void **state)
{
    struct process_description process;
    pid_t pid = fork();
    int watch;

    (void)state;
    if (!pid) {
        pause();
        _exit(0);
    }
    watch = process_watch(pid);
    assert_true(watch >= 0);
    assert_false(process_is_gone(pid, watch));
    assert_false(process_is_gone(pid, -1));
    kill(pid, SIGKILL);
    process_wait_until_gone(pid, watch);
    waitpid(pid, NULL, 0);
    assert_true(process_is_gone(pid, watch));
    assert_true(process_is_gone(pid, -1));
    assert_false(process_describe(pid, &process));
    close(watch);
}

static void test_tells_whether_a_file_is_mapped(void **state)
{
    FILE *file = tmpfile();
    struct stat stat;
    void *mapping;

    (void)state;
    assert_int_equal(ftruncate(fileno(file), 4096), 0);
    assert_int_equal(fstat(fileno(file), &stat), 0);
    assert_false(process_may_map(getpid(), stat.st_ino));
    mapping = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    assert_true(process_may_map(getpid(), stat.st_ino));
    munmap(mapping, 4096);
    assert_false(process_may_map(getpid(), stat.st_ino));
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describes_this_process),
        cmocka_unit_test(test_a_process_goes),
        cmocka_unit_test(test_tells_whether_a_file_is_mapped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
