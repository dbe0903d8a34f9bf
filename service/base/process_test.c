#include <elf.h>
#include <fcntl.h>
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

/* A program of i386 that waits for a signal: mov eax, 29; int 0x80. */
static int make_program_of_32_bits(void)
{
    static const unsigned char code[] = {0xb8, 29, 0, 0, 0, 0xcd, 0x80};
    struct {
        Elf32_Ehdr header;
        Elf32_Phdr segment;
        unsigned char code[sizeof(code)];
    } program = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_386,
                   .e_version = EV_CURRENT,
                   .e_entry = 0x8048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
                   .e_phoff = sizeof(Elf32_Ehdr),
                   .e_ehsize = sizeof(Elf32_Ehdr),
                   .e_phentsize = sizeof(Elf32_Phdr),
                   .e_phnum = 1},
        .segment = {.p_type = PT_LOAD,
                    .p_vaddr = 0x8048000,
                    .p_filesz = sizeof(program),
                    .p_memsz = sizeof(program),
                    .p_flags = PF_R | PF_X,
                    .p_align = 0x1000},
    };
    int file = memfd_create("program", MFD_CLOEXEC);

    memcpy(program.code, code, sizeof(code));
    assert_int_equal(write(file, &program, sizeof(program)), sizeof(program));
    return file;
}

static void test_a_program_has_its_word_size(void **state)
{
    char *const none[] = {NULL};
    int program = make_program_of_32_bits(), ends[2];
    pid_t pid;
    char byte;

    (void)state;
    assert_int_equal(process_word_size(getpid()), sizeof(void *));
    assert_int_equal(process_word_size(-1), 8);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (!pid) {
        fexecve(program, none, none);
        _exit(write(ends[1], "", 1) != 1);
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) == 0) /* else the kernel does not execute such programs */
        assert_int_equal(process_word_size(pid), 4);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    close(program);
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
        cmocka_unit_test(test_a_program_has_its_word_size),
        cmocka_unit_test(test_a_process_goes),
        cmocka_unit_test(test_tells_whether_a_file_is_mapped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
