/*
 * What the grinder makes of a report, whatever the child process says: the child's part,
 * unwind_write, and libdw are those of this test.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "grinder/unwind/unwind.h"

#include <cmocka.h>

#define SAMPLES 3
#define RIP     0x400123u

static int (*report)(int pipe);
static bool is_installed;

bool libdw_load(struct libdw *libdw, struct failure *failure)
{
    (void)libdw;
    return is_installed || fail_because(failure, "is not installed");
}

int unwind_write(const struct libdw *libdw, struct stacks_file *file,
                 const struct unwind_module *modules, size_t module_count, int pipe)
{
    (void)libdw, (void)file, (void)modules, (void)module_count;
    return report(pipe);
}

struct received {
    size_t samples, frames, whole;
    uint64_t last[UNWIND_MOST_FRAMES];
    uint32_t count;
};

static void take(void *owner, const struct unwound *unwound)
{
    struct received *received = owner;

    assert_int_equal(unwound->sample->registers[STACKS_RIP], RIP);
    assert_in_range(unwound->count, 1, UNWIND_MOST_FRAMES);
    received->samples++;
    received->frames += unwound->count;
    received->whole += unwound->is_whole;
    received->count = unwound->count;
    memcpy(received->last, unwound->frames, unwound->count * sizeof(*unwound->frames));
}

static bool is_followed;

/* threads: so many, the samples are of one after the other. */
static struct received receive_of(int (*of)(int pipe), uint32_t threads, size_t samples)
{
    struct stacks_header header = {
        .magic = STACKS_MAGIC, .version = STACKS_VERSION, .period_ns = 1000};
    struct stacks_sample sample = {.head = {STACKS_SAMPLE, sizeof(sample)},
                                   .registers[STACKS_RIP] = RIP};
    int memory = memfd_create("stacks", MFD_CLOEXEC);
    struct received received = {0};
    const struct unwound_receiver receiver = {take, &received};
    struct stacks_file file;
    struct failure failure = {""};
    char path[64];

    report = of;
    assert_int_equal(write(memory, &header, sizeof(header)), sizeof(header));
    for (size_t i = 0; i < samples; i++, sample.tid = (sample.tid + 1) % threads)
        assert_int_equal(write(memory, &sample, sizeof(sample)), sizeof(sample));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
    assert_true(stacks_file_open(&file, path, &failure));
    is_followed = unwind_stacks(&receiver, &file, NULL, 0, &failure);
    assert_true(is_followed || *failure.text);
    assert_int_equal(received.samples, samples);
    stacks_file_close(&file);
    close(memory);
    return received;
}

static struct received receive(int (*of)(int pipe))
{
    return receive_of(of, 1, SAMPLES);
}

static void say(int pipe, uint32_t count, uint32_t same, const uint64_t *frames, uint32_t said)
{
    const uint32_t head[2] = {count, same};

    if (write(pipe, head, sizeof(head)) < 0 ||
        (said && write(pipe, frames, said * sizeof(*frames)) < 0))
        _exit(9);
}

static const uint64_t frames[UNWIND_MOST_FRAMES] = {1, 2, 3};

static int tell_truth(int pipe)
{
    say(pipe, 3 | UNWIND_IS_WHOLE, 0, frames, 3);
    say(pipe, 1 | UNWIND_IS_WHOLE, 2, frames + 2, 1);
    say(pipe, 0, 3, NULL, 0);
    return 0;
}

static void reports_are_put_together(void **state)
{
    const struct received received = receive(tell_truth);

    (void)state;
    assert_true(is_followed);
    assert_int_equal(received.frames, 9);
    assert_int_equal(received.whole, 2);
    assert_int_equal(received.count, 3);
    assert_memory_equal(received.last, ((uint64_t[]){3, 2, 3}), sizeof(uint64_t[3]));
}

/* Each begins with one that is right. */
static int tell_too_many(int pipe)
{
    say(pipe, 3, 0, frames, 3);
    say(pipe, UNWIND_MOST_FRAMES + 1, 0, frames, 3);
    return 0;
}

