#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/files/image_kind.h"
#include "front/test_ground/own_folder.h"

#include <cmocka.h>

static struct image_look look_at(const void *bytes, size_t size)
{
    FILE *file = tmpfile();
    struct image_look look;

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fflush(file);
    image_look_at(&look, fileno(file));
    fclose(file);
    return look;
}

/* --- ELF --- */

static Elf64_Ehdr header_of(unsigned char class, uint16_t machine, uint16_t type)
{
    Elf64_Ehdr header = {.e_machine = machine, .e_type = type};

    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = class;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    return header;
}

static void programs_and_libraries_are_instrumented(void **state)
{
    Elf64_Ehdr header = header_of(ELFCLASS64, EM_X86_64, ET_EXEC);

    (void)state;
    assert_int_equal(look_at(&header, sizeof(header)).kind, IMAGE_KIND_ELF);
    assert_int_equal(look_at(&header, sizeof(header)).processor, PROCESSOR_X86_64);
    header.e_type = ET_DYN;
    assert_int_equal(look_at(&header, sizeof(header)).kind, IMAGE_KIND_ELF);
    assert_int_equal(look_at(&header, sizeof(header) - 1).kind, IMAGE_KIND_OTHER);
    header.e_ident[0] = 0;
    assert_int_equal(look_at(&header, sizeof(header)).kind, IMAGE_KIND_OTHER);
    assert_int_equal(look_at("", 0).kind, IMAGE_KIND_OTHER);
}

/* Its agent need not be there; the first 52 bytes of such a header are all of it. */
static void those_of_32_bits_are_if_there_is_an_agent(void **state)
{
    Elf64_Ehdr header = header_of(ELFCLASS32, EM_386, ET_DYN);
    struct image_look look = look_at(&header, sizeof(Elf32_Ehdr));

    (void)state;
    if (!tools_find()->agents[PROCESSOR_I386]) {
        assert_int_equal(look.kind, IMAGE_KIND_FOREIGN);
        assert_non_null(strstr(look.why, "i386"));
        return;
    }
    assert_int_equal(look.kind, IMAGE_KIND_ELF);
    assert_int_equal(look.processor, PROCESSOR_I386);
    assert_int_equal(look_at(&header, sizeof(Elf32_Ehdr) - 1).kind, IMAGE_KIND_OTHER);
}

static void expect_foreign(const Elf64_Ehdr *header, const char *why)
{
    struct image_look look = look_at(header, offsetof(Elf64_Ehdr, e_entry));

    assert_int_equal(look.kind, IMAGE_KIND_FOREIGN);
    assert_non_null(strstr(look.why, why));
    assert_int_equal(look_at(header, offsetof(Elf64_Ehdr, e_entry) - 1).kind, IMAGE_KIND_OTHER);
}

static void other_elf_files_are_told_by_what_they_are(void **state)
{
    Elf64_Ehdr header;

    (void)state;
    header = header_of(ELFCLASS32, EM_X86_64, ET_EXEC);
    expect_foreign(&header, "x32");
    header = header_of(ELFCLASS64, EM_X86_64, ET_REL);
    expect_foreign(&header, "object file");
    header = header_of(ELFCLASS64, EM_X86_64, ET_CORE);
    expect_foreign(&header, "core dump");
    header = header_of(ELFCLASS64, EM_AARCH64, ET_DYN);
    expect_foreign(&header, "another processor");
    header = header_of(ELFCLASS64, EM_X86_64, ET_DYN);
    header.e_ident[EI_DATA] = ELFDATA2MSB;
    expect_foreign(&header, "another processor");
}

/* --- scripts --- */

static void expect_script(const char *text, const char *interpreter, const char *argument)
{
    struct image_look look = look_at(text, strlen(text));

    assert_int_equal(look.kind, IMAGE_KIND_SCRIPT);
    assert_string_equal(look.interpreter, interpreter);
    assert_string_equal(look.argument, argument);
}

