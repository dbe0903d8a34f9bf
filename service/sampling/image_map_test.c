#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/sampling/image_map.h"
#include "trace/agent_name.h"
#include "trace/trace_sample.h"

#include <cmocka.h>

#define CAPACITY (1u << 20)

/* Where this program itself lies. */
extern const char __executable_start[], _end[];

/* Addresses in its code, one of them behind a call. It is never executed. */
extern const char behind_a_call[], behind_no_call[];
__asm__(".text\n"
        ".byte 0xe8, 0, 0, 0, 0\n"
        "behind_a_call: .fill 16, 1, 0x90\n"
        "behind_no_call: ret\n");

static char variable;

struct traced {
    struct trace_sample sample;
    int file;
    struct image_map map;
};

static pid_t gone_process(void)
{
    pid_t pid = fork();

    if (!pid)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void begin(struct traced *traced, pid_t pid)
{
    char path[64];

    trace_sample_begin(&traced->sample, 4711, "app");
    traced->file = trace_sample_open(&traced->sample, path);
    image_map_open(&traced->map, pid, traced->file, CAPACITY);
}

static void end(struct traced *traced)
{
    image_map_close(&traced->map);
    close(traced->file);
    trace_sample_free(&traced->sample);
}

static void add(struct traced *traced, uint64_t base, uint64_t size, uint32_t first_function)
{
    trace_sample_add_module(&traced->sample, "/lib/module.so", base, size, first_function,
                            first_function != 0, 0);
}

/* What the agent wrote by now. */
static void follow(struct traced *traced)
{
    assert_int_equal(pwrite(traced->file, traced->sample.bytes, traced->sample.size, 0),
                     traced->sample.size);
    image_map_follow(&traced->map);
}

static void instrumented_modules_are_found(void **state)
{
    struct traced traced;

    (void)state;
    begin(&traced, gone_process());
    assert_false(image_map_has(&traced.map, 0x10000));
    add(&traced, 0x50000, 0x1000, 2);
    add(&traced, 0x10000, 0x1000, 1);
    add(&traced, 0x20000, 0x1000, 0);
    follow(&traced);
    assert_false(image_map_has(&traced.map, 0xffff));
    assert_true(image_map_has(&traced.map, 0x10000));
    assert_true(image_map_has(&traced.map, 0x10fff));
    assert_false(image_map_has(&traced.map, 0x11000));
    assert_false(image_map_has(&traced.map, 0x20000));
    assert_true(image_map_has(&traced.map, 0x50000));
    end(&traced);
}

/* In the agent nobody looks for a caller; a word that points into it is none. */
static void the_agent_is_known_by_its_name(void **state)
{
    struct traced traced;
    const uint64_t words[] = {0x20000, 0x30000, 0x10000};

    (void)state;
    begin(&traced, gone_process());
    add(&traced, 0x10000, 0x1000, 1);
    trace_sample_add_module(&traced.sample, "/opt/" IMAGE_AGENT_NAME, 0x20000, 0x1000, 0, 0, 0);
    trace_sample_add_module(&traced.sample, "/opt/not" IMAGE_AGENT_NAME, 0x30000, 0x1000, 0, 0, 0);
    trace_sample_add_module(&traced.sample, "/opt/" IMAGE_AGENT_NAME_I386, 0x40000, 0x1000, 0, 0,
                            0);
    follow(&traced);
    assert_true(image_map_has(&traced.map, 0x20000));
    assert_false(image_map_has(&traced.map, 0x30000));
    assert_true(image_map_has(&traced.map, 0x40000));
    assert_int_equal(image_map_find_return(&traced.map, words, 3), 0x10000);
    end(&traced);
}

static void modules_that_come_later_are_found(void **state)
{
    struct traced traced;

    (void)state;
    begin(&traced, gone_process());
    for (uint32_t i = 0; i < 100; i++) {
        if (i < 60)
            trace_sample_add_thread(&traced.sample, "thread");
        add(&traced, 0x10000 * (uint64_t)(i + 1), 0x1000, i + 1);
        if (i % 7 == 0)
            follow(&traced);
    }
    follow(&traced);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(image_map_has(&traced.map, 0x10000 * (uint64_t)(i + 1)));
    assert_int_equal(traced.map.image_count, 100);
    end(&traced);
}

/* A block is handed out before it is in use. */
static void a_block_without_a_kind_is_looked_at_again(void **state)
{
    struct traced traced;
    struct trace_block *block;

    (void)state;
    begin(&traced, gone_process());
    add(&traced, 0x10000, 0x1000, 1);
    block = (struct trace_block *)(traced.sample.bytes + traced.sample.module_block);
    block->kind = 0;
    follow(&traced);
    trace_sample_add_thread(&traced.sample, "thread");
    follow(&traced);
    assert_false(image_map_has(&traced.map, 0x10000));
    block = (struct trace_block *)(traced.sample.bytes + traced.sample.module_block);
    block->kind = TRACE_BLOCK_MODULES;
    follow(&traced);
    assert_true(image_map_has(&traced.map, 0x10000));
    end(&traced);
}

static void what_is_loaded_later_is_what_is_there(void **state)
{
    struct traced traced;

    (void)state;
    begin(&traced, gone_process());
    add(&traced, 0x10000, 0x1000, 1);
    add(&traced, 0x11000, 0x1000, 2);
    add(&traced, 0x12000, 0x1000, 3);
    add(&traced, 0x10800, 0x1000, 0);
    follow(&traced);
    assert_false(image_map_has(&traced.map, 0x10000));
    assert_false(image_map_has(&traced.map, 0x11000));
    assert_true(image_map_has(&traced.map, 0x12000));
    end(&traced);
}

static void damage_is_let_pass(void **state)
{
    static const uint32_t sizes[] = {0, 1, TRACE_BLOCK_UNITS, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct traced traced;
        struct trace_block *block;
        struct trace_module *module;

        begin(&traced, gone_process());
        add(&traced, 0x10000, 0x1000, 1);
        add(&traced, UINT64_MAX - 10, 0x1000, 2);
        add(&traced, 0x20000, 0, 3);
        add(&traced, 0x30000, 0x1000, 4);
        block = (struct trace_block *)(traced.sample.bytes + traced.sample.module_block);
        module = (struct trace_module *)(block + block->used - 3); /* the last */
        assert_int_equal(module->base, 0x30000);
        module->size_units = sizes[i];
        follow(&traced);
        assert_int_equal(traced.map.image_count, 1);

        block = (struct trace_block *)(traced.sample.bytes + traced.sample.module_block);
        block->used = UINT32_MAX;
        trace_sample_header(&traced.sample)->used = UINT64_MAX;
        follow(&traced);
        assert_int_equal(traced.map.image_count, 1);
        end(&traced);
    }
}

static void return_addresses_are_behind_calls(void **state)
{
    struct traced traced;
    const uint64_t words[] = {0,
                              ~UINT64_C(0),
                              (uint64_t)&variable,
                              (uint64_t)behind_no_call,
                              (uint64_t)&traced,
                              (uint64_t)abort,
                              (uint64_t)behind_a_call};

    (void)state;
    begin(&traced, getpid());
    assert_int_equal(image_map_find_return(&traced.map, words, 7), 0);
    add(&traced, (uint64_t)__executable_start, (uint64_t)(_end - __executable_start), 1);
    follow(&traced);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(image_map_find_return(&traced.map, words, 7), (uint64_t)behind_a_call);
        assert_int_equal(image_map_find_return(&traced.map, words, 6), 0);
    }
    end(&traced);
}

