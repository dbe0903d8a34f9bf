#include "rewriter/copy/copy_depth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* An instruction; `to` is the offset that it may go on at, if it is a branch. */
struct step {
    const char *bytes;
    size_t length;
    int32_t depth;  /* expected in front of it */
    bool is_branch; /* conditional */
    bool is_end;
    size_t to;
};

#define PASS(code, expected)                                                                       \
    {                                                                                              \
        .bytes = (code), .length = sizeof(code) - 1, .depth = (expected)                           \
    }
#define BRANCH(size, target, expected)                                                             \
    {                                                                                              \
        .length = (size), .depth = (expected), .is_branch = true, .to = (target)                   \
    }
#define END(size, expected)                                                                        \
    {                                                                                              \
        .length = (size), .depth = (expected), .is_end = true                                      \
    }

static void follow(const struct step *steps, size_t count)
{
    struct copy_depth depth = {0};
    size_t offset = 0, size = 0;

    for (size_t i = 0; i < count; i++)
        size += steps[i].length;
    copy_depth_begin(&depth, size);
    for (size_t i = 0; i < count; i++) {
        copy_depth_enter(&depth, offset);
        assert_int_equal(depth.now, steps[i].depth);
        if (steps[i].is_branch)
            copy_depth_branch(&depth, steps[i].to);
        else if (steps[i].is_end)
            copy_depth_end(&depth);
        else
            copy_depth_pass(&depth, (const uint8_t *)steps[i].bytes, steps[i].length);
        offset += steps[i].length;
    }
    copy_depth_free(&depth);
}

#define FOLLOW(...)                                                                                \
    do {                                                                                           \
        const struct step steps[] = {__VA_ARGS__};                                                 \
        follow(steps, sizeof steps / sizeof *steps);                                               \
    } while (0)

static void test_what_moves_the_stack_pointer(void **state)
{
    (void)state;
    FOLLOW(PASS("\x55", 0),                               /* push rbp */
           PASS("\x41\x54", 8),                           /* push r12 */
           PASS("\x6a\x01", 16),                          /* push 1 */
           PASS("\xff\x77\x08", 24),                      /* push [rdi + 8] */
           PASS("\x48\x83\xec\x18", 32),                  /* sub rsp, 24 */
           PASS("\x48\x81\xec\x00\x01\x00\x00", 56),      /* sub rsp, 256 */
           PASS("\x48\x8d\xa4\x24\x00\x01\x00\x00", 312), /* lea rsp, [rsp + 256] */
           PASS("\x48\x8d\x64\x24\xf8", 56),              /* lea rsp, [rsp - 8] */
           PASS("\x48\x83\xc4\x20", 64),                  /* add rsp, 32 */
           PASS("\x48\x89\xc3", 32),                      /* mov rbx, rax */
           PASS("\x5b", 32), PASS("\x41\x5c", 24), PASS("\x5d", 16), END(1, 8));
}

static void test_frames(void **state)
{
    (void)state;
    FOLLOW(PASS("\x55", 0), PASS("\x48\x89\xe5", 8), /* mov rbp, rsp */
           PASS("\x48\x83\xec\x20", 8), PASS("\xc9", 40), END(1, 0));
    FOLLOW(PASS("\x55", 0), PASS("\x48\x89\xe5", 8), PASS("\x53", 8),
           PASS("\x48\x29\xc4", 16), /* sub rsp, rax */
           PASS("\x50", DEPTH_UNKNOWN),
           PASS("\x48\x8d\x65\xf8", DEPTH_UNKNOWN), /* lea rsp, [rbp - 8] */
           PASS("\x5b", 16), PASS("\x5d", 8), END(1, 0));
    FOLLOW(PASS("\x48\x89\xc4", 0), PASS("\x90", DEPTH_UNKNOWN)); /* mov rsp, rax */
    FOLLOW(PASS("\x48\x83\xe4\xe0", 0),                           /* and rsp, -32 */
           PASS("\x90", DEPTH_UNKNOWN));
}

/* What comes behind an end is as deep as where a branch has led there; else as the last branch. */
static void test_behind_an_end(void **state)
{
    (void)state;
    FOLLOW(PASS("\x53", 0), BRANCH(2, 8, 8), PASS("\x55", 8), BRANCH(2, 0, 16), PASS("\x5d", 16),
           END(1, 8), PASS("\x5b", 8), END(1, 0), PASS("\x90", 16));
}

/* A jump out of the function, where its frame is gone, says nothing of what comes behind it. */
static void test_behind_a_tail_call(void **state)
{
    (void)state;
    FOLLOW(PASS("\x53", 0), BRANCH(2, 0, 8), PASS("\x5b", 8), BRANCH(5, 4096, 0), END(1, 0),
           PASS("\x90", 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_moves_the_stack_pointer),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_behind_an_end),
        cmocka_unit_test(test_behind_a_tail_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
