/* What a caller of either world is told; tests/front_i386.sh compares with the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "front/calls/stat_answer.h"

#include <cmocka.h>

static const struct stat sample = {
    .st_ino = 0x12345,
    .st_mode = S_IFREG | 0755,
    .st_nlink = 3,
    .st_uid = 1000,
    .st_gid = 70000,
    .st_size = 4711,
    .st_blksize = 4096,
    .st_blocks = 16,
    .st_mtim = {1000, 2000},
};

static bool make(struct stat_answer *answer, const struct stat *status, enum call_kind kind)
{
    return stat_answer_make(answer, status, CALLS_OF_I386, kind);
}

static uint32_t word_at(const struct stat_answer *answer, size_t offset)
{
    uint32_t word;

    assert_true(offset + sizeof(word) <= answer->size);
    memcpy(&word, answer->bytes + offset, sizeof(word));
    return word;
}

static void x86_64_is_told_what_we_are(void **state)
{
    struct stat_answer answer;

    (void)state;
    assert_true(stat_answer_make(&answer, &sample, CALLS_OF_X86_64, CALL_STAT));
    assert_int_equal(answer.size, sizeof(sample));
    assert_memory_equal(answer.bytes, &sample, sizeof(sample));
}

static void fields_are_where_they_are_drawn(void **state)
{
    struct stat status = sample;
    struct stat_answer answer;

    (void)state;
    status.st_dev = makedev(8, 0x123);
    assert_true(make(&answer, &status, CALL_STAT));
    assert_int_equal(answer.size, 64);
    assert_int_equal(word_at(&answer, 0), 0x100823);
    assert_int_equal(word_at(&answer, 4), 0x12345);
    assert_int_equal(word_at(&answer, 8), (S_IFREG | 0755) | 3 << 16);
    assert_int_equal(word_at(&answer, 12), 1000 | 65534u << 16); /* the group has no 16 bits */
    assert_int_equal(word_at(&answer, 20), 4711);
    assert_int_equal(word_at(&answer, 28), 16);
    assert_int_equal(word_at(&answer, 44), 2000);
    assert_true(make(&answer, &status, CALL_STAT64));
    assert_int_equal(answer.size, 96);
    assert_int_equal(word_at(&answer, 0), 0x100823);
    assert_int_equal(word_at(&answer, 12), 0x12345);
    assert_int_equal(word_at(&answer, 28), 70000);
    assert_int_equal(word_at(&answer, 44), 4711);
    assert_int_equal(word_at(&answer, 52), 4096);
    assert_int_equal(word_at(&answer, 76), 2000);
    assert_int_equal(word_at(&answer, 88), 0x12345);
}

static void what_is_too_large_is_no_answer(void **state)
{
    struct stat status = sample;
    struct stat_answer answer;

    (void)state;
    status.st_size = 0x7fffffff;
    assert_true(make(&answer, &status, CALL_STAT));
    status.st_size++;
    assert_false(make(&answer, &status, CALL_STAT));
    assert_true(make(&answer, &status, CALL_STAT64));
    status = sample;
    status.st_ino = 1ull << 32;
    assert_false(make(&answer, &status, CALL_STAT));
    assert_true(make(&answer, &status, CALL_STAT64));
    assert_int_equal(word_at(&answer, 92), 1);
    status = sample;
    status.st_nlink = 65536;
    assert_false(make(&answer, &status, CALL_STAT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64_is_told_what_we_are),
        cmocka_unit_test(fields_are_where_they_are_drawn),
        cmocka_unit_test(what_is_too_large_is_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