/* Then any word that points into the image will do. */
static void a_process_that_is_gone_says_nothing_of_its_code(void **state)
{
    struct traced traced;
    const uint64_t words[] = {1, 0x20000, 0x10400};

    (void)state;
    begin(&traced, gone_process());
    add(&traced, 0x10000, 0x1000, 1);
    follow(&traced);
    assert_int_equal(image_map_find_return(&traced.map, words, 3), 0x10400);
    assert_int_equal(image_map_find_return(&traced.map, words, 2), 0);
    end(&traced);
}

static void a_stack_of_32_bits_has_twice_as_many_words(void **state)
{
    struct traced traced;
    const uint64_t words[] = {1, 0x20000, 0x10400ull << 32 | 0x30000, 0x10800};

    (void)state;
    begin(&traced, gone_process());
    add(&traced, 0x10000, 0x1000, 1);
    follow(&traced);
    assert_int_equal(traced.map.word_size, 8);
    assert_int_equal(image_map_find_return(&traced.map, words, 4), 0x10800);
    traced.map.word_size = 4;
    assert_int_equal(image_map_find_return(&traced.map, words, 4), 0x10400);
    assert_int_equal(image_map_find_return(&traced.map, words, 2), 0);
    end(&traced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instrumented_modules_are_found),
        cmocka_unit_test(the_agent_is_known_by_its_name),
        cmocka_unit_test(modules_that_come_later_are_found),
        cmocka_unit_test(a_block_without_a_kind_is_looked_at_again),
        cmocka_unit_test(what_is_loaded_later_is_what_is_there),
        cmocka_unit_test(damage_is_let_pass),
        cmocka_unit_test(return_addresses_are_behind_calls),
        cmocka_unit_test(a_process_that_is_gone_says_nothing_of_its_code),
        cmocka_unit_test(a_stack_of_32_bits_has_twice_as_many_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
