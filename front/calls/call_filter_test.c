/* The filter is run here, as the kernel runs it: which calls wait. */
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "front/calls/call_filter.h"
#include "front/calls/watched_calls.h"

#include <cmocka.h>

static struct sock_filter program[CALL_FILTER_ROOM];
static size_t length;

static int make(void **state)
{
    (void)state;
    length = call_filter_make(program);
    return length > 0 && length <= CALL_FILTER_ROOM ? 0 : -1;
}

static uint32_t word_at(const struct seccomp_data *data, uint32_t offset)
{
    uint32_t word;

    assert_true(offset % 4 == 0 && offset + 4 <= sizeof(*data));
    memcpy(&word, (const char *)data + offset, sizeof(word));
    return word;
}

/* Runs the filter, with those instructions of classic BPF that it has. */
static uint32_t run(const struct seccomp_data *data)
{
    uint32_t value = 0;

    for (size_t at = 0; at < length; at++) {
        const struct sock_filter *step = &program[at];
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            value = word_at(data, step->k);
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            value &= step->k;
            break;
        case BPF_JMP | BPF_JA:
            at += step->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += value == step->k ? step->jt : step->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            at += value & step->k ? step->jt : step->jf;
            break;
        case BPF_RET | BPF_K:
            return step->k;
        default:
            fail_msg("step %zu: code %#x", at, step->code);
        }
    }
    fail_msg("the filter has no end");
    return 0;
}

static const uint32_t architectures[CALL_WORLDS] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386};

static struct seccomp_data call_of(int number)
{
    return (struct seccomp_data){.nr = number, .arch = AUDIT_ARCH_X86_64};
}

/* A call with that argument, and 0 for the others. */
static bool waits_in(enum call_world world, int number, int argument, uint64_t value)
{
    struct seccomp_data data = {.nr = number, .arch = architectures[world]};
    uint32_t answer;

    data.args[argument] = value;
    answer = run(&data);
    assert_true(answer == SECCOMP_RET_USER_NOTIF || answer == SECCOMP_RET_ALLOW);
    return answer == SECCOMP_RET_USER_NOTIF;
}

static bool waits(int number, int argument, uint64_t value)
{
    return waits_in(CALLS_OF_X86_64, number, argument, value);
}

static void opened_files_wait_and_folders_do_not(void **state)
{
    (void)state;
    assert_true(waits(SYS_execve, 0, 0));
    assert_true(waits(SYS_open, 1, O_RDONLY | O_CLOEXEC));
    assert_true(waits(SYS_openat, 2, O_WRONLY | O_CREAT));
    assert_false(waits(SYS_openat, 2, O_DIRECTORY));
    assert_false(waits(SYS_open, 1, O_PATH | O_CLOEXEC));
    assert_true(waits(SYS_open, 2, O_DIRECTORY));
    assert_false(waits(SYS_read, 0, 0));
    assert_false(waits(SYS_close, 0, 3));
}

static void of_descriptors_none_waits(void **state)
{
    struct seccomp_data data = call_of(SYS_newfstatat);

    (void)state;
    assert_true(waits(SYS_newfstatat, 3, 0));
    assert_false(waits(SYS_newfstatat, 3, AT_EMPTY_PATH));
    data.args[3] = AT_EMPTY_PATH;
    data.args[0] = (uint64_t)(int64_t)AT_FDCWD;
    assert_int_equal(run(&data), SECCOMP_RET_USER_NOTIF);
    data.args[0] = (uint32_t)AT_FDCWD;
    assert_int_equal(run(&data), SECCOMP_RET_USER_NOTIF);
}

static void only_who_asks_to_write_waits(void **state)
{
    (void)state;
    assert_true(waits(SYS_access, 1, W_OK));
    assert_true(waits(SYS_faccessat2, 2, R_OK | W_OK));
    assert_false(waits(SYS_access, 1, R_OK | X_OK));
    assert_false(waits(SYS_faccessat, 2, F_OK));
}

static void a_new_filter_waits(void **state)
{
    (void)state;
    assert_true(waits(SYS_seccomp, 0, 1));
    assert_true(waits(SYS_prctl, 0, PR_SET_SECCOMP));
    assert_false(waits(SYS_prctl, 0, PR_SET_SECCOMP + 1));
    assert_false(waits(SYS_prctl, 1, PR_SET_SECCOMP));
}

