/* What the table says of a call is what its manual page has. */
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "front/calls/watched_calls.h"
#include "trace/answered_calls.h"

#include <cmocka.h>

static const struct watched_call *find(int number)
{
    const struct watched_call *call = watched_call_find(CALLS_OF_X86_64, number);

    assert_non_null(call);
    return call;
}

static void what_is_answered_is_watched(void **state)
{
    (void)state;
    for (size_t i = 0; i < ANSWERED_CALLS; i++)
        for (int world = 0; world < CALL_WORLDS; world++) {
            const struct answered_call *call = &answered_calls[i];
            if (call->numbers[world] != CALL_HAS_NONE)
                assert_memory_equal(watched_call_find(world, call->numbers[world])->numbers,
                                    call->numbers, sizeof(call->numbers));
        }
    assert_null(watched_call_find(CALLS_OF_X86_64, SYS_read));
    assert_null(watched_call_find(CALLS_OF_X86_64, SYS_fstat));
    assert_null(watched_call_find(CALLS_OF_X86_64, CALL_HAS_NONE));
    assert_null(watched_call_find(CALLS_OF_I386, CALL_HAS_NONE));
}

static void numbers_of_x32_are_the_same_calls(void **state)
{
    (void)state;
    assert_ptr_equal(find((int)(SYS_openat | CALL_X32_BIT)), find(SYS_openat));
    assert_null(watched_call_find(CALLS_OF_X86_64, (int)(SYS_read | CALL_X32_BIT)));
}

