/*
 * As much of cmocka as the unit tests need that run on Windows, where there is none. What does not
 * hold is named, and ends the test; the others go on.
 */
#ifndef UMBRA_SUPPORT_WINDOWS_CMOCKA_H
#define UMBRA_SUPPORT_WINDOWS_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(test) {#test, test}

static jmp_buf cmocka_end;

static inline void cmocka_check(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    printf("%s:%d: %s\n", file, line, what);
    longjmp(cmocka_end, 1);
}

static inline int cmocka_equal(const char *a, const char *b)
{
    if (a && b && strcmp(a, b) == 0)
        return 1;
    printf("'%s' is not '%s'\n", a ? a : "(null)", b ? b : "(null)");
    return 0;
}

static inline int cmocka_same(intmax_t a, intmax_t b)
{
    if (a != b)
        printf("%lld is not %lld\n", (long long)a, (long long)b);
    return a == b;
}

#define CMOCKA_CHECK(holds, what) cmocka_check(holds, what, __FILE__, __LINE__)

#define assert_true(it)             CMOCKA_CHECK(!!(it), #it)
#define assert_false(it)            CMOCKA_CHECK(!(it), "not " #it)
#define assert_null(it)             CMOCKA_CHECK((it) == NULL, #it " is null")
#define assert_non_null(it)         CMOCKA_CHECK((it) != NULL, #it " is not null")
#define assert_int_equal(a, b)      CMOCKA_CHECK(cmocka_same((intmax_t)(a), (intmax_t)(b)), #a)
#define assert_string_equal(a, b)   CMOCKA_CHECK(cmocka_equal(a, b), #a)
#define assert_memory_equal(a, b, size) CMOCKA_CHECK(memcmp(a, b, size) == 0, #a)

static inline int cmocka_run(const struct CMUnitTest *tests, size_t count,
                             int (*begin)(void **state), int (*end)(void **state))
{
    void *state = NULL;
    volatile int failed = begin && begin(&state) != 0;

    for (volatile size_t i = 0; !failed && i < count; i++) {
        if (setjmp(cmocka_end) == 0) {
            tests[i].run(&state);
        } else {
            printf("FAILED %s\n", tests[i].name);
            failed++;
        }
    }
    failed += end && end(&state) != 0;
    printf("%s\n", failed ? "failed" : "passed");
    return failed;
}

#define cmocka_run_group_tests(tests, begin, end)                                                  \
    cmocka_run(tests, sizeof(tests) / sizeof(*(tests)), begin, end)

#endif