static void a_script_names_its_interpreter(void **state)
{
    (void)state;
    expect_script("#!/bin/sh\necho", "/bin/sh", "");
    expect_script("#! \t/bin/sh \t\n", "/bin/sh", "");
    expect_script("#!/bin/sh", "/bin/sh", "");
    expect_script("#!/usr/bin/env -S perl  -w \t\n", "/usr/bin/env", "-S perl  -w");
    expect_script("#!/bin/sh\t-e\r\n", "/bin/sh", "-e\r");
    expect_script("#!x", "x", "");
    assert_int_equal(look_at("#!\n/bin/sh", 10).kind, IMAGE_KIND_OTHER);
    assert_int_equal(look_at("#! \t \n", 6).kind, IMAGE_KIND_OTHER);
    assert_int_equal(look_at("#!", 2).kind, IMAGE_KIND_OTHER);
    assert_int_equal(look_at("# /bin/sh\n", 10).kind, IMAGE_KIND_OTHER);
}

/* The kernel makes a zero of the last byte that it reads; a name that may go on behind it is none.
 */
static void a_long_line_is_cut_as_the_kernel_does(void **state)
{
    char text[SCRIPT_LINE_SIZE + 8], argument[SCRIPT_LINE_SIZE] = "";

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "#!/", 3);
    text[sizeof(text) - 1] = 0;
    assert_int_equal(look_at(text, strlen(text)).kind, IMAGE_KIND_OTHER);
    text[SCRIPT_LINE_SIZE] = '\n';
    assert_int_equal(look_at(text, strlen(text)).kind, IMAGE_KIND_OTHER);
    text[SCRIPT_LINE_SIZE - 1] = '\n';
    assert_int_equal(strlen(look_at(text, strlen(text)).interpreter), SCRIPT_LINE_SIZE - 3);
    text[SCRIPT_LINE_SIZE - 1] = text[SCRIPT_LINE_SIZE] = 'x';
    memcpy(text, "#!/bin/sh ", 10);
    memset(argument, 'x', SCRIPT_LINE_SIZE - 1 - 10);
    expect_script(text, "/bin/sh", argument);
}

/* Executed, the script is its interpreter: what that is called with is printed. */
static void the_kernel_agrees(void **state)
{
    char text[SCRIPT_LINE_SIZE + 8], said[2 * SCRIPT_LINE_SIZE];
    struct image_look look;
    FILE *shell;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "#!/bin/echo ", 12);
    text[sizeof(text) - 2] = '\n';
    text[sizeof(text) - 1] = 0;
    own_file_write("script", text);
    assert_int_equal(chmod("script", 0700), 0);
    look = look_at(text, strlen(text));
    shell = popen("./script", "r");
    assert_non_null(shell);
    said[fread(said, 1, sizeof(said) - 1, shell)] = 0;
    assert_int_equal(pclose(shell), 0);
    assert_int_equal(strcspn(said, " "), strlen(look.argument));
    assert_memory_equal(said, look.argument, strlen(look.argument));
}

static void only_a_regular_file_is_looked_at(void **state)
{
    struct image_look look = {.kind = IMAGE_KIND_ELF};
    int name = open(".", O_PATH | O_CLOEXEC);

    (void)state;
    assert_false(image_look_at_path(&look, name));
    assert_int_equal(look.kind, IMAGE_KIND_OTHER);
    close(name);
    own_file_write("file", "#!/bin/sh\n");
    name = open("file", O_PATH | O_CLOEXEC);
    assert_true(image_look_at_path(&look, name));
    assert_int_equal(look.kind, IMAGE_KIND_SCRIPT);
    close(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_and_libraries_are_instrumented),
        cmocka_unit_test(those_of_32_bits_are_if_there_is_an_agent),
        cmocka_unit_test(other_elf_files_are_told_by_what_they_are),
        cmocka_unit_test(a_script_names_its_interpreter),
        cmocka_unit_test(a_long_line_is_cut_as_the_kernel_does),
        cmocka_unit_test_setup_teardown(the_kernel_agrees, own_folder_enter, own_folder_leave),
        cmocka_unit_test_setup_teardown(only_a_regular_file_is_looked_at, own_folder_enter,
                                        own_folder_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