static void expect_same(const struct answered_call *call, enum call_world world)
{
    for (int bit = -1; bit < 32; bit++) {
        uint64_t arguments[6] = {0};
        arguments[call->argument] = bit < 0 ? call->value : 1ull << bit;
        assert_int_equal(
            waits_in(world, call->numbers[world], call->argument, arguments[call->argument]),
            answered_call_has(call, arguments));
    }
}

/* The agent asks trace/answered_calls.h, which call waits: with any flags, the answer is the same.
 */
static void the_agent_is_told_the_same(void **state)
{
    (void)state;
    for (int world = 0; world < CALL_WORLDS; world++)
        for (size_t i = 0; i < ANSWERED_CALLS; i++)
            if (answered_calls[i].numbers[world] != CALL_HAS_NONE)
                expect_same(&answered_calls[i], world);
}

static void other_worlds_go_on(void **state)
{
    struct seccomp_data data = call_of(SYS_execve);

    (void)state;
    data.nr |= (int)CALL_X32_BIT;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
    data = (struct seccomp_data){.nr = SYS_open, .arch = AUDIT_ARCH_AARCH64};
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
    data.nr = SYS_landlock_restrict_self;
    assert_int_equal(run(&data), SECCOMP_RET_USER_NOTIF);
    data = call_of((int)(SYS_landlock_restrict_self | CALL_X32_BIT));
    assert_int_equal(run(&data), SECCOMP_RET_USER_NOTIF);
}

/* Each number means another call there. */
static void calls_of_i386_have_their_numbers(void **state)
{
    (void)state;
    assert_true(waits_in(CALLS_OF_I386, 11, 0, 0)); /* execve */
    assert_true(waits_in(CALLS_OF_I386, 295, 2, O_RDONLY | O_CLOEXEC));
    assert_false(waits_in(CALLS_OF_I386, 295, 2, O_DIRECTORY));
    assert_true(waits_in(CALLS_OF_I386, 300, 3, 0)); /* fstatat64 */
    assert_false(waits_in(CALLS_OF_I386, 300, 3, AT_EMPTY_PATH));
    assert_true(waits_in(CALLS_OF_I386, 195, 0, 0));
    assert_false(waits_in(CALLS_OF_I386, 3, 0, 0));          /* read */
    assert_false(waits_in(CALLS_OF_I386, SYS_execve, 0, 0)); /* olduname */
    assert_false(waits(300, 0, 0));
}

static void the_agents_question_is_answered(void **state)
{
    struct seccomp_data data = call_of(SYS_gettid);

    (void)state;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
    data.args[0] = ANSWERED_QUESTION;
    assert_int_equal(run(&data), SECCOMP_RET_ERRNO | ANSWERED_ERROR);
    data.args[0] = ANSWERED_QUESTION ^ 1;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
    data.args[0] = ANSWERED_QUESTION ^ 1ull << 32;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
    data = call_of(SYS_getpid);
    data.args[0] = ANSWERED_QUESTION;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
}

static void a_question_of_i386_is_in_two_halves(void **state)
{
    struct seccomp_data data = {.nr = I386_gettid, .arch = AUDIT_ARCH_I386};

    (void)state;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
    data.args[0] = (uint32_t)ANSWERED_QUESTION;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
    data.args[1] = ANSWERED_QUESTION >> 32;
    assert_int_equal(run(&data), SECCOMP_RET_ERRNO | ANSWERED_ERROR);
    data.args[0] ^= 1;
    assert_int_equal(run(&data), SECCOMP_RET_ALLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opened_files_wait_and_folders_do_not),
        cmocka_unit_test(of_descriptors_none_waits),
        cmocka_unit_test(only_who_asks_to_write_waits),
        cmocka_unit_test(a_new_filter_waits),
        cmocka_unit_test(the_agent_is_told_the_same),
        cmocka_unit_test(other_worlds_go_on),
        cmocka_unit_test(calls_of_i386_have_their_numbers),
        cmocka_unit_test(the_agents_question_is_answered),
        cmocka_unit_test(a_question_of_i386_is_in_two_halves),
    };

    return cmocka_run_group_tests(tests, make, NULL);
}