#define CHECK_NUMBER(name, x86_64, i386)                                                           \
    if (x86_64 != CALL_HAS_NONE)                                                                   \
        assert_int_equal(x86_64, SYS_##name);
#define SYS_stat64           CALL_HAS_NONE
#define SYS_lstat64          CALL_HAS_NONE
#define SYS_fstatat64        CALL_HAS_NONE
#define SYS_truncate64       CALL_HAS_NONE
#define SYS_chown32          CALL_HAS_NONE
#define SYS_lchown32         CALL_HAS_NONE
#define SYS_utimensat_time64 CALL_HAS_NONE
#ifndef SYS_fchmodat2 /* since Linux 6.6 */
#define SYS_fchmodat2 452
#endif

/* Those of i386: tests/same_layouts.sh. */
static void numbers_are_those_of_the_system(void **state)
{
    (void)state;
    CALL_NUMBERS(CHECK_NUMBER)
    assert_int_equal(call_world_of(AUDIT_ARCH_X86_64), CALLS_OF_X86_64);
    assert_int_equal(call_world_of(AUDIT_ARCH_I386), CALLS_OF_I386);
}

static void a_number_is_of_its_world(void **state)
{
    (void)state;
    assert_int_equal(watched_call_find(CALLS_OF_I386, 5)->kind, CALL_OPEN);
    assert_null(watched_call_find(CALLS_OF_X86_64, 5));
    assert_int_equal(watched_call_find(CALLS_OF_I386, 300)->kind, CALL_STAT64);
    assert_int_equal(watched_call_find(CALLS_OF_I386, 300)->flags, 3);
    assert_int_equal(watched_call_find(CALLS_OF_I386, 193)->kind, CALL_WRITE);
    assert_null(watched_call_find(CALLS_OF_I386, (int)(5 | CALL_X32_BIT)));
}

/* The first path is argument `path`, seen from the folder argument `folder`. */
static void expect_path(int number, enum call_kind kind, int folder, int path)
{
    const struct watched_call *call = find(number);

    assert_int_equal(call->kind, kind);
    assert_int_equal(call->paths[0].folder, folder);
    assert_int_equal(call->paths[0].path, path);
}

static void paths_are_where_the_calls_have_them(void **state)
{
    (void)state;
    expect_path(SYS_execve, CALL_EXECUTE, CALL_NONE, 0);
    expect_path(SYS_execveat, CALL_EXECUTE, 0, 1);
    expect_path(SYS_open, CALL_OPEN, CALL_NONE, 0);
    expect_path(SYS_openat, CALL_OPEN, 0, 1);
    expect_path(SYS_lstat, CALL_STAT, CALL_NONE, 0);
    expect_path(SYS_newfstatat, CALL_STAT, 0, 1);
    expect_path(SYS_statx, CALL_STATX, 0, 1);
    expect_path(SYS_access, CALL_ACCESS, CALL_NONE, 0);
    expect_path(SYS_faccessat2, CALL_ACCESS, 0, 1);
    expect_path(SYS_unlinkat, CALL_CHANGE, 0, 1);
    expect_path(SYS_prctl, CALL_CONFINE, CALL_NONE, CALL_NONE);
}

static void what_is_renamed_has_two(void **state)
{
    (void)state;
    assert_int_equal(find(SYS_rename)->paths[1].folder, CALL_NONE);
    assert_int_equal(find(SYS_rename)->paths[1].path, 1);
    assert_int_equal(find(SYS_renameat2)->paths[1].folder, 2);
    assert_int_equal(find(SYS_renameat2)->paths[1].path, 3);
    assert_int_equal(find(SYS_link)->paths[1].path, CALL_NONE);
    assert_int_equal(find(SYS_unlink)->paths[1].path, CALL_NONE);
}

static void flags_and_buffers_are_where_the_calls_have_them(void **state)
{
    (void)state;
    assert_int_equal(find(SYS_open)->flags, 1);
    assert_int_equal(find(SYS_openat)->flags, 2);
    assert_int_equal(find(SYS_execveat)->flags, 4);
    assert_int_equal(find(SYS_stat)->flags, CALL_NONE);
    assert_int_equal(find(SYS_newfstatat)->flags, 3);
    assert_int_equal(find(SYS_newfstatat)->buffer, 2);
    assert_int_equal(find(SYS_statx)->flags, 2);
    assert_int_equal(find(SYS_statx)->buffer, 4);
    assert_int_equal(find(SYS_stat)->buffer, 1);
    assert_int_equal(find(SYS_faccessat)->flags, CALL_NONE);
    assert_int_equal(find(SYS_faccessat2)->flags, 3);
    assert_int_equal(find(SYS_utimensat)->flags, 3);
    assert_int_equal(find(SYS_fchownat)->flags, 4);
}

/* Where the filter looks at flags, the supervisor reads the same argument. */
static void the_filter_looks_at_the_same_flags(void **state)
{
    (void)state;
    for (size_t i = 0; i < ANSWERED_CALLS; i++)
        for (int world = 0; world < CALL_WORLDS; world++) {
            const struct answered_call *call = &answered_calls[i];
            if (call->numbers[world] != CALL_HAS_NONE &&
                (call->look == ANSWERED_NO_BIT || call->look == ANSWERED_NO_FILE))
                assert_int_equal(watched_call_find(world, call->numbers[world])->flags,
                                 call->argument);
        }
}

static void links_are_followed_as_the_kernel_does(void **state)
{
    static const int never[] = {SYS_unlink, SYS_rename,       SYS_link,
                                SYS_lchown, SYS_lremovexattr, SYS_lstat};
    static const int always[] = {SYS_chmod,     SYS_fchmodat, SYS_chown, SYS_truncate,
                                 SYS_utimensat, SYS_stat,     SYS_statx, SYS_access};

    (void)state;
    for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
        assert_int_equal(find(never[i])->follow, FOLLOW_NEVER);
    for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
        assert_int_equal(find(always[i])->follow, FOLLOW_ALWAYS);
    assert_int_equal(find(SYS_linkat)->follow, FOLLOW_IF_ASKED);
    assert_int_equal(find(SYS_linkat)->flags, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_answered_is_watched),
        cmocka_unit_test(numbers_of_x32_are_the_same_calls),
        cmocka_unit_test(numbers_are_those_of_the_system),
        cmocka_unit_test(a_number_is_of_its_world),
        cmocka_unit_test(paths_are_where_the_calls_have_them),
        cmocka_unit_test(what_is_renamed_has_two),
        cmocka_unit_test(flags_and_buffers_are_where_the_calls_have_them),
        cmocka_unit_test(the_filter_looks_at_the_same_flags),
        cmocka_unit_test(links_are_followed_as_the_kernel_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
