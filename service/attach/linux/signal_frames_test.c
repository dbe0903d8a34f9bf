#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "service/attach/linux/signal_frames.h"

#include <cmocka.h>

#define STACK_SIZE (256 << 10)
#define MARK       0x5c1f00d5c1f00d55ull

/* What a handler saw of its own stack and, behind the frame, of the one that it was called from. */
static struct seen {
    uint64_t rip; /* what the kernel has saved */
    unsigned pointers, rips, marks;
    bool is_read;
} seen;

static void see(void *with, const struct signal_frame_word *word)
{
    volatile uint64_t *there = (volatile uint64_t *)word->address;

    assert_ptr_equal(with, &seen);
    seen.pointers += word->is_pointer;
    seen.rips += word->is_pointer && word->value == seen.rip && *there == seen.rip;
    seen.marks += word->value == MARK;
}

static void look(int number, siginfo_t *info, void *context)
{
    const ucontext_t *user = context;
    struct address_space space;
    struct failure failure;
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

    (void)number;
    (void)info;
    seen = (struct seen){.rip = (uint64_t)user->uc_mcontext.gregs[REG_RIP]};
    assert_true(memory >= 0 && address_space_read(&space, getpid(), &failure));
    seen.is_read =
        signal_frames_each_word(memory, &space, (uint64_t)__builtin_frame_address(0), see, &seen);
    address_space_free(&space);
    close(memory);
}

static void raise_it(int flags)
{
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO | flags};
    volatile uint64_t mark = MARK; /* on the stack that is interrupted */

    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    assert_int_equal(mark, MARK);
}

static void test_a_handler_on_the_same_stack(void **state)
{
    (void)state;
    raise_it(0);
    assert_true(seen.is_read);
    assert_int_equal(seen.rips, 1);
    assert_true(seen.marks >= 1);
}

static void test_a_handler_on_a_stack_of_its_own(void **state)
{
    char *pages =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = pages, .ss_size = STACK_SIZE}, before;

    (void)state;
    assert_int_equal(sigaltstack(&stack, &before), 0);
    raise_it(SA_ONSTACK);
    sigaltstack(&before, NULL);
    munmap(pages, STACK_SIZE);
    assert_true(seen.is_read);
    assert_true(seen.rips >= 1);
    assert_true(seen.marks >= 1);
}

/* Words that look like a frame's, but lead to no handler's end. */
static void test_no_frame(void **state)
{
    uint64_t words[64] = {0};
    struct address_space space;
    struct failure failure;
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

    (void)state;
    words[24] = 0x002b000000000033;
    words[22] = (uint64_t)test_no_frame;
    words[0] = (uint64_t)test_no_frame;
    assert_true(memory >= 0 && address_space_read(&space, getpid(), &failure));
    seen = (struct seen){.rip = (uint64_t)test_no_frame};
    assert_true(signal_frames_each_word(memory, &space, (uint64_t)words, see, &seen));
    assert_int_equal(seen.pointers, 0);
    assert_true(
        signal_frames_each_word(memory, &space, 8, see, &seen)); /* nothing is mapped there */
    address_space_free(&space);
    close(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_handler_on_the_same_stack),
        cmocka_unit_test(test_a_handler_on_a_stack_of_its_own),
        cmocka_unit_test(test_no_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
