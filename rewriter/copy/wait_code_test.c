/* Runs what stands around system calls in copies: what it keeps, and where it goes with those that
   took long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rewriter/copy/wait_code.h"
#include "trace/frame_format.h"
#include "trace/trace_format.h"

#include <cmocka.h>

#define PAGE   4096u
#define NUMBER 0x12345678

/* What registers hold before and after; rcx and r11 are the kernel's. */
static uint64_t before[16] __attribute__((used)), after[16] __attribute__((used));
static uint64_t red_zone[16] __attribute__((used));
static __thread struct frame_words words;

/* Loads them, marks the red zone, and jumps to the code, which ends in `jmp rbx`. */
void wait_code_run(void *code);

/* In the agent's place. */
void wait_code_on_wait(void);
static uint64_t waits_seen __attribute__((used));
static uint32_t number_seen __attribute__((used));

__asm__(".intel_syntax noprefix\n"
        ".text\n"
        "wait_code_run:\n"
        "push rbx\n push rbp\n push r12\n push r13\n push r14\n push r15\n"
        "mov r11, rdi\n"
        "mov ecx, 16\n"
        "1: mov [rsp + 8 * rcx - 136], rcx\n"
        "dec ecx\n jnz 1b\n"
        "lea rcx, [rip + before]\n"
        "mov rax, [rcx]\n mov rdx, [rcx + 16]\n mov rsi, [rcx + 48]\n mov rdi, [rcx + 56]\n"
        "mov r8, [rcx + 64]\n mov r9, [rcx + 72]\n mov r10, [rcx + 80]\n"
        "mov r12, [rcx + 96]\n mov r13, [rcx + 104]\n mov r14, [rcx + 112]\n"
        "mov r15, [rcx + 120]\n mov rbp, [rcx + 40]\n"
        "lea rbx, [rip + 2f]\n"
        "jmp r11\n"
        "2: lea rcx, [rip + after]\n"
        "mov [rcx], rax\n mov [rcx + 16], rdx\n mov [rcx + 48], rsi\n mov [rcx + 56], rdi\n"
        "mov [rcx + 64], r8\n mov [rcx + 72], r9\n mov [rcx + 80], r10\n"
        "mov [rcx + 96], r12\n mov [rcx + 104], r13\n mov [rcx + 112], r14\n"
        "mov [rcx + 120], r15\n mov [rcx + 40], rbp\n"
        "lea rdx, [rip + red_zone]\n"
        "mov ecx, 16\n"
        "3: mov rax, [rsp + 8 * rcx - 136]\n"
        "mov [rdx + 8 * rcx - 8], rax\n"
        "dec ecx\n jnz 3b\n"
        "pop r15\n pop r14\n pop r13\n pop r12\n pop rbp\n pop rbx\n"
        "ret\n"
        "wait_code_on_wait:\n"
        "inc qword ptr [rip + waits_seen]\n"
        "mov r11d, [rcx - 4]\n"
        "mov [rip + number_seen], r11d\n"
        "jmp rcx\n"
        ".att_syntax\n");

struct scene {
    char *pages; /* the code, and behind it the page of the hook word */
    struct stub_segment stubs;
    struct copy_set set;
    struct copy_writer writer;
};

static void begin(struct scene *scene)
{
    struct trace_header *header;

    *scene = (struct scene){.pages = mmap(NULL, 2ul * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
    assert_true(scene->pages != MAP_FAILED);
    header = (struct trace_header *)(scene->pages + PAGE);
    scene->stubs.address = (uint64_t)scene->pages;
    scene->writer = (struct copy_writer){.stubs = &scene->stubs, .set = &scene->set};
    wait_code_put(&scene->writer, NUMBER);
    copy_put(&scene->writer, "\xff\xe3", 2); /* jmp rbx */
    copy_fields_bind(&scene->writer.fields, &scene->stubs,
                     &(struct stub_targets){.hook = (uint64_t)&header->hook});
    memcpy(scene->pages, scene->stubs.code.bytes, scene->stubs.code.size);
    header->words = (uint64_t)&words - (uint64_t)__builtin_thread_pointer();
    header->on_wait = (uint64_t)wait_code_on_wait;
    header->waits = 1;
    words.wait = waits_seen = number_seen = 0;
    for (int i = 0; i < 16; i++)
        before[i] = 0x1111111111111111u * (unsigned)i + 5;
}

static void end(struct scene *scene)
{
    copy_fields_free(&scene->writer.fields);
    copy_set_free(&scene->set);
    free(scene->stubs.code.bytes);
    munmap(scene->pages, 2ul * PAGE);
}

static void assert_kept(void)
{
    static const int kept[] = {2, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15};

    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        assert_int_equal(after[kept[i]], before[kept[i]]);
    for (uint64_t i = 0; i < 16; i++)
        assert_int_equal(red_zone[i], i + 1);
}

static void test_what_a_short_call_leaves(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    before[0] = SYS_getpid;
    for (int i = 0; i < 100 && (!i || waits_seen); i++) { /* the thread may lose its processor */
        waits_seen = 0;
        wait_code_run(scene.pages);
    }
    assert_int_equal(after[0], getpid());
    assert_int_not_equal(words.wait, 0);
    assert_int_equal(waits_seen, 0);
    assert_kept();
    end(&scene);
}

/* Makes a system call that waits. */
static void run_nap(const struct scene *scene)
{
    static const struct timespec time = {0, 2000000};

    before[0] = SYS_nanosleep;
    before[7] = (uint64_t)&time;
    before[6] = 0;
    wait_code_run(scene->pages);
}

static void test_a_wait_goes_to_the_agent(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    run_nap(&scene);
    assert_int_equal(after[0], 0);
    assert_int_equal(waits_seen, 1);
    assert_int_equal(number_seen, NUMBER);
    assert_kept();
    end(&scene);
}

static void test_nobody_wants_to_know(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    ((struct trace_header *)(scene.pages + PAGE))->waits = 0;
    run_nap(&scene);
    assert_int_equal(waits_seen, 0);
    assert_int_equal(words.wait, 0);
    assert_kept();
    end(&scene);
}

/* The kernel goes on behind `syscall`: that instruction is not the agent's. */
static void test_stretches(void **state)
{
    struct scene scene;
    uint64_t first, second;
    const char *call;

    (void)state;
    begin(&scene);
    assert_int_equal(scene.set.stretch_count, 2);
    first = scene.set.stretches[0].address + scene.set.stretches[0].size;
    second = scene.set.stretches[1].address;
    call = (const char *)(uintptr_t)first;
    assert_memory_equal(call, "\x0f\x05", 2);
    assert_memory_equal(call + 2, "\x48\x8b\x0d", 3);
    assert_int_equal(second, first + 2 + 7);
    end(&scene);
}

static void test_which_can_be_timed(void **state)
{
    static const uint8_t wait[] = "\xb8\x23\0\0\0\x0f\x05", unmap[] = "\xb8\x0b\0\0\0\x0f\x05";

    (void)state;
    assert_true(wait_code_can_time(wait, 5, 7));
    assert_false(wait_code_can_time(wait, 5, 6));
    assert_false(wait_code_can_time(wait, 4, 7));
    assert_false(wait_code_can_time(unmap, 5, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_short_call_leaves),
        cmocka_unit_test(test_a_wait_goes_to_the_agent),
        cmocka_unit_test(test_nobody_wants_to_know),
        cmocka_unit_test(test_stretches),
        cmocka_unit_test(test_which_can_be_timed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