static int keep_what_was_not(int pipe)
{
    say(pipe, 3, 0, frames, 3);
    say(pipe, 1, 4, frames, 1);
    return 0;
}

/* Stacks that grow with each sample. */
static int keep_too_much(int pipe)
{
    say(pipe, 3, 0, frames, 3);
    say(pipe, UNWIND_MOST_FRAMES, 3, frames, UNWIND_MOST_FRAMES);
    return 0;
}

static int tell_nothing_of_it(int pipe)
{
    say(pipe, 3, 0, frames, 3);
    say(pipe, 0, 0, frames, 0);
    say(pipe, 3, 0, frames, 3);
    return 0;
}

static int stop_amid(int pipe)
{
    say(pipe, 3, 0, frames, 3);
    say(pipe, 4, 0, frames, 2);
    return 0;
}

static int crash(int pipe)
{
    say(pipe, 3, 0, frames, 3);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
}

static int talk_on(int pipe)
{
    say(pipe, 3, 0, frames, 3);
    say(pipe, UINT32_MAX, UINT32_MAX, frames, 0);
    while (pipe >= 0)
        say(pipe, UINT32_MAX, UINT32_MAX, frames, UNWIND_MOST_FRAMES);
    return 0;
}

static void what_comes_behind_nonsense_has_no_callers(void **state)
{
    static int (*const children[])(int pipe) = {
        tell_too_many, keep_what_was_not, keep_too_much, tell_nothing_of_it, stop_amid, crash,
        talk_on};

    (void)state;
    for (size_t i = 0; i < sizeof(children) / sizeof(*children); i++) {
        const struct received received = receive(children[i]);
        assert_false(is_followed);
        assert_int_equal(received.frames, 3 + 1 + 1);
        assert_int_equal(received.last[0], RIP);
    }
}

/* The first thread that is remembered, and the first that is not, have samples again. */
static int keep_of_all(int pipe)
{
    for (int i = 0; i < UNWIND_MOST_THREADS + 1; i++)
        say(pipe, 3, 0, frames, 3);
    say(pipe, 1, 2, frames, 1);
    for (int i = 1; i < UNWIND_MOST_THREADS; i++)
        say(pipe, 0, 3, frames, 0);
    say(pipe, 1, 2, frames, 1);
    return 0;
}

static void so_many_threads_are_remembered(void **state)
{
    uint32_t threads = UNWIND_MOST_THREADS + 1;
    const struct received received = receive_of(keep_of_all, threads, 2 * threads);

    (void)state;
    assert_false(is_followed);
    assert_int_equal(received.frames, 3 * (2 * threads - 1) + 1);
}

static void without_libdw_there_are_no_callers(void **state)
{
    struct received received;

    (void)state;
    is_installed = false;
    received = receive(tell_truth);
    assert_false(is_followed);
    assert_int_equal(received.frames, SAMPLES);
    is_installed = true;
}

/* Nonzero: it can go on for minutes, or take all memory. */
static int look_at_limits(int pipe)
{
    struct rlimit seconds, data;
    void *much;

    tell_truth(pipe);
    getrlimit(RLIMIT_CPU, &seconds);
    getrlimit(RLIMIT_DATA, &data);
    much = mmap(NULL, 3ull << 30, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return seconds.rlim_max > 60 || data.rlim_max == RLIM_INFINITY || much != MAP_FAILED;
}

static void the_child_is_bounded(void **state)
{
    (void)state;
    receive(look_at_limits);
    assert_true(is_followed);
}

static int begin(void **state)
{
    (void)state;
    is_installed = true;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_put_together),
        cmocka_unit_test(what_comes_behind_nonsense_has_no_callers),
        cmocka_unit_test(so_many_threads_are_remembered),
        cmocka_unit_test(without_libdw_there_are_no_callers),
        cmocka_unit_test(the_child_is_bounded),
    };

    return cmocka_run_group_tests(tests, begin, NULL);
}
